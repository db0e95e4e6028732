"""A pane for long texts: wrapped once, drawn line by line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.segment import Segment
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from inspector.widgets.cells import fit, visible, wrap
from inspector.widgets.detail_rows import Block
from inspector.widgets.parts import parts

LINES_SHOWN = 20_000
CHARACTERS_SHOWN = 2_000_000
"""More of a text than this is not laid out; the pane says so."""


class TextPane(ScrollView, can_focus=True):
    """Blocks of text, wrapped to the width; the text may be hostile."""

    COMPONENT_CLASSES: ClassVar[set[str]] = parts("text", "title fact notice warning key body bar thinking error")
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "scroll_up", show=False),
        Binding("down", "scroll_down", show=False),
        Binding("pageup", "page_up", show=False),
        Binding("pagedown", "page_down", show=False),
        Binding("home", "scroll_home", show=False),
        Binding("end", "scroll_end", show=False),
    ]

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self._blocks: Sequence[Block] = ()
        self._lines: list[tuple[str, str]] = []
        self._width = 0

    def show(self, blocks: Sequence[Block]) -> None:
        """Show other text, from its top."""
        self._blocks = blocks
        self._lay_out()
        self.scroll_to(0, 0, animate=False, force=True)

    def on_resize(self) -> None:
        if self.scrollable_content_region.width != self._width:
            self._lay_out()

    def _lay_out(self) -> None:
        # One column is left for the scroll bar, so that its coming does not wrap the text anew.
        self._width = self.content_region.width
        self._lines = wrapped(self._blocks, max(1, self._width - 2))
        self.virtual_size = Size(0, len(self._lines))
        self.refresh()

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        number = y + self.scroll_offset.y
        if number >= len(self._lines):
            return Strip.blank(width, self.rich_style)
        name, text = self._lines[number]
        style = self.get_component_rich_style(f"text--{name}", partial=True)
        return Strip([Segment(fit(text, width), style)]).adjust_cell_length(width).apply_style(self.rich_style)


def wrapped(blocks: Sequence[Block], width: int) -> list[tuple[str, str]]:
    """The blocks as lines (style, text) of at most `width` cells, up to the stated limits."""
    lines: list[tuple[str, str]] = []
    left = CHARACTERS_SHOWN
    for block in blocks:
        for line in block.text[:left].split("\n"):
            lines.extend((block.style, part) for part in wrap(visible(line.rstrip("\r")), width))
            if len(lines) >= LINES_SHOWN:
                break
        left -= len(block.text)
        if len(lines) >= LINES_SHOWN or left <= 0:
            lines.append(("notice", "… more than is shown here"))
            break
    return lines
