"""`seamline view`: what the model would be sent on resume."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from inspector.commands.leaves import LIST, list_leaves
from inspector.commands.options import add_command, add_path, add_view_options, opened_session

if TYPE_CHECKING:
    from core.opening import Opened

EXAMPLES = """  seamline view session.jsonl
  seamline view session.jsonl --tokens
  seamline view session.jsonl --json > view.json
  seamline view session.jsonl --client-version 0.73.1
  seamline view session.jsonl --leaf list
"""


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = add_command(subparsers, "view", "print what the model would be sent on resume", EXAMPLES)
    add_path(parser, json="model-view/1")
    parser.add_argument("--tokens", action="store_true", help="count each item's tokens")
    add_view_options(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    if arguments.leaf == LIST:
        return list_leaves(arguments)
    from inspector.commands.output import print_json, print_lines, refuse
    from inspector.view_text import view_lines

    opened = opened_session(arguments)
    session = opened.session
    if not session.entries and all(damage.kind == "blank-line" for damage in session.damage):
        return refuse(arguments, f"{session.path}: the file holds no session, so there is nothing to resume")
    if arguments.json:
        print_json(view_json(opened, arguments.tokens))
    else:
        print_lines(view_lines(opened, arguments.tokens))
    return 0


def view_json(opened: Opened, tokens: bool) -> dict[str, Any]:
    """`model-view/1` with the session and each item's unit named, and with counted tokens where asked for."""
    out = opened.view.to_json()
    session = opened.session
    for unit in opened.units:
        for position in unit.items:
            out["items"][position]["unit"] = unit.id
    out["session"] = {"path": str(session.path), "fingerprint": session.fingerprint, "leaf": session.leaf}
    if tokens:
        for item, count in zip(out["items"], opened.item_tokens, strict=True):
            item["tokens"] = count
        out["tokens"] = {"value": opened.view_tokens, "kind": "counted", "includes": "view"}
    return out
