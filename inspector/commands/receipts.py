"""`seamline receipts`: the commits that were made here."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from inspector.commands.options import add_command

if TYPE_CHECKING:
    from collections.abc import Iterator

    from core.commit import Receipt

EXAMPLES = """  seamline receipts session.jsonl
  seamline receipts --json
"""


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = add_command(
        subparsers, "receipts", "list the commits made here: range, tokens before and after, hashes", EXAMPLES
    )
    parser.add_argument("path", metavar="PATH", nargs="?", help="a session file; default: all sessions")
    parser.add_argument("--json", action="store_true", help="print JSON, schema receipts/1")
    parser.set_defaults(run=run, schema="receipts/1")


def run(arguments: argparse.Namespace) -> int:
    from core.commit.journal import Journal
    from inspector.commands.output import print_json, print_lines

    path = None if arguments.path is None else _named(Path(arguments.path))
    with Journal() as journal:
        receipts = list(journal.receipts(path))
    if arguments.json:
        print_json({"schema": "receipts/1", "receipts": [receipt.to_json() for receipt in receipts]})
    elif not receipts:
        print_lines([f"no commit was made here{'' if path is None else f' on {path}'}"])
    else:
        print_lines(line for receipt in receipts for line in receipt_lines(receipt))
    return 0


def _named(path: Path) -> Path:
    """The session that is named; a file that is gone may still have receipts."""
    from inspector.opening import session_at

    return session_at(path) if path.exists() else path


def receipt_lines(receipt: Receipt) -> Iterator[str]:
    """One commit in a few lines."""
    data = receipt.to_json()
    before, after = data["tokens_before"], data["tokens_after"]
    tokens = f"{before['value']:,} → {after['value']:,} tokens ({after['kind']}, {after['includes']})"
    span, counts = data["range"], data["range"]["counts"]
    did = ", ".join(f"{count} {what}" for what, count in counts.items()) or "nothing"
    yield f"{data['time']}  {data['state']:<12}  {tokens if before and after else 'tokens unknown'}"
    yield f"  id       {data['id']}"
    yield f"  session  {data['session']}"
    if data["result"] != data["session"]:
        yield f"  result   {data['result']}"
    yield f"  policy   {data['policy']}, {data['kind']}, summary: {data['summary']['writer'] or 'none'}"
    yield f"  units    {did}; entries {span['first']} to {span['last']}"
    for name in ("before", "after"):
        digest = data[f"sha256_{name}"]
        if digest is not None:
            yield f"  {name:<8} {data[f'bytes_{name}']:,} bytes, sha256 {digest['value']} ({digest['scope']})"
    for backup in data["backups"]:
        yield f"  backup   {backup}"
    if data["reason"]:
        yield f"  reason   {data['reason']}"
    yield ""
