"""The token bar as values: how full the window is, where policies act, and what each figure means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len

from core.budget import Figure, Mark, Sum
from inspector.widgets import figures
from inspector.widgets.drawn import Part

FREE, HELD, USED, OVER = "─", "░", "█", "▓"
WINDOW_SIGN = "┃"
GAP = 3
"""Cells between two entries of the legend."""


@dataclass(frozen=True, slots=True)
class Gauge:
    """What the bar shows. `marks` ascend and end with the window; empty where the window is unknown."""

    used: Figure | Sum
    view: Figure
    """The view alone, counted or estimated."""
    marks: tuple[Mark, ...] = ()
    stale: str = ""
    """Why the provider's last figure is not used; empty where it is."""

    @property
    def window(self) -> int | None:
        return self.marks[-1].tokens if self.marks else None


def signs(marks: Sequence[Mark]) -> list[str]:
    """A sign for each mark, the same on the bar and in the legend: 1, 2, … and a line for the window."""
    return [*(str(number) for number in range(1, len(marks))), WINDOW_SIGN] if marks else []


def mark_style(sign: str) -> str:
    """The name of the component style of a sign."""
    return "edge" if sign == WINDOW_SIGN else "mark"


def bar(gauge: Gauge, width: int) -> list[Part]:
    """The bar in `width` cells: used, free, held back beyond the first threshold, and the marks' signs."""
    window = gauge.window
    if window is None or width < 10:
        return []
    whole = max(window, gauge.used.value)
    used = round(gauge.used.value / whole * width)
    threshold = gauge.marks[0].tokens
    style = "over" if gauge.used.value >= window else "tight" if gauge.used.value >= threshold else "used"
    cells: list[Part] = []
    for cell in range(width):
        tokens = cell / width * whole
        if cell < used:
            cells.append((OVER if tokens >= window else USED, style))
        else:
            cells.append((HELD, "held") if tokens >= threshold else (FREE, "free"))
    for mark, sign in reversed(list(zip(gauge.marks, signs(gauge.marks), strict=True))):
        place = min(width - 1, round(mark.tokens / whole * width))
        while place > 0 and cells[place][1] in ("mark", "edge"):
            place -= 1
        cells[place] = (sign, mark_style(sign))
    return _joined(cells)


def _joined(cells: Sequence[Part]) -> list[Part]:
    parts: list[Part] = []
    for text, style in cells:
        if parts and parts[-1][1] == style:
            parts[-1] = (parts[-1][0] + text, style)
        else:
            parts.append((text, style))
    return parts


def legend(marks: Sequence[Mark], width: int, before: str = "") -> list[list[Part]]:
    """What the signs on the bar stand for, in as many lines as `width` needs. `before`: words that come first."""
    if not marks:
        return [[("window unknown: give it with --window, to see the bar and where policies act", "warning")]]
    said: list[list[Part]] = [[(before, "label")]] if before else []
    for mark, sign in zip(marks, signs(marks), strict=True):
        said.append([(sign, mark_style(sign)), (f" {_mark_words(mark)} {mark.tokens:,}", "label")])
    lines: list[list[Part]] = [[]]
    room = width
    for parts in said:
        size = sum(cell_len(text) for text, _ in parts)
        if lines[-1] and size + GAP > room:
            lines.append([])
            room = width
        if lines[-1]:
            lines[-1].append((" " * GAP, "label"))
            room -= GAP
        lines[-1] += parts
        room -= size
    return lines


def _mark_words(mark: Mark) -> str:
    return "window" if mark.name == "window" else f"{mark.name} acts at"


def sources(gauge: Gauge) -> str:
    """Where each figure comes from, for a tooltip."""
    lines = [f"{_mark_words(mark)} {mark.tokens:,} = {mark.source}" for mark in gauge.marks]
    lines.append(f"in use: {gauge.used} ({gauge.used.includes})")
    lines.append(f"view: {gauge.view} ({gauge.view.includes})")
    if gauge.stale:
        lines.append(f"the provider's last figure no longer holds: {gauge.stale}")
    return "\n".join(lines)


def figures_lines(gauge: Gauge, width: int) -> list[list[Part]]:
    """How much is in use, of what kind the figure is, what it includes; the view alone beside it; wrapped."""
    used = gauge.used
    value = f"{figures.tokens(used.value, used.kind != 'estimated')} tokens"
    if gauge.window:
        value += f" · {figures.share(used.value, gauge.window)} of the window"
    said = [_kind_words(used)]
    if used != gauge.view:
        view = figures.tokens(gauge.view.value, gauge.view.kind != "estimated")
        said.append(f"view alone {view} {gauge.view.kind}")
    if gauge.stale:
        said.append(f"the provider's last figure no longer holds: {gauge.stale}")
    lines: list[list[Part]] = [[(value, "value")]]
    room = width - cell_len(value)
    for words in said:
        text = f" · {words}"
        if cell_len(text) > room:
            lines.append([])
            text, room = words, width
        lines[-1].append((text, "label"))
        room -= cell_len(text)
    return lines


def _kind_words(used: Figure | Sum) -> str:
    if isinstance(used, Sum):
        return " + ".join(f"{part.value:,} {part.kind}: {part.includes}" for part in used.parts)
    return f"{used.kind}: {used.includes}"
