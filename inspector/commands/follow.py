"""`seamline follow`: a running session, live."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from inspector.commands.options import add_command, add_path, add_view_options, overrides, session_path

if TYPE_CHECKING:
    from pathlib import Path

    from core.follow import Event, Look
    from core.resume import Overrides

EXAMPLES = """  seamline follow session.jsonl
  seamline follow session.jsonl --json
"""


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = add_command(
        subparsers,
        "follow",
        "tail a running session: what each entry adds, and how many turns are left",
        EXAMPLES,
        "Tail a running session until Ctrl-C, without disturbing the agent. With --json one object a line.",
    )
    add_path(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object a line")
    add_view_options(parser)
    parser.set_defaults(run=run, schema="follow/1")


def run(arguments: argparse.Namespace) -> int:
    from core.files import Disk
    from core.follow import follow
    from inspector.commands.output import DONE, print_json, print_lines
    from inspector.opening import with_installed

    path = session_path(arguments)
    said = with_installed(path, overrides(arguments))

    def again() -> Look:
        return _look(path, said, arguments.leaf)

    try:
        first = again()
        print(f"seamline follow: following {path}, stop with Ctrl-C", file=sys.stderr, flush=True)
        if not arguments.json:
            print_lines([state_line(first)])
        for event in follow(path, first, again, Disk()):
            if arguments.json:
                print_json(event.to_json())
            else:
                print_lines([event_line(event)])
                sys.stdout.flush()
    except KeyboardInterrupt:
        pass
    return DONE


def _look(path: Path, said: Overrides, leaf: str | None) -> Look:
    from core.follow import look_at
    from core.opening import open_session
    from core.policies import budget_of
    from core.policies.settings import Settings

    opened = open_session(path, said, leaf=leaf)
    return look_at(opened, budget_of(opened, Settings()))


def state_line(look: Look) -> str:
    """How full the window is."""
    budget, left = look.budget, look.turns_left
    if budget.window is None:
        return f"{budget.used} tokens, window unknown"
    turns = "" if left is None else f", about {left} {'turn' if left == 1 else 'turns'} left"
    return f"{budget.used} tokens, {budget.share or 0:.1%} of {budget.window.value:,}{turns}"


def event_line(event: Event) -> str:
    """One event in one line."""
    from datetime import UTC, datetime

    from inspector.text import one_line

    entry, look = event.entry, event.look
    when = ""
    if entry is not None and entry.time is not None:
        when = datetime.fromtimestamp(entry.time, UTC).astimezone().strftime("%H:%M:%S  ")
    added = f"  {look.added.get(entry.id, 0):+,} tokens" if entry is not None and look is not None else ""
    words = event.message if event.event == "entry" else f"{event.event}: {event.message}"
    return f"{when}{one_line(words)}{added}" + (f"  ({state_line(look)})" if look is not None else "")
