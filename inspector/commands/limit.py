"""`seamline limit`: a filter that shortens one text as a policy would, for people's own agents."""

from __future__ import annotations

import argparse
import codecs
import sys
from collections.abc import Iterator

from inspector.commands.options import add_command
from inspector.commands.plan import positive

BLOCK = 1 << 20
"""Bytes that are read at a time."""

EXAMPLES = """  seamline limit < pytest.log
  seamline limit --policy dsh < result.txt > shorter.txt
  seamline limit --policy codex --unit bytes --limit 10000 < result.txt
"""


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    from core.policies.limits import LIMITERS, Options

    usual = Options()
    parser = add_command(
        subparsers,
        "limit",
        "shorten standard input as a policy shortens a tool's result, to standard output",
        EXAMPLES,
        "A filter: standard input, shortened as the policy would shorten one tool result, to standard output. "
        "Any length, in bounded memory. Bytes that are no UTF-8 come out as U+FFFD.",
    )
    parser.add_argument("--policy", choices=sorted(LIMITERS), default="handoff", help="whose rule (%(default)s)")
    parser.add_argument(
        "--age", type=positive, default=usual.age, metavar="N", help="grok-build: user messages since the result"
    )
    parser.add_argument("--unit", choices=("tokens", "bytes"), default=usual.unit, help="codex: what its limit counts")
    parser.add_argument("--limit", type=positive, default=usual.limit, metavar="N", help="codex: its limit")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    from core.policies.limits import LIMITERS, Options

    options = Options(arguments.age, arguments.unit, arguments.limit)
    shortened = LIMITERS[arguments.policy](_text(), options)
    sys.stdout.buffer.write(shortened.encode("utf-8", "replace"))
    sys.stdout.buffer.flush()
    return 0


def _text() -> Iterator[str]:
    """Standard input as text, block by block; a character that two blocks share comes whole."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    while block := sys.stdin.buffer.read(BLOCK):
        yield decoder.decode(block)
    yield decoder.decode(b"", final=True)
