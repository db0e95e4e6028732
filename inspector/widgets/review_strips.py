"""The rows of a review as lines of the terminal."""

from __future__ import annotations

from dataclasses import dataclass

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from inspector.widgets.cells import fit
from inspector.widgets.timeline_rows import Cells
from inspector.widgets.timeline_strips import GUTTER, ICON, Styles

SIGN = 5


@dataclass(frozen=True, slots=True)
class Columns:
    """Widths in cells; `text` takes what the others leave."""

    kind: int
    tool: int
    text: int
    before: int
    after: int
    reason: int


def columns(width: int) -> Columns:
    """What fits into `width` cells."""
    kind, before, after = 10, 9, 9
    tool = 9 if width >= 116 else 0
    reason = min(44, max(16, width * 3 // 10))
    taken = GUTTER + SIGN + ICON + kind + tool + before + after + reason
    return Columns(kind, tool, max(0, width - taken), before, after, reason)


def heading(width: int, styles: Styles) -> Strip:
    """The line above the list that names its columns."""
    layout = columns(width)
    words = (
        " " * GUTTER
        + fit("what", SIGN + ICON)
        + fit("kind", layout.kind)
        + fit("tool", layout.tool)
        + fit("first line", layout.text)
        + fit("now", layout.before, "right")
        + fit("after", layout.after, "right")
        + fit("  class: reason", layout.reason)
    )
    return Strip([Segment(words, styles("heading"))]).adjust_cell_length(width, styles("heading"))


@dataclass(frozen=True, slots=True)
class Marked:
    """What a review adds to the cells of a row."""

    style: str
    """The component style of the disposition."""
    sign: str
    after: str
    reason: str


def row(cells: Cells, marked: Marked, width: int, styles: Styles, selected: bool) -> Strip:
    """One row, exactly `width` cells wide."""
    base = styles("cursor") if selected else Style()
    dim = styles("dim") if cells.dim else Style()
    verdict = base + styles(marked.style) + dim
    gone = marked.style in ("summarize", "drop")
    text_style = base + (styles("strong") if cells.strong else Style()) + (styles("gone") if gone else Style()) + dim
    kind_style = base + styles(cells.style) + dim
    figure = base + styles("figure") + dim
    layout = columns(width)
    kind, tool = cells.kind, cells.tool
    if tool and not layout.tool:
        kind, tool = tool, ""
    segments = [
        Segment("▌" if selected else " ", base + styles("pointer")),
        Segment(fit(marked.sign, SIGN), verdict),
        Segment(fit(cells.icon, ICON), kind_style),
        Segment(fit(kind, layout.kind - 1) + " ", kind_style),
        Segment(fit(tool, layout.tool - 1) + " " if layout.tool else "", figure),
        Segment(fit(cells.text, layout.text), text_style),
        Segment(fit(cells.tokens, layout.before, "right"), figure),
        Segment(fit(marked.after, layout.after, "right"), text_style),
        Segment("  " + fit(marked.reason, layout.reason - 2), figure),
    ]
    return Strip([s for s in segments if s.text]).adjust_cell_length(width, base)


def cut_row(words: str, width: int, styles: Styles, selected: bool) -> Strip:
    """The line that stands for the cut."""
    style = (styles("cursor") if selected else Style()) + styles("cut")
    label = "✂" + words
    text = fit(("▌" if selected else "━") + "━━" + label + "━" * width, width + 1)[:width]
    return Strip([Segment(text, style)]).adjust_cell_length(width, style)
