"""The timeline of one session: what the model would see, row by row, and how full the window is."""

from __future__ import annotations

from array import array
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Vertical
from textual.screen import Screen
from textual.widgets import Footer
from textual.worker import get_current_worker

from core.opening import Opened
from core.view import Pairing, pair_up
from inspector.keymap import TIMELINE, bindings
from inspector.measuring import Measured, count, first_gauge, measure
from inspector.widgets.detail_rows import Block, group_blocks, line_blocks, raw_blocks
from inspector.widgets.facts import Facts
from inspector.widgets.growth import GrowthStrip
from inspector.widgets.growth_rows import cumulative
from inspector.widgets.meter import Meter
from inspector.widgets.text_pane import TextPane
from inspector.widgets.timeline_list import TimelineList
from inspector.widgets.timeline_rows import Timeline, Tokens, build

LEAD = "Before the first message"
PAST = "Before the last compaction"


class TimelineScreen(Screen[None]):
    """Shows one opened session; everything slow runs in threads."""

    CSS_PATH = "timeline.tcss"
    AREA = "timeline"
    KEYS = TIMELINE
    BINDINGS: ClassVar[list[BindingType]] = bindings(TIMELINE)

    def __init__(self, opened: Opened) -> None:
        super().__init__()
        self.opened = opened
        self.timeline = Timeline((), ())
        self.tokens = Tokens.estimated(self.timeline)
        self._raw = False
        self._pairing: Pairing | None = None
        self._by_size: list[int] = []

    def compose(self) -> ComposeResult:
        with Vertical(id="top"):
            yield Facts(self.opened)
            yield Meter()
            yield GrowthStrip()
        with Container(id="panes"):
            yield TimelineList(id="list")
            yield TextPane(id="detail")
        yield Footer(show_command_palette=False)

    @property
    def list(self) -> TimelineList:
        return self.query_one("#list", TimelineList)

    @property
    def detail(self) -> TextPane:
        return self.query_one("#detail", TextPane)

    def on_mount(self) -> None:
        opened = self.opened
        self._lay_out(build(opened.view, opened.turns, (), LEAD, PAST))
        self.query_one(Meter).show(first_gauge(opened, self.tokens.total))
        self.list.focus()
        self._read_past()

    # what is shown

    def _lay_out(self, timeline: Timeline) -> None:
        """Show a timeline, keeping the selected item."""
        window = self.opened.resume.window
        line, _ = self.list.selected
        position = self.timeline.lines[line].position if line is not None else None
        self.timeline, self.tokens = timeline, Tokens.estimated(timeline)
        folded = {number for number, group in enumerate(timeline.groups) if group.kind in ("past", "fresh")}
        self.list.show(timeline, self.tokens, self.opened.agent.profile, window.value if window else None, folded)
        here = None if position is None else timeline.line_at(position)
        if here is not None:
            self.list.select_line(here)
        elif folded and 0 in folded and len(timeline.groups) > 1:
            self.list.select_group(1)

    @work(thread=True, exclusive=True, group="measure")
    def _read_past(self) -> None:
        """Lay in what the model no longer sees, then count everything."""
        worker, opened = get_current_worker(), self.opened
        history = opened.agent.history(opened.session, opened.resume)
        timeline = build(opened.view, opened.turns, history, LEAD, PAST)
        if worker.is_cancelled:
            return
        if len(timeline.lines) > len(opened.view.items) + len(opened.view.fresh):
            self.app.call_from_thread(self._lay_out, timeline)
        else:
            timeline = self.timeline

        def report(first: int, values: array[int]) -> None:
            self.app.call_from_thread(self._counted, first, values)

        count(opened, timeline, report, lambda: worker.is_cancelled)
        if not worker.is_cancelled:
            self.app.call_from_thread(self._measured, measure(opened))

    def _counted(self, first: int, values: array[int]) -> None:
        last = first + len(values)
        self.tokens.values[first:last] = values
        self.tokens.counted[first:last] = b"\x01" * len(values)
        self.tokens.add_up(self.timeline)
        self.list.refresh()

    def _measured(self, measured: Measured) -> None:
        self._by_size = []
        self.query_one(Meter).show(measured.gauge)
        growth = measured.growth or cumulative(self.timeline, self.tokens)
        self.query_one(GrowthStrip).show(growth, measured.threshold)
        self._show_detail()

    @on(TimelineList.Moved)
    def _selected(self) -> None:
        self._raw = False
        self._show_detail()

    def _show_detail(self) -> None:
        self.detail.show(self._blocks())

    def _blocks(self) -> list[Block]:
        line, group = self.list.selected
        if not self.timeline.groups:
            return [Block("fact", "The model would see nothing: this session has no messages.")]
        if line is None:
            window = self.opened.resume.window
            return group_blocks(self.timeline, group, self.tokens, window.value if window else None)
        shown = self.timeline.lines[line]
        if self._raw:
            return raw_blocks(self.opened.session, shown)
        return line_blocks(self.opened.session, shown, self.tokens.values[line], bool(self.tokens.counted[line]))

    # keys

    @on(TimelineList.Chosen)
    def action_detail(self) -> None:
        self.add_class("-detail")
        self.detail.focus()

    def action_back(self) -> None:
        if self.has_class("-detail"):
            self.remove_class("-detail")
            self.list.focus()
        elif len(self.app.screen_stack) > 2:
            self.dismiss(None)

    def action_raw(self) -> None:
        self._raw = not self._raw
        self._show_detail()

    def action_fold(self) -> None:
        _, group = self.list.selected
        if self.timeline.groups:
            self.list.toggle(group)

    def action_fold_all(self) -> None:
        turns = {number for number, group in enumerate(self.timeline.groups) if group.kind in ("lead", "turn")}
        self.list.fold_all(not turns <= self.list.folded)

    def action_past(self) -> None:
        past = [number for number, group in enumerate(self.timeline.groups) if group.kind == "past"]
        if not past:
            self.notify("The model sees the whole history: nothing was compacted.")
            return
        self.list.toggle(past[0])
        self.list.select_group(past[0])

    def action_turn(self, by: int) -> None:
        line, group = self.list.selected
        if by < 0 and line is not None:
            by = 0
        target = group + by
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
        if not self._by_size:
            self._by_size = sorted(
                (index for index, line in enumerate(self.timeline.lines) if line.position is not None),
                key=lambda index: -self.tokens.values[index],
            )
        if self._by_size:
            line, _ = self.list.selected
            here = self._by_size.index(line) if line in self._by_size[:50] else -1
            self.list.select_line(self._by_size[(here + 1) % len(self._by_size)])

    def action_error(self) -> None:
        line, group = self.list.selected
        here = line if line is not None else self.timeline.groups[group].start - 1 if self.timeline.groups else 0
        errors = [index for index, shown in enumerate(self.timeline.lines) if shown.item.is_error]
        if not errors:
            self.notify("No tool result in this session is marked as an error.")
            return
        self.list.select_line(next((index for index in errors if index > here), errors[0]))

    @on(GrowthStrip.Chosen)
    def _go_to_entry(self, chosen: GrowthStrip.Chosen) -> None:
        for index, line in enumerate(self.timeline.lines):
            if any(source.entry == chosen.entry for source in line.item.source):
                self.list.select_line(index)
                return

    def on_unmount(self) -> None:
        self.workers.cancel_group(self, "measure")
