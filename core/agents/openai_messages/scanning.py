"""Finds where the values of a JSON text begin and end, block by block: nothing is decoded, no value is held whole."""

from __future__ import annotations

import re
from pathlib import Path

from core.files import READ_SIZE, Files

OPEN_BRACE, CLOSE_BRACE = ord("{"), ord("}")
OPEN_BRACKET, CLOSE_BRACKET = ord("["), ord("]")
QUOTE, COLON, BACKSLASH = ord('"'), ord(":"), ord("\\")
NOTHING = -1
"""What `peek` gives at the end."""

MOST_LEVELS = 1000
"""Nesting beyond which a value is not followed; no JSON reader goes much deeper."""

_SPACE = re.compile(rb"[ \t\r\n]*+")
_SEPARATOR = re.compile(rb"[ \t\r\n,]*+")
_STRING = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+', re.DOTALL)
_SCALAR = re.compile(rb"[^ \t\r\n,:\[\]{}\"]*+")
_NO_BRACKET = re.compile(rb'(?:[^"\[\]{}]++|"[^"\\]*+(?:\\.[^"\\]*+)*+")*+', re.DOTALL)
"""Everything before the next bracket, as far as its strings end in this block."""


class Scanner:
    """One JSON text: the bytes of a file from `start` to `end`. Positions count from the start of the file."""

    def __init__(self, files: Files, path: Path, start: int, end: int) -> None:
        self.files = files
        self.path = path
        self.start = start
        self.end = end
        self._block = b""
        self._base = 0

    def _load(self, position: int) -> int:
        """The index of `position` in the block that holds it; the block's length where nothing is left."""
        index = position - self._base
        if 0 <= index < len(self._block):
            return index
        self._base = position
        length = min(READ_SIZE, self.end - position)
        self._block = self.files.read(self.path, position, length) if length > 0 else b""
        return 0

    def peek(self, position: int) -> int:
        """The byte at `position`, or NOTHING at the end."""
        index = self._load(position)
        return self._block[index] if index < len(self._block) else NOTHING

    def read(self, start: int, end: int) -> bytes:
        """The bytes between two positions."""
        return self.files.read(self.path, start, min(end, self.end) - start)

    def _over(self, pattern: re.Pattern[bytes], position: int) -> int:
        """The first position from `position` on that the pattern, a run of bytes, does not take in."""
        while True:
            index = self._load(position)
            if index >= len(self._block):
                return position
            found = pattern.match(self._block, index)
            stop = found.end() if found is not None else index
            position = self._base + stop
            if stop < len(self._block):
                return position

    def over_space(self, position: int) -> int:
        return self._over(_SPACE, position)

    def over_separator(self, position: int) -> int:
        """Behind white space and commas."""
        return self._over(_SEPARATOR, position)

    def over_string(self, position: int) -> int | None:
        """Behind the string whose opening quote stands at `position`; None where it does not end."""
        position += 1
        while True:
            position = self._over(_STRING, position)
            byte = self.peek(position)
            if byte == QUOTE:
                return position + 1
            if byte == NOTHING or position + 1 >= self.end:
                return None
            # A backslash at the end of a block: read on from it, so that what it escapes stands beside it.
            self._base, self._block = (
                position,
                self.files.read(self.path, position, min(READ_SIZE, self.end - position)),
            )
            if len(self._block) < 2:
                return None

    def over_value(self, position: int) -> int | None:
        """Behind the value that begins at `position`; None where it does not end.

        Brackets are counted, not matched by kind: a value that is no valid JSON fails when it is decoded.
        """
        byte = self.peek(position)
        if byte == QUOTE:
            return self.over_string(position)
        if byte not in (OPEN_BRACE, OPEN_BRACKET):
            stop = self._over(_SCALAR, position)
            return stop if stop > position else None
        depth = 0
        while True:
            index = self._load(position)
            if index >= len(self._block):
                return None
            found = _NO_BRACKET.match(self._block, index)
            index = found.end() if found is not None else index
            position = self._base + index
            if index >= len(self._block):
                continue
            byte = self._block[index]
            if byte == QUOTE:
                stop = self.over_string(position)
                if stop is None:
                    return None
                position = stop
                continue
            depth += 1 if byte in (OPEN_BRACE, OPEN_BRACKET) else -1
            position += 1
            if depth == 0:
                return position
            if depth > MOST_LEVELS:
                return None

    def search(self, pattern: re.Pattern[bytes], position: int, longest: int) -> int:
        """Where the pattern next begins, at `position` or behind it; the end where it does not. `longest`: bytes."""
        while position < self.end:
            block = self.files.read(self.path, position, min(READ_SIZE + longest, self.end - position))
            found = pattern.search(block)
            if found is not None:
                return position + found.start()
            position += max(1, len(block) - longest) if position + len(block) < self.end else len(block)
            if not block:
                break
        return self.end
