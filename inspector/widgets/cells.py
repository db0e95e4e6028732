"""Text as terminal cells: nothing in a session's text may move the cursor, turn the direction or break a column."""

from __future__ import annotations

from typing import Literal

from rich.cells import cell_len, get_character_cell_size

from inspector.text import one_line, printable

ELLIPSIS = "…"

FIRST_LINE = 400
"""Characters of a first line; no terminal row holds more."""

_UNSURE = {0x200C, 0x200D, 0x00AD, *range(0xFE00, 0xFE10), *range(0x1F3FB, 0x1F400), *range(0xE0100, 0xE01F0)}
"""Joiners, variation selectors and skin tones: terminals disagree about the width of what they make."""

_IN_CELLS: dict[int, str | None] = {**dict.fromkeys(_UNSURE), 0x09: "    "}


def visible(text: str) -> str:
    """Printable text whose width in cells all terminals agree on: joiners go, tabs become four spaces."""
    if text.isascii() and text.isprintable():
        return text
    return printable(text).translate(_IN_CELLS)


def first_line(text: str) -> str:
    """The first line with something on it, its white space squeezed, made visible."""
    line = one_line(text, FIRST_LINE)
    return line if line.isascii() else line.translate(_IN_CELLS)


def width_of(text: str) -> int:
    """How many cells a text takes that is already visible."""
    return len(text) if text.isascii() else cell_len(text)


def fit(text: str, width: int, align: Literal["left", "right"] = "left") -> str:
    """`text` in exactly `width` cells: cut with an ellipsis, never in the middle of a wide character, or padded."""
    if width <= 0:
        return ""
    length = width_of(text)
    if length > width:
        text, length = _head(text, width - 1)
        text += ELLIPSIS
        length += 1
    padding = " " * (width - length)
    return padding + text if align == "right" else text + padding


def fit_end(text: str, width: int) -> str:
    """The end of `text` in exactly `width` cells, as the end of a path tells it apart; padded, or with an ellipsis."""
    if width <= 0 or width_of(text) <= width:
        return fit(text, width)
    if text.isascii():
        return ELLIPSIS + text[len(text) - width + 1 :]
    used, start = len(ELLIPSIS), len(text)
    while start and used + (size := get_character_cell_size(text[start - 1])) <= width:
        used, start = used + size, start - 1
    return fit(ELLIPSIS + text[start:], width)


def _head(text: str, width: int) -> tuple[str, int]:
    """As much of `text` as goes into `width` cells, and its width."""
    end, used = (max(0, width), max(0, width)) if text.isascii() else _end(text, 0, width)
    return text[:end], used


def _end(text: str, start: int, width: int) -> tuple[int, int]:
    """Where a line of at most `width` cells that begins at `start` ends, and its width."""
    used = 0
    for index in range(start, len(text)):
        size = get_character_cell_size(text[index])
        if used + size > width:
            return index, used
        used += size
    return len(text), used


def wrap(text: str, width: int) -> list[str]:
    """`text` (one line, already visible) in lines of at most `width` cells, broken at spaces where there are any."""
    width = max(2, width)
    if len(text) * 2 <= width:
        return [text]
    plain = text.isascii()
    lines: list[str] = []
    start = 0
    while start < len(text):
        end = min(len(text), start + width) if plain else _end(text, start, width)[0]
        space = text.rfind(" ", start, end) if end < len(text) else -1
        if space > start + (end - start) // 2:
            end = space + 1
        lines.append(text[start:end].rstrip(" ") if end < len(text) else text[start:end])
        start = end
    return lines or [""]
