"""Whether a file holds messages for one of the APIs, judged by its content from a bounded beginning."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from core.agents.openai_messages.heads import value_of
from core.agents.openai_messages.layout import HEAD, is_json_lines, opening_of
from core.agents.openai_messages.scanning import CLOSE_BRACKET, OPEN_BRACE, OPEN_BRACKET, Scanner
from core.agents.openai_messages.walking import Side, Walker, judged
from core.files import Files
from core.jsonl import BrokenLine, is_one_of

LOOKED_AT = 32 << 20
"""Bytes of one document that are looked through: large tool definitions or images may stand before its messages."""

MOST_LINES = 50
MOST_VALUES = 50

OTHERS = frozenset(
    {"user", "assistant", "system", "tool_result", "backend_tool_call", "session", "response_item", "session_meta"}
)
"""Types of records in which coding agents wrap their messages: such a file is one of theirs."""


def is_messages(files: Files, path: Path) -> bool:
    """True where the beginning of the file holds a message of a conversation, and no record of a coding agent."""
    size = files.size(path)
    scanner = Scanner(files, path, 0, size)
    start = scanner.read(0, 64).removeprefix(b"\xef\xbb\xbf").lstrip()
    if start[:1] not in (b"[", b"{"):
        return start[:1] not in (b"", b"\x28") and _any_line(scanner)
    if is_json_lines(scanner):
        return _any_line(scanner)
    return _document(Scanner(files, path, 0, min(size, LOOKED_AT)))


def _any_line(scanner: Scanner) -> bool:
    """Whether most objects of the first lines are messages or conversations."""
    head = scanner.read(0, HEAD).removeprefix(b"\xef\xbb\xbf")
    rows = [row.strip() for row in head.split(b"\n", MOST_LINES)[:MOST_LINES] if row.strip()]
    ours = others = 0
    for row in rows:
        value = value_of(row)
        if isinstance(value, dict) and is_one_of(value.get("type"), OTHERS) and "role" not in value:
            return False
        mine = value is not None and _is_one(row)
        ours += mine
        others += isinstance(value, dict) and not mine
    if not ours and not others and len(rows) == 1 and scanner.end > HEAD:
        end = scanner.over_value(scanner.over_space(0))
        return end is not None and end <= LOOKED_AT and _is_one(scanner.read(0, end).strip())
    return ours > 0 and ours >= others


def _is_one(row: bytes) -> bool:
    try:
        return judged(row, 0, len(row)).kind == "message" or opening_of(row)[0] is not None
    except BrokenLine:
        return False


def _document(scanner: Scanner) -> bool:
    """Whether the first message of a document's conversation can be found."""
    at = scanner.over_space(3 if scanner.read(0, 3) == b"\xef\xbb\xbf" else 0)
    if scanner.peek(at) == OPEN_BRACKET:
        first = scanner.over_space(at + 1)
        return scanner.peek(first) not in (CLOSE_BRACKET,) and Finder(scanner).finds()
    return scanner.peek(at) == OPEN_BRACE and Finder(scanner).finds()


class Finder(Walker):
    """A walk that ends at the first message, or after many values that are none."""

    def finds(self) -> bool:
        """Whether there is a message."""
        with suppress(_Enough):
            self.walk()
        return any(piece.kind == "message" for piece in self.pieces)

    def _element(self, at: int, end: int, name: str, side: Side) -> bool:
        whole = super()._element(at, end, name, side)
        if whole and (self.pieces[-1].kind == "message" or len(self.pieces) > MOST_VALUES):
            raise _Enough
        return whole


class _Enough(Exception):
    """What was looked at tells."""
