"""The growth strip as a widget: a click goes to the place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.message import Message

from inspector.widgets.drawn import Drawn, Part
from inspector.widgets.growth_rows import Growth, columns, drawn
from inspector.widgets.parts import parts

HEIGHT = 3
SCALE_WIDTH = 7


class GrowthStrip(Drawn):
    """Context over the whole session, with its compactions."""

    PREFIX = "growth"
    COMPONENT_CLASSES: ClassVar[set[str]] = parts("growth", "label fill high drop threshold")

    growth: Growth | None = None
    threshold: int | None = None

    @dataclass
    class Chosen(Message):
        """A place of the strip was clicked: the entry that stands there."""

        entry: str

    def show(self, growth: Growth, threshold: int | None) -> None:
        """Show another curve; `threshold`: tokens at which the policy acts."""
        self.growth, self.threshold = growth, threshold
        self.changed(layout=True)

    def lines(self, width: int) -> Sequence[Sequence[Part]]:
        if self.growth is None:
            return [[("counting tokens …", "label")]]
        if not self.growth.points:
            return []
        return drawn(self.growth, width, HEIGHT, self.threshold)

    def on_click(self, event: events.Click) -> None:
        place = event.get_content_offset(self)
        if self.growth is None or place is None:
            return
        data = columns(self.growth, self.content_size.width - SCALE_WIDTH)
        if place.x < len(data):
            self.post_message(self.Chosen(data[place.x][2]))
