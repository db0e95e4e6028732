"""A row's cells as one line of the terminal. Styles are named here and coloured by the theme."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from inspector.widgets import figures
from inspector.widgets.cells import fit
from inspector.widgets.timeline_rows import Cells

Styles = Callable[[str], Style]
"""The style of a named part, as the theme has it."""


@dataclass(frozen=True, slots=True)
class Columns:
    """Widths in cells; 0 leaves a column out. `text` takes what the others leave."""

    kind: int
    tool: int
    text: int
    tokens: int
    share: int
    bar: int
    running: int


GUTTER = 1
ICON = 2


def columns(width: int, verdict: int = 0) -> Columns:
    """What fits into `width` cells, the least needed columns going first. `verdict`: cells taken by a review."""
    kind = 10
    tool = 10 if width >= 100 else 0
    tokens = 9
    share = 7 if width >= 60 else 0
    bar = 9 if width >= 110 else 5 if width >= 76 else 0
    running = 10 if width >= 76 else 0
    taken = GUTTER + ICON + verdict + kind + tool + tokens + share + bar + running
    return Columns(kind, tool, max(0, width - taken), tokens, share, bar, running)


def heading(width: int, styles: Styles, share_of: str, verdict: str = "") -> Strip:
    """The line above the list that names its columns."""
    layout = columns(width, len(verdict))
    bar = fit(f" {share_of}", layout.share + layout.bar)
    words = [
        " " * (GUTTER + ICON) + verdict,
        fit("kind", layout.kind),
        fit("tool", layout.tool),
        fit("first line", layout.text),
        fit("tokens", layout.tokens, "right"),
        bar,
        fit("context", layout.running, "right"),
    ]
    return _strip([Segment("".join(words), styles("heading"))], width, styles("heading"))


def row(cells: Cells, width: int, styles: Styles, selected: bool, verdict: Segment | None = None) -> Strip:
    """One row, exactly `width` cells wide."""
    base = styles("cursor") if selected else Style()
    dim = styles("dim") if cells.dim else Style()
    kind_style = base + styles(cells.style) + dim
    text_style = base + (styles("strong") if cells.strong else Style()) + dim
    figure = base + styles("figure") + dim
    layout = columns(width, verdict.cell_length if verdict else 0)
    kind, tool = cells.kind, cells.tool
    if tool and not layout.tool:
        kind, tool = tool, ""
    segments = [
        Segment("▌" if selected else " ", base + styles("pointer")),
        Segment(fit(cells.icon, ICON), kind_style),
    ]
    if verdict:
        segments.append(Segment(verdict.text, base + (verdict.style or Style())))
    segments += [
        Segment(fit(kind, layout.kind - 1) + " ", kind_style),
        Segment(fit(tool, layout.tool - 1) + " " if layout.tool else "", figure),
        *_text(cells, layout.text, text_style, base + styles("badge") + dim),
        Segment(fit(cells.tokens, layout.tokens, "right"), text_style),
        Segment(fit(cells.share, layout.share, "right"), figure),
        *_bar(cells, layout.bar, base + styles("bar")),
        Segment(fit(cells.running, layout.running, "right"), figure),
    ]
    return _strip(segments, width, base)


def _text(cells: Cells, width: int, style: Style, badge_style: Style) -> list[Segment]:
    if not cells.badge:
        return [Segment(fit(cells.text, width), style)]
    if cells.strong:
        badge = " " + cells.badge
        room = width - len(badge)
        return [Segment(fit(cells.text, room), style), Segment(fit(badge, width - max(0, room)), badge_style)]
    badge = f"[{cells.badge}] "
    room = width - len(badge)
    return [Segment(fit(badge, min(width, len(badge))), badge_style), Segment(fit(cells.text, room), style)]


def _bar(cells: Cells, width: int, style: Style) -> list[Segment]:
    if not width:
        return []
    return [Segment(" " + figures.bar(cells.fraction, width - 1), style)]


def _strip(segments: list[Segment], width: int, style: Style) -> Strip:
    """The segments as a strip that is exactly `width` cells wide whatever they hold."""
    return Strip([s for s in segments if s.text]).adjust_cell_length(width, style)
