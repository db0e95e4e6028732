"""Text from sessions made safe to show: nothing in it may move the cursor, colour, hide, or turn the direction."""

from __future__ import annotations

import unicodedata

KEPT = {0x200C, 0x200D, 0x00AD}
"""Joiners that scripts and emoji need, and the soft hyphen: they can neither hide nor move anything."""

LONGEST_LINE = 200
"""Characters that `one_line` shows unless told otherwise."""

LOOKED_AT = 4096
"""Characters at the start of a text in which its first line is looked for."""


class _Shown(dict[int, str]):
    """For `str.translate`: each code point as it may be shown, decided when it is first met."""

    def __missing__(self, code: int) -> str:
        self[code] = shown = _shown(code)
        return shown


def _shown(code: int) -> str:
    if code in KEPT:
        return chr(code)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    category = unicodedata.category(chr(code))
    if category == "Cs":
        return "\ufffd"
    if category in ("Cc", "Cf", "Zl", "Zp"):
        return f"‹U+{code:04X}›"
    return chr(code)


_LINES = _Shown({0x09: "\t", 0x0A: "\n"})


def printable(text: str) -> str:
    """`text` with every control, direction and invisible character made visible; line feeds and tabs stay.

    A lone surrogate, which no terminal can be sent, becomes U+FFFD.
    """
    if text.isascii() and text.isprintable():
        return text
    return text.replace("\r\n", "\n").translate(_LINES)


def one_line(text: str, length: int = LONGEST_LINE) -> str:
    """The first line with something on it, its white space squeezed, made printable, at most `length` characters."""
    line = text[:LOOKED_AT].lstrip().partition("\n")[0]
    line = printable(" ".join(line.split()))
    return line if len(line) <= length else line[: length - 1] + "…"
