"""`seamline recover`: end what a killed commit or undo left."""

from __future__ import annotations

import argparse
from pathlib import Path

from inspector.commands.options import add_command

EXAMPLES = """  seamline recover
  seamline recover session.jsonl
"""


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = add_command(
        subparsers,
        "recover",
        "end what a killed commit left: finished, or taken back",
        EXAMPLES,
        "End interrupted commits: each is finished or taken back. `compact` and `undo` do this first by themselves. "
        "Exit code 1 where the agent has written since, and a person should look.",
    )
    parser.add_argument("path", metavar="PATH", nargs="?", help="a session file; default: all sessions")
    parser.add_argument("--json", action="store_true", help="print JSON, schema recover/1")
    parser.set_defaults(run=run, schema="recover/1")


def run(arguments: argparse.Namespace) -> int:
    import time

    from core.commit.journal import Journal
    from core.commit.recover import recover
    from inspector.commands.output import DONE, FINDING, print_json, print_lines

    path = None if arguments.path is None else Path(arguments.path)
    with Journal() as journal:
        ended = recover(journal, path, now=time.time())
    if arguments.json:
        results = [{"outcome": e.outcome, "words": e.words, "receipt": e.receipt.to_json()} for e in ended]
        print_json({"schema": "recover/1", "recovered": results})
    else:
        print_lines([e.words for e in ended] or ["nothing was interrupted"])
    return FINDING if any(e.outcome in ("stopped", "busy") for e in ended) else DONE
