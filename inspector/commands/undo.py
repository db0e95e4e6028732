"""`seamline undo`: the exact reverse of the last commit."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from inspector.commands.options import add_command, add_path, session_path

EXAMPLES = """  seamline undo session.jsonl
  seamline undo session.jsonl --yes
  seamline undo session.jsonl --as fork
"""


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = add_command(
        subparsers,
        "undo",
        "reverse the last commit: the same bytes, mode and time of change",
        EXAMPLES,
        "Reverse the last commit on a session. Refused where anything was written since, by whomever: then --as fork "
        "makes a new session of what stood there before the commit, and leaves this one as it is.",
    )
    add_path(parser, json="undo/1")
    parser.add_argument("--yes", action="store_true", help="undo without asking")
    parser.add_argument("--as", dest="form", choices=("fork",), help="the view of before it as a new session")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    import time

    from core.commit.journal import Journal
    from core.commit.undo import last_commit, undo
    from core.restoring import fork_before
    from inspector.commands.output import DONE, WRONG_USAGE, print_json, print_lines, refuse
    from inspector.commands.planned import stamp
    from inspector.commands.receipts import receipt_lines
    from inspector.commands.recovering import recover_first

    if arguments.json and not arguments.yes:
        return refuse(arguments, "undo --json asks nothing: add --yes", WRONG_USAGE)
    path = session_path(arguments)
    recover_first(path)
    with Journal() as journal:
        if not arguments.yes:
            print_lines(receipt_lines(last_commit(path, journal)))
            if not _confirmed():
                return refuse(arguments, f"{path}: not undone: nothing was written: answer y, or give --yes")
        if arguments.form == "fork":
            receipt = fork_before(path, journal, stamp())
        else:
            receipt = undo(path, journal, now=time.time(), known_running=_known_running(path))
    if arguments.json:
        print_json({"schema": "undo/1", "receipt": receipt.to_json()})
    elif arguments.form == "fork":
        print_lines([f"forked {receipt.id}: the session of before the commit is now {receipt.result}"])
    else:
        print_lines([f"undone {receipt.id}: {path} is as it was before the commit"])
    return DONE


def _known_running(path: Path) -> Callable[[Path], str | None]:
    from core.agents import detect
    from core.files import Disk

    return detect(Disk(), path).known_running


def _confirmed() -> bool:
    if not sys.stdin.isatty():
        return False
    return input("Undo this commit? [y/N] ").strip().lower() in ("y", "yes")
