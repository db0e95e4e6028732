"""`seamline sessions`: the sessions found on this machine."""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from inspector.commands.options import add_command

if TYPE_CHECKING:
    from core.surveying import Row
    from inspector.listing import Listing

AT_ONCE = 20
"""Rows that are printed together where they are known."""

EXAMPLES = """  seamline sessions
  seamline sessions --root ~/backup/.codex --agent codex
  seamline sessions --json
"""


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    from core.agents import AGENTS

    parser = add_command(
        subparsers,
        "sessions",
        "list the sessions found on this machine, newest activity first",
        EXAMPLES,
        "List the sessions of every agent on this machine, newest activity first, children under their parents. "
        "Looks in the agents' own folders, wherever CODEX_HOME, CLAUDE_CONFIG_DIR, GROK_HOME, DSH_HOME and "
        "PI_CODING_AGENT_DIR put them.",
    )
    parser.add_argument(
        "--root", action="append", default=[], metavar="FOLDER", help="look here instead; may be given several times"
    )
    parser.add_argument("--agent", choices=sorted(AGENTS), help="only this agent's")
    parser.add_argument("--json", action="store_true", help="print JSON, schema sessions/1")
    parser.set_defaults(run=run, schema="sessions/1")


def run(arguments: argparse.Namespace) -> int:
    from inspector.listing import Listing

    listing = Listing(_folders(arguments.root))
    rows = listing.look()
    if not arguments.json and sys.stdout.isatty():
        _stream(listing, rows, arguments.agent)
        return 0
    for number, row in listing.read(rows):
        rows[number] = row
    if arguments.json:
        _print_json(listing, rows, arguments.agent)
    else:
        _print_all(listing, rows, arguments.agent)
    return 0


def _folders(named: list[str]) -> list[Path]:
    from inspector.opening import WrongUsage

    folders = [Path(name).expanduser() for name in named]
    for folder in folders:
        if not folder.is_dir():
            raise WrongUsage(f"{folder}: no such folder: give an existing one with --root")
    return folders


def _wanted(row: Row, agent: str | None) -> bool:
    """Whether a row that was read is a session of the agent that was asked for; None: of any."""
    return row.survey is not None and bool(row.survey.agent) and agent in (None, row.survey.agent)


def _print_json(listing: Listing, rows: list[Row], agent: str | None) -> None:
    from core.surveying import families, row_json, skipped
    from inspector.commands.output import print_json
    from inspector.listing import RUNNING, running

    shown = [row for row, _ in families(row for row in rows if _wanted(row, agent))]
    newest = {id(row) for row in sorted(shown, key=lambda row: -row.time)[:RUNNING]}
    print_json(
        {
            "schema": "sessions/1",
            "looked_in": [str(folder) for folder in listing.looked_at()],
            "sessions": [row_json(row, running(row) if id(row) in newest else None) for row in shown],
            "skipped": [
                {"path": str(row.place.path), "reason": row.survey.problem} for row in skipped(rows) if row.survey
            ],
        }
    )


def _print_all(listing: Listing, rows: list[Row], agent: str | None) -> None:
    from core.surveying import families, skipped
    from inspector.commands.output import print_lines
    from inspector.listing import RUNNING, running
    from inspector.sessions_text import heading, nothing_found, session_line, skipped_lines

    shown = families(row for row in rows if _wanted(row, agent))
    if not shown:
        print_lines(nothing_found(listing.looked_at()))
    else:
        newest = {id(row) for row, _ in sorted(shown, key=lambda pair: -pair[0].time)[:RUNNING]}
        print_lines([heading()])
        print_lines(
            session_line(row, depth, live=id(row) in newest and running(row) is not None) for row, depth in shown
        )
    print_lines(skipped_lines(skipped(rows)))


def _stream(listing: Listing, rows: list[Row], agent: str | None) -> None:
    """On a terminal each row is printed as soon as it is known; children that are known stand under their parents."""
    from core.surveying import families, skipped
    from inspector.commands.output import print_lines
    from inspector.listing import RUNNING, running
    from inspector.sessions_text import heading, nothing_found, session_line, skipped_lines

    family = families(rows)
    order = [row for row, _ in family]
    fresh = sum(row.survey is None for row in order)
    width = shutil.get_terminal_size((160, 24)).columns
    waiting: list[str] = []
    printed = 0
    for number, row in _known(listing, order, waiting):
        if not _wanted(row, agent):
            continue
        if not printed:
            waiting.append(heading())
        live = printed < RUNNING and running(row) is not None
        waiting.append(session_line(row, family[number][1], live, width))
        printed += 1
        if len(waiting) >= AT_ONCE:
            _print_waiting(waiting)
    _print_waiting(waiting)
    if not printed:
        print_lines(nothing_found(listing.looked_at()))
    print_lines(skipped_lines(skipped([*(row for row in rows if row.survey is not None), *order])))
    if fresh > 1:
        print_lines([f"{fresh:,} were read for the first time and stand by the time of their file; not so next time"])


def _known(listing: Listing, order: list[Row], waiting: list[str]) -> Iterator[tuple[int, Row]]:
    """Each row with what is known of it; what waits is printed before another file is read."""
    reading = listing.read(tuple(order))
    for number, row in enumerate(order):
        if row.survey is None:
            _print_waiting(waiting)
            order[number] = next(reading)[1]
        yield number, order[number]
    reading.close()


def _print_waiting(waiting: list[str]) -> None:
    from inspector.commands.output import print_lines

    if waiting:
        print_lines(["\n".join(waiting)])
        sys.stdout.flush()
        waiting.clear()
