"""The timeline as a widget: a virtual list of turns and items that can be folded."""

from __future__ import annotations

from array import array
from typing import ClassVar

from textual.strip import Strip

from core.agents.protocol import Profile
from inspector.widgets.parts import parts
from inspector.widgets.row_list import RowList
from inspector.widgets.timeline_rows import (
    Timeline,
    Tokens,
    group_of_header,
    header_cells,
    line_cells,
    rows,
)
from inspector.widgets.timeline_strips import heading, row

PARTS = (
    "heading cursor cursor-blurred dim pointer strong figure badge bar turn past user assistant thinking call "
    "result error image summary branch shell custom system tool"
)


class TimelineList(RowList):
    """One row per item, grouped under headers."""

    PREFIX = "timeline"
    COMPONENT_CLASSES: ClassVar[set[str]] = parts("timeline", PARTS)

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self.timeline = Timeline((), ())
        self.tokens = Tokens.estimated(self.timeline)
        self.profile: Profile | None = None
        self.window: int | None = None
        self.folded: set[int] = set()
        self._rows: array[int] = array("q")

    def show(self, timeline: Timeline, tokens: Tokens, profile: Profile, window: int | None, folded: set[int]) -> None:
        """Show a session from its first row."""
        self.timeline, self.tokens, self.profile, self.window = timeline, tokens, profile, window
        self.folded = folded
        self._lay_out()
        self.cursor = 0
        self.announce()

    def _lay_out(self) -> None:
        self._rows = rows(self.timeline, self.folded)
        self.set_count(len(self._rows))

    @property
    def selected(self) -> tuple[int | None, int]:
        """The selected line (None on a header) and its group."""
        if not self._rows:
            return None, 0
        current = self._rows[self.cursor]
        group = group_of_header(current)
        return (None, group) if group is not None else (current, self.timeline.group_of(current))

    def select_line(self, line: int) -> None:
        """Move to a line, unfolding its group if need be."""
        group = self.timeline.group_of(line)
        if group in self.folded:
            self.folded.discard(group)
            self._lay_out()
        self.cursor = self._header_row(group) + 1 + line - self.timeline.groups[group].start

    def select_group(self, group: int) -> None:
        """Move to the header of a group."""
        self.cursor = self._header_row(group)

    def _header_row(self, group: int) -> int:
        """The row of a group's header: the headers and the shown lines before it."""
        before = enumerate(self.timeline.groups[:group])
        return group + sum(g.stop - g.start for number, g in before if number not in self.folded)

    def toggle(self, group: int) -> None:
        """Fold or unfold a group; the selection goes to its header where its line disappears."""
        line, selected = self.selected
        self.folded.symmetric_difference_update({group})
        self._lay_out()
        self._select_again(line, selected)

    def fold_all(self, fold: bool) -> None:
        """Fold or unfold all that the model sees."""
        line, selected = self.selected
        shown = {number for number, group in enumerate(self.timeline.groups) if group.kind in ("lead", "turn")}
        self.folded = self.folded | shown if fold else self.folded - shown
        self._lay_out()
        self._select_again(line, selected)

    def _select_again(self, line: int | None, group: int) -> None:
        if line is None or group in self.folded:
            self.select_group(group)
        else:
            self.select_line(line)

    def row_clicked(self, number: int) -> None:
        group = group_of_header(self._rows[number])
        if group is not None:
            self.toggle(group)

    def draw_heading(self, width: int) -> Strip:
        return heading(width, self.style, "of window" if self.window else "of view")

    def draw_row(self, number: int, width: int, selected: bool) -> Strip:
        if self.profile is None:
            return Strip.blank(width)
        group = group_of_header(self._rows[number])
        if group is None:
            cells = line_cells(self.timeline, self._rows[number], self.tokens, self.profile, self.window)
        else:
            cells = header_cells(self.timeline, group, self.tokens, self.window, group in self.folded)
        return row(cells, width, self.style, selected)
