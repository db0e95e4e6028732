"""How a file writes its JSON, so that what is new in it looks like what stands around it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

LOOKED_AT = 1 << 16
"""Bytes around a place that tell the style."""

_INDENTED = re.compile(rb"[\[{]\r?\n([ \t]+)")


@dataclass(frozen=True, slots=True)
class Style:
    """Spaces, line ends and escapes."""

    compact: bool
    """No space behind colons and commas."""
    indent: str
    """What one level adds at the beginning of a line; empty where a value stands on one line."""
    base: str
    """What stands before the value on its line."""
    newline: str
    ascii_only: bool

    def dump(self, value: Any) -> bytes:
        """A value as this file would write it. Lone halves of characters are escaped: UTF-8 has no bytes for them."""
        plain = not self.ascii_only
        separators = (",", ":") if self.compact else (", ", ": ")
        if self.indent:
            separators = (",", ": ")
        text = json.dumps(value, ensure_ascii=self.ascii_only, indent=self.indent or None, separators=separators)
        if plain and not _encodable(text):
            text = json.dumps(value, ensure_ascii=True, indent=self.indent or None, separators=separators)
        return text.replace("\n", self.newline + self.base).encode()


def style_of(value: bytes, before: bytes) -> Style:
    """The style of a stored object: its first bytes, and the bytes before it in the file."""
    line = re.split(rb"[\r\n]", before)[-1]
    base = line[: len(line) - len(line.lstrip(b" \t"))].decode()
    found = _INDENTED.match(value)
    deeper = found[1].decode() if found is not None else ""
    indent = deeper.removeprefix(base) if deeper.startswith(base) else ""
    raw = any(byte > 127 for byte in value) or any(byte > 127 for byte in before)
    return Style(
        compact=re.match(rb'\{\s*"[^"\\]*":[^ \r\n]', value) is not None,
        indent=indent,
        base=base if indent else "",
        newline="\r\n" if found is not None and b"\r\n" in found[0] else "\n",
        ascii_only=not raw and (b"\\u" in value or b"\\u" in before),
    )


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
