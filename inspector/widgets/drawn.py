"""Base of the small widgets that draw their own lines from named parts."""

from __future__ import annotations

from collections.abc import Sequence

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.widget import Widget

Part = tuple[str, str]
"""A text and the name of the component style that it is drawn in."""


class Drawn(Widget):
    """Draws `lines(width)`; each part in the component style `PREFIX--name`, so that themes reach it."""

    PREFIX = ""

    def lines(self, width: int) -> Sequence[Sequence[Part]]:
        """What to draw, top to bottom; may be longer than there is room for."""
        raise NotImplementedError

    def on_mount(self) -> None:
        self._drawn: tuple[int, Sequence[Sequence[Part]]] | None = None

    def changed(self, layout: bool = False) -> None:
        """Draw anew, as what `lines` is made from has changed."""
        self._drawn = None
        if layout:
            # Textual 8 keeps the size of a widget whose earlier wish for a layout was not handled yet, though another
            # widget's has laid it out since; a new number makes it ask for the size again.
            self._layout_updates += 1
        self.refresh(layout=layout)

    def notify_style_update(self) -> None:
        self._drawn = None
        super().notify_style_update()

    def _drawn_lines(self, width: int) -> Sequence[Sequence[Part]]:
        if self._drawn is None or self._drawn[0] != width:
            self._drawn = (width, self.lines(width))
        return self._drawn[1]

    def get_content_height(self, container: object, viewport: object, width: int) -> int:
        return len(self._drawn_lines(width)) if self.is_mounted else 0

    def render_line(self, y: int) -> Strip:
        width = self.content_size.width
        lines = self._drawn_lines(width)
        if y >= len(lines):
            return Strip.blank(width, self.rich_style)
        segments = [Segment(text, self._style(name)) for text, name in lines[y] if text]
        return Strip(segments).adjust_cell_length(width).apply_style(self.rich_style)

    def _style(self, name: str) -> Style:
        if not name:
            return Style()
        return self.get_component_rich_style(f"{self.PREFIX}--{name}", partial=True)
