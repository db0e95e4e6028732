"""What the timeline and the review have in common: a list of items with a detail pane, and moving about in it."""

from __future__ import annotations

from typing import TypeVar

from textual import on

from core.opening import Opened
from core.view import Pairing, pair_up
from inspector.screens.working import WorkingScreen
from inspector.widgets.detail_rows import Block, group_blocks, line_blocks, raw_blocks
from inspector.widgets.text_pane import TextPane
from inspector.widgets.timeline_list import TimelineList
from inspector.widgets.timeline_rows import IN_VIEW, Timeline, Tokens

Result = TypeVar("Result")

AMONG_BIGGEST = 50
"""How many of the biggest items one goes through before the first comes again."""


class BrowsingScreen(WorkingScreen[Result]):
    """Needs a `TimelineList` called `list` and a `TextPane` called `detail`."""

    opened: Opened
    timeline: Timeline = Timeline((), ())
    tokens: Tokens = Tokens.estimated(Timeline((), ()))
    raw = False
    _pairing: Pairing | None = None

    @property
    def list(self) -> TimelineList:
        return self.query_one("#list", TimelineList)

    @property
    def detail(self) -> TextPane:
        return self.query_one("#detail", TextPane)

    @property
    def window(self) -> int | None:
        known = self.opened.resume.window
        return known.value if known else None

    @on(TimelineList.Moved)
    def _moved(self) -> None:
        self.show_own()

    def show_detail(self) -> None:
        """Show the selected row in full."""
        self.detail.show(self.blocks())

    def blocks(self) -> list[Block]:
        """What the detail pane says."""
        line, group = self.list.selected
        if not self.timeline.groups:
            return [Block("fact", "The model would see nothing: this session has no messages.")]
        if line is None:
            return group_blocks(self.timeline, group, self.tokens, self.window)
        shown = self.timeline.lines[line]
        if self.raw:
            return raw_blocks(self.opened.session, shown)
        return line_blocks(self.opened.session, shown, self.tokens.values[line], bool(self.tokens.counted[line]))

    @on(TimelineList.Chosen)
    def action_detail(self) -> None:
        self.add_class("-detail")
        self.detail.focus()

    @property
    def shows_other(self) -> bool:
        """Whether the detail pane shows something else than the selected row, as a key has asked."""
        return self.raw

    def show_own(self) -> None:
        """Let the detail pane show the selected row again."""
        self.raw = False
        self.show_detail()

    def close_detail(self) -> bool:
        """Go from what fills the detail pane back to the list; whether that was needed."""
        if not (self.has_class("-detail") or self.detail.has_focus or self.shows_other):
            return False
        self.remove_class("-detail")
        self.list.focus()
        if self.shows_other:
            self.show_own()
        return True

    def fill_detail(self) -> None:
        """Show in the pane what a key has asked for, on a small terminal instead of the list."""
        self.show_detail()
        if self.shows_other and not self.detail.display:
            self.action_detail()

    def action_raw(self) -> None:
        self.raw = not self.raw
        self.fill_detail()

    def action_fold(self) -> None:
        if self.timeline.groups:
            self.list.toggle(self.list.selected[1])

    def action_fold_all(self) -> None:
        turns = {number for number, group in enumerate(self.timeline.groups) if group.kind in IN_VIEW}
        self.list.fold_all(not turns <= self.list.folded)

    def action_turn(self, by: int) -> None:
        line, group = self.list.selected
        target = group if by < 0 and line is not None else group + by
        if 0 <= target < len(self.timeline.groups):
            self.list.select_group(target)

    def action_pair(self) -> None:
        line, _ = self.list.selected
        position = self.timeline.lines[line].position if line is not None else None
        if self._pairing is None:
            self._pairing = pair_up(self.opened.view.items)
        for call, result in self._pairing.pairs:
            if position in (call, result):
                other = self.timeline.line_at(result if position == call else call)
                if other is not None:
                    self.list.select_line(other)
                return
        self.notify("This is neither a tool call nor a result.", severity="warning")

    def action_biggest(self) -> None:
        values = self.tokens.values
        seen = (index for index, line in enumerate(self.timeline.lines) if line.position is not None)
        biggest = sorted(seen, key=lambda index: -values[index])[:AMONG_BIGGEST]
        if biggest:
            line, _ = self.list.selected
            here = biggest.index(line) if line in biggest else -1
            self.list.select_line(biggest[(here + 1) % len(biggest)])

    def action_error(self) -> None:
        line, group = self.list.selected
        errors = [index for index, shown in enumerate(self.timeline.lines) if shown.item.is_error]
        if not errors:
            self.notify("No tool result in this session is marked as an error.")
            return
        here = line if line is not None else self.timeline.groups[group].start - 1
        self.list.select_line(next((index for index in errors if index > here), errors[0]))
