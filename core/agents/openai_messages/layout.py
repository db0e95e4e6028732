"""Which of the usual layouts a file of messages has, and the pieces that it is made of."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from core.agents.openai_messages.heads import head_of
from core.agents.openai_messages.records import Layout, Line
from core.agents.openai_messages.scanning import OPEN_BRACE, OPEN_BRACKET, Scanner
from core.agents.openai_messages.walking import Piece, Walker, digest_of, judged
from core.agents.protocol import Progress
from core.files import Files
from core.jsonl import BrokenLine, decode, lines

HEAD = 1 << 20
"""Bytes of a file that tell whether it is JSON Lines."""

_WRAPPED = ("request", "response")
"""Members by which a line is one request of a log, not a conversation of its own."""

_LISTS = ("messages", "input", "history", "conversation")


@dataclass
class Parted:
    """A file divided into pieces, in the order of the file."""

    layout: Layout
    pieces: list[Piece]
    lists: frozenset[str] = frozenset()
    """The members whose lists are the conversation."""
    closed: bool = True
    lines: list[Line] = field(default_factory=list[Line])
    shown: Line | None = None
    others: dict[int, str] = field(default_factory=dict[int, str])
    """Start of a piece of kind `line` or `other` → its id."""


def part(files: Files, path: Path, size: int, leaf: str | None = None, progress: Progress | None = None) -> Parted:
    """Divide a file. Raises OSError."""
    scanner = Scanner(files, path, 0, size)
    if is_json_lines(scanner):
        return _lines(files, path, size, leaf, progress)
    walker = Walker(scanner).walk()
    if progress is not None:
        progress(size, size)
    return Parted("document", walker.pieces, frozenset(walker.lists.values()), walker.closed)


def is_json_lines(scanner: Scanner) -> bool:
    """Whether the file holds one JSON value a line, and not one document."""
    head = scanner.read(scanner.start, scanner.start + HEAD)
    rows = [row for row in head.removeprefix(b"\xef\xbb\xbf").split(b"\n") if row.strip()]
    torn = scanner.end > HEAD and not head.endswith(b"\n")
    if torn and len(rows) > 1:
        rows.pop()
    elif torn:
        return _another_follows(scanner)
    whole = sum(map(_is_value, rows))
    return whole * 2 >= len(rows) and (len(rows) > 1 or _is_message(rows[0])) if rows else False


def _is_value(row: bytes) -> bool:
    try:
        return isinstance(decode(row), (dict, list))
    except BrokenLine:
        return False


def _is_message(row: bytes) -> bool:
    try:
        head = head_of(row)
    except BrokenLine:
        return False
    return head is not None and head.is_message


def _another_follows(scanner: Scanner) -> bool:
    """Whether behind a first value that is longer than the head another one begins."""
    start = scanner.over_space(scanner.start)
    end = scanner.over_value(start)
    return end is not None and scanner.peek(scanner.over_space(end)) in (OPEN_BRACE, OPEN_BRACKET)


class _LineHead(msgspec.Struct, gc=False):
    """The members of a line that tell what it is."""

    messages: msgspec.Raw = msgspec.Raw()
    input: msgspec.Raw = msgspec.Raw()
    history: msgspec.Raw = msgspec.Raw()
    conversation: msgspec.Raw = msgspec.Raw()
    request: msgspec.Raw = msgspec.Raw()
    response: msgspec.Raw = msgspec.Raw()
    body: msgspec.Raw = msgspec.Raw()
    model: msgspec.Raw = msgspec.Raw()


def _lines(files: Files, path: Path, size: int, leaf: str | None, progress: Progress | None) -> Parted:
    """JSON Lines: messages, or requests with the whole history each."""
    parted = Parted("lines", [])
    wrapped = messages = 0
    for line in lines(files, path, 0, size):
        if progress is not None and line.number % 256 == 0:
            progress(line.offset, size)
        if not line.whole:
            parted.pieces.append(Piece("broken", line.offset, line.offset + line.length))
            continue
        piece, is_wrapped = _line(line.data, line.offset, line.end == 0)
        if piece is None:
            continue
        parted.pieces.append(piece)
        messages += piece.kind == "message"
        wrapped += is_wrapped
        if piece.kind == "line":
            opening = piece.name
            own = f"line-{line.number}-{piece.digest}"
            parted.lines.append(Line(line.number, piece.start, piece.end, own, opening))
            parted.others[piece.start] = own
    if parted.lines and len(parted.lines) >= messages:
        _choose(parted, wrapped, leaf)
        if parted.shown is not None:
            _expand(files, path, parted, parted.shown)
    return parted


def _line(data: bytes, offset: int, last: bool) -> tuple[Piece | None, bool]:
    """What stands in a line, and whether it is a request with its response; None for a blank one."""
    kept = data.removeprefix(b"\xef\xbb\xbf") if offset == 0 else data
    kept = kept.lstrip(b" \t\r")
    start = offset + len(data) - len(kept)
    kept = kept.rstrip(b" \t\r")
    end = start + len(kept)
    if not kept:
        return None, False
    try:
        piece = judged(kept, start, end)
        if piece.kind == "message":
            return piece, False
        opening, is_wrapped = opening_of(kept)
    except BrokenLine:
        return Piece("torn" if last else "broken", start, end), False
    if opening is not None:
        return Piece("line", start, end, opening, digest=digest_of(kept)), is_wrapped
    if kept[:1] == b"{":
        return Piece("other", start, end, digest=digest_of(kept)), False
    return piece, False


def opening_of(data: bytes) -> tuple[str | None, bool]:
    """A name for the first message of a line's conversation that is no system message, and whether it is a request.

    None where the line holds no conversation.
    """
    if data[:1] == b"[":
        return _first_of(data), False
    head = _decoded(data)
    request = _decoded(head.request)
    holders = (head, request, _decoded(request.body), _decoded(head.body))
    found = (_first(holder, name) for holder in holders for name in _LISTS)
    wrapped = any(len(bytes(getattr(head, name))) > 0 for name in _WRAPPED)
    return next((opening for opening in found if opening is not None), None), wrapped


def _decoded(data: bytes | msgspec.Raw) -> _LineHead:
    """The members of an object that are looked for; none of them where it is no object."""
    if bytes(data)[:1] != b"{":
        return _LineHead()
    try:
        return msgspec.json.decode(data, type=_LineHead)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        pass
    try:  # halves of characters (a lone surrogate) are read by a tolerant decoder only
        value = decode(bytes(data))
    except BrokenLine:
        return _LineHead()
    return _LineHead(**{name: _raw(value[name]) for name in _LineHead.__struct_fields__ if name in value})


def _first(holder: _LineHead, name: str) -> str | None:
    """A name for how a member's conversation begins; a plain text is one in a request, which names its model."""
    data = bytes(getattr(holder, name))
    if name == "input" and data[:1] == b'"':
        return digest_of(data) if bytes(holder.model) else None
    return _first_of(data)


def _first_of(data: bytes) -> str | None:
    if data[:1] != b"[":
        return None
    found = None
    for element in _elements(data):
        try:
            head = head_of(element)
        except BrokenLine:
            continue
        if head is not None and head.is_message:
            found = "" if found is None else found
            if head.role not in ("system", "developer"):
                return digest_of(element)
    return found


def _elements(data: bytes) -> list[bytes]:
    """The elements of a list, each as JSON."""
    try:
        return [bytes(element) for element in msgspec.json.decode(data, type=list[msgspec.Raw])]
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        pass
    try:
        return [bytes(_raw(element)) for element in decode(data)]
    except BrokenLine:
        return []


def _raw(value: Any) -> msgspec.Raw:
    return msgspec.Raw(json.dumps(value).encode())


def _choose(parted: Parted, wrapped: int, leaf: str | None) -> None:
    """A log, of which the last request is the present one, or conversations, of which one must be named."""
    found = parted.lines
    openings = Counter(line.opening for line in found)
    is_log = wrapped * 2 > len(found) or len(openings) * 2 <= len(found)
    parted.layout = "log" if is_log else "conversations"
    if leaf is not None:
        named = [line for line in found if leaf in (line.entry, f"line-{line.number}")]
        parted.shown = named[0] if named else None
    if parted.shown is None and (is_log or len(found) == 1):
        parted.shown = found[-1]


def _expand(files: Files, path: Path, parted: Parted, line: Line) -> None:
    """Put the pieces of the shown line in its place."""
    walker = Walker(Scanner(files, path, line.start, line.end)).walk()
    at = next(at for at, piece in enumerate(parted.pieces) if piece.start == line.start)
    parted.pieces[at : at + 1] = walker.pieces
    parted.lists = frozenset(walker.lists.values())
