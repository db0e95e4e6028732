"""A virtual list: one line a row, drawn only where it is seen.

Moving, scrolling and the mouse are here; what the rows say is left to the lists made from it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import var
from textual.scroll_view import ScrollView
from textual.strip import Strip

HEADING_HEIGHT = 1


class RowList(ScrollView, can_focus=True):
    """Memory and time depend on the screen, not on the number of rows. A heading stays above the rows."""

    PREFIX: ClassVar[str] = "rows"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move(-1)", show=False),
        Binding("down", "move(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("pagedown", "page(1)", show=False),
        Binding("home", "end(-1)", show=False),
        Binding("end", "end(1)", show=False),
    ]

    cursor = var(0, init=False)
    """Which row is selected."""

    @dataclass
    class Moved(Message):
        """Another row is selected, or the selected row is another one."""

        list: RowList

        @property
        def control(self) -> RowList:
            return self.list

        def can_replace(self, message: Message) -> bool:
            return isinstance(message, RowList.Moved)

    @dataclass
    class Chosen(Message):
        """The selected row was clicked twice."""

        list: RowList

        @property
        def control(self) -> RowList:
            return self.list

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self._count = 0
        self._styles: dict[str, Style] = {}

    def draw_heading(self, width: int) -> Strip:
        """The line above the rows."""
        raise NotImplementedError

    def draw_row(self, number: int, width: int, selected: bool) -> Strip:
        """One row, exactly `width` cells wide."""
        raise NotImplementedError

    def row_clicked(self, number: int) -> None:
        """A row was clicked once, and is selected."""

    def set_count(self, count: int) -> None:
        """There are so many rows now."""
        self._count = count
        self.virtual_size = Size(0, count + HEADING_HEIGHT)
        self.refresh()

    @property
    def count(self) -> int:
        return self._count

    def validate_cursor(self, value: int) -> int:
        return max(0, min(self._count - 1, value))

    def watch_cursor(self, old: int, new: int) -> None:
        self._refresh_row(old)
        self._refresh_row(new)
        self.reveal()
        self.announce()

    def reveal(self, center: bool = False) -> None:
        """Scroll to the selected row; one line more than it, as the heading covers the first line of the window."""
        self.scroll_to_region(Region(0, self.cursor, 1, 1 + HEADING_HEIGHT), animate=False, force=True, center=center)

    def on_resize(self) -> None:
        self.reveal()

    def announce(self) -> None:
        """Say which row is selected."""
        self.post_message(self.Moved(self))

    def _refresh_row(self, number: int) -> None:
        self.refresh(Region(0, number - self.scroll_offset.y + HEADING_HEIGHT, self.size.width, 1))

    def action_move(self, by: int) -> None:
        self.cursor += by

    def action_page(self, by: int) -> None:
        self.cursor += by * max(1, self.size.height - HEADING_HEIGHT - 1)

    def action_end(self, side: int) -> None:
        self.cursor = 0 if side < 0 else self._count - 1

    def on_click(self, event: events.Click) -> None:
        place = event.get_content_offset(self)
        if place is None or place.y < HEADING_HEIGHT:
            return
        number = place.y + self.scroll_offset.y - HEADING_HEIGHT
        if number >= self._count:
            return
        self.cursor = number
        if event.chain > 1:
            self.post_message(self.Chosen(self))
        else:
            self.row_clicked(number)

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        if y < HEADING_HEIGHT:
            return self.draw_heading(width)
        number = y + self.scroll_offset.y - HEADING_HEIGHT
        if number >= self._count:
            return Strip.blank(width, self.rich_style)
        return self.draw_row(number, width, number == self.cursor).apply_style(self.rich_style)

    def style(self, name: str) -> Style:
        """The theme's style of a named part."""
        if name == "cursor" and not self.has_focus:
            name = "cursor-blurred"
        style = self._styles.get(name)
        if style is None:
            style = self._styles[name] = self.get_component_rich_style(f"{self.PREFIX}--{name}", partial=True)
        return style

    def notify_style_update(self) -> None:
        self._styles.clear()
        super().notify_style_update()

    def on_focus(self) -> None:
        self._refresh_row(self.cursor)

    def on_blur(self) -> None:
        self._refresh_row(self.cursor)
