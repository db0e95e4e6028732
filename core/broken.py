"""What befell bytes that are no record: NUL bytes, records run together, half characters, an editor's indentation."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from core.jsonl import BYTE_ORDER_MARK, BrokenLine, decode

MOST_TRIED = 64
"""Places of a line, from its end backwards, at which a second record is looked for."""

LONGEST = 8 << 20
"""Bytes of damage that are looked into; of a longer line only so many."""

_OPENING = re.compile(rb'\s*\{\s*"[^"\\]{1,64}"\s*:')
_RAW_CONTROL = re.compile(r"[\x00-\x1f]")
_HALF = re.compile("[\ud800-\udfff]")
_INDENTED = re.compile(rb'\s*[\[{]\s*\n\s+(?:"[^"\n]*"\s*:|[\[{]\s*\n)')
_MEMBER = re.compile(rb'(\s+"[^"\n]*"\s*:.*|\s*[\]}][\]},\s]*|\s*[\[{]\s*|\s+[^\s{\[].*,?)\r?\n?')
_plain = json.JSONDecoder(strict=True)


@dataclass(frozen=True, slots=True)
class Cause:
    """Why bytes are no record."""

    kind: str
    """`byte-order-mark`, `nul-line`, `spliced-records`, `lone-surrogate` or `broken-line`."""
    message: str


def cause_of(data: bytes) -> Cause | None:
    """What can be told of a line without its end; None where nothing more than that it is no record."""
    if data.startswith(BYTE_ORDER_MARK):
        return Cause("byte-order-mark", "a byte order mark before the first line")
    if b"\0" in data:
        first = data.index(b"\0") + 1
        return Cause("nul-line", f"a line with {data.count(0)} NUL bytes, the first at its byte {first}")
    second = second_record(data)
    if second is not None:
        at, whole = second
        first = "two whole records" if whole else "a record that breaks off and a whole one"
        return Cause("spliced-records", f"{first} in one line: the second begins at byte {at + 1} of the line")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        return Cause("broken-line", f"a line that is no UTF-8: its byte {error.start + 1}")
    half = half_characters(data)
    if half:
        return Cause("lone-surrogate", f"half of a surrogate pair in a text: {half[0]}")
    control = _RAW_CONTROL.search(text.strip())
    if control is not None and control[0] not in "\r\n\t":
        return Cause("broken-line", f"a raw control character, 0x{ord(control[0]):02x}, in a text")
    return None


def second_record(data: bytes) -> tuple[int, bool] | None:
    """Where a whole record begins behind another in one line, and whether the first one is whole too."""
    opening = _OPENING.match(data)
    if opening is None:
        return None
    end = _first_value(data)
    if end is not None and _is_object(data[end:]):
        return end + len(data[end:]) - len(data[end:].lstrip()), True
    at = len(data)
    for _ in range(MOST_TRIED):
        at = data.rfind(opening[0].strip(), 1, at)
        if at < 0:
            return None
        if _is_object(data[at:]):
            return at, False
    return None


def _first_value(data: bytes) -> int | None:
    """Behind the first JSON value of a line, in bytes."""
    text = data.decode("utf-8", "surrogateescape")
    try:
        _, end = _plain.raw_decode(text.lstrip())
    except (ValueError, RecursionError):
        return None
    return len(text[: len(text) - len(text.lstrip()) + end].encode("utf-8", "surrogateescape"))


def _is_object(data: bytes) -> bool:
    try:
        return isinstance(decode(data), dict)
    except BrokenLine:
        return False


def half_characters(data: bytes) -> list[str]:
    """The halves of surrogate pairs in a record's texts and names, as the escapes that they are stored as."""
    try:
        value = decode(data)
    except BrokenLine:
        return []
    found: list[str] = []
    _search(value, found)
    return found


def _search(value: Any, found: list[str]) -> None:
    stack = [value]
    while stack:
        one = stack.pop()
        if isinstance(one, str):
            found.extend(f"\\u{ord(half):04x}" for half in _HALF.findall(one))
        elif isinstance(one, dict):
            stack.extend(one)
            stack.extend(one.values())
        elif isinstance(one, list):
            stack.extend(one)


def is_pretty_printed(head: bytes) -> bool:
    """Whether a file begins with a JSON value over several lines, as an editor formats it."""
    return _INDENTED.match(head.removeprefix(BYTE_ORDER_MARK)) is not None


def is_indented_run(data: bytes) -> bool:
    """Whether consecutive lines are the inside of JSON values over several lines."""
    rows = data.splitlines(keepends=True)[:200]
    return len(rows) > 2 and sum(_MEMBER.fullmatch(row) is not None for row in rows) * 10 >= len(rows) * 9
