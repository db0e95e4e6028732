"""`seamline [PATH]`: the inspector in the terminal."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from inspector.commands.options import add_command, add_view_options, overrides

EXAMPLES = """  seamline
  seamline session.jsonl
  seamline sample_sessions
  seamline session.jsonl --window 128000
"""


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = add_command(
        subparsers,
        "open",
        "open the inspector (the word may be left out)",
        EXAMPLES,
        "Open the inspector on a session, on a folder with sessions, or on the sessions found on this machine.",
    )
    parser.add_argument("path", metavar="PATH", nargs="?", help="a session file or a folder")
    add_view_options(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    from inspector.opening import WrongUsage

    path = None if arguments.path is None else Path(arguments.path)
    if path is not None and not path.exists():
        hint = "" if path.parent != Path() else ", and no command is called so (`seamline --help` lists them)"
        raise WrongUsage(f"{path}: no such file{hint}: give the path of a session file or a folder")
    if arguments.leaf is not None:
        raise WrongUsage("the inspector shows the leaf that the client would choose: use `seamline view PATH --leaf`")
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise WrongUsage("the inspector needs a terminal: use `seamline view PATH` where there is none")
    from inspector.app import run as show

    return show(path, overrides(arguments))
