"""JSON Lines as JavaScript clients read them: bounded reads, lines that end at LF only, a tolerant decoder.

`str.splitlines` is of no use here: it also splits at U+2028 and U+0085, which stand inside the texts of sessions.
"""

from __future__ import annotations

import json
import re
from collections.abc import Container, Iterator
from pathlib import Path
from typing import Any, NoReturn

import msgspec

from core.files import READ_SIZE, Files

LONGEST_LINE = 0x1FFFFFE8
"""Bytes; the longest string of V8. A longer line cannot be read by a client that runs on it, nor is it kept here."""

HEAD_OF_LONG_LINE = 1 << 16

BYTE_ORDER_MARK = b"\xef\xbb\xbf"

MOST_DIGITS = 320
"""Of a number that is read as an integer; a longer one is infinite to JavaScript."""

JAVASCRIPT_SPACE = (
    "\t\n\v\f\r \xa0\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
"""What JavaScript's `trim` takes away; Python's `strip` differs (U+0085, U+001C to U+001F, U+FEFF)."""

_HALF_SURROGATE = re.compile("[\ud800-\udfff]")

_fast = msgspec.json.Decoder()


class BrokenLine(ValueError):
    """JavaScript's `JSON.parse` would throw at this line."""


class TooDeep(BrokenLine):
    """Nested deeper than this reader follows, though JavaScript would read it."""


class Line(msgspec.Struct, frozen=True, gc=False):
    """One physical line."""

    number: int
    """From 1."""
    offset: int
    """Bytes from the start of the file."""
    data: bytes
    """The line without its end; only its head where the line is longer than `LONGEST_LINE`."""
    length: int
    """Bytes, without the line's end."""
    end: int
    """Bytes of the line's end: 1 for LF, 2 for CR LF, 0 where the file stops before one."""

    @property
    def whole(self) -> bool:
        """Whether `data` is all of the line."""
        return len(self.data) == self.length

    @property
    def blank(self) -> bool:
        """Whether JavaScript's `trim` would leave nothing of the line."""
        if b" " < self.data[:1] < b"\x80" or not self.whole:
            return False
        return not trim(self.data.decode("utf-8", "replace"))

    def divided(self) -> tuple[Line, Line]:
        """The byte order mark that the line begins with, and the line behind it."""
        size = len(BYTE_ORDER_MARK)
        mark = Line(self.number, self.offset, self.data, size, 0)
        return mark, Line(self.number, self.offset + size, self.data[size:], self.length - size, self.end)


def lines(files: Files, path: Path, start: int = 0, end: int | None = None, number: int = 1) -> Iterator[Line]:
    """The lines of `path` between two byte positions; `number` is that of the first. Raises OSError.

    `start` must be the start of a line. At most one line and `READ_SIZE` bytes are held at a time.
    """
    end = files.size(path) if end is None else end
    offset = at = start
    held: list[bytes] = []
    length = 0
    while at < end:
        block = files.read(path, at, min(READ_SIZE, end - at))
        if not block:
            break
        at += len(block)
        pieces = block.split(b"\n")
        rest = pieces.pop()
        if pieces and held:
            length += _hold(held, pieces[0], length)
            yield _line(number, offset, held, length, 1)
            offset, number = offset + length + 1, number + 1
            held, length = [], 0
            del pieces[0]
        for piece in pieces:
            size = len(piece)
            if piece[-1:] == b"\r":
                yield Line(number, offset, piece[:-1], size - 1, 2)
            else:
                yield Line(number, offset, piece, size, 1)
            offset, number = offset + size + 1, number + 1
        if rest:
            length += _hold(held, rest, length)
    if length:
        yield _line(number, offset, held, length, 0)


def _hold(held: list[bytes], piece: bytes, length: int) -> int:
    """Keep a piece of a line of which `length` bytes came before, as far as the line may be kept; its bytes."""
    if length + len(piece) <= LONGEST_LINE:
        held.append(piece)
    else:
        held[:] = [b"".join(held)[:HEAD_OF_LONG_LINE]]
    return len(piece)


def _line(number: int, offset: int, held: list[bytes], length: int, end: int) -> Line:
    data = held[0] if len(held) == 1 else b"".join(held)
    if length <= LONGEST_LINE and end and data.endswith(b"\r"):
        return Line(number, offset, data[:-1], length - 1, 2)
    return Line(number, offset, data, length, end)


def trim(text: str) -> str:
    """`text` without white space at its ends, as JavaScript's `trim` gives it."""
    return text.strip(JAVASCRIPT_SPACE)


def decode(data: bytes) -> Any:
    """The value of one line, as `JSON.parse` of its bytes read as UTF-8 would give it. Raises BrokenLine.

    Bytes that are not UTF-8 become U+FFFD, half surrogates are kept, NaN and Infinity are errors.
    """
    try:
        return _fast.decode(data)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return _decode_slowly(data)


def encode(value: Any) -> bytes:
    """One record as `JSON.stringify` would write it: no spaces, text as it is, half surrogates escaped; no line end."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return _HALF_SURROGATE.sub(lambda half: f"\\u{ord(half[0]):04x}", text).encode()


def _decode_slowly(data: bytes) -> Any:
    try:
        return json.loads(data.decode("utf-8", "replace"), parse_constant=_reject, parse_int=_integer)
    except RecursionError as error:
        raise TooDeep("nested too deep") from error
    except ValueError as error:
        raise BrokenLine(str(error)) from error


def _reject(word: str) -> NoReturn:
    raise ValueError(f"{word} is no JSON")


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) <= MOST_DIGITS else float(digits)


def is_one_of(value: Any, names: Container[str]) -> bool:
    """Whether a decoded value is one of these texts; a list or an object, which no set can be asked for, is none."""
    return isinstance(value, str) and value in names
