"""The timeline of one session: what the model would see, row by row, and how full the window is."""

from __future__ import annotations

from array import array
from pathlib import Path
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Vertical
from textual.widgets import Footer
from textual.worker import get_current_worker

from core.opening import Opened
from inspector.elsewhere import Place
from inspector.keymap import TIMELINE, bindings
from inspector.measuring import Measured, count, first_gauge, measure
from inspector.messages import OpenSession
from inspector.screens.browsing import BrowsingScreen
from inspector.screens.elsewhere import ElsewhereScreen
from inspector.screens.receipt import ReceiptScreen
from inspector.screens.review import ReviewScreen
from inspector.widgets.facts import Facts
from inspector.widgets.growth import GrowthStrip
from inspector.widgets.growth_rows import cumulative
from inspector.widgets.meter import Meter
from inspector.widgets.text_pane import TextPane
from inspector.widgets.timeline_list import TimelineList
from inspector.widgets.timeline_rows import Timeline, Tokens, build


class TimelineScreen(BrowsingScreen[None]):
    """Shows one opened session; everything slow runs in threads."""

    CSS_PATH: ClassVar[list[str]] = ["browsing.tcss", "timeline.tcss"]
    AREA = "timeline"
    KEYS = TIMELINE
    BINDINGS: ClassVar[list[BindingType]] = bindings(TIMELINE)

    def __init__(self, opened: Opened, leaf: str | None = None) -> None:
        super().__init__()
        self.opened = opened
        self.leaf = leaf
        """The leaf that the person chose; None: the client's own choice."""
        self.measured: Measured | None = None
        """None until everything is counted."""
        self._counting = True

    def compose(self) -> ComposeResult:
        with Vertical(id="top"):
            yield Facts(self.opened)
            yield Meter()
            yield GrowthStrip()
        with Container(id="panes"):
            yield TimelineList(id="list")
            yield TextPane(id="detail")
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        self._lay_out(build(self.opened.view, self.opened.turns, ()))
        self.query_one(Meter).show(first_gauge(self.opened, self.tokens))
        self.list.focus()
        self._read_and_count()

    def _lay_out(self, timeline: Timeline) -> None:
        """Show a timeline, keeping the selected item."""
        line, _ = self.list.selected
        position = self.timeline.lines[line].position if line is not None else None
        self.timeline, self.tokens = timeline, Tokens.estimated(timeline)
        folded = {number for number, group in enumerate(timeline.groups) if group.kind in ("past", "fresh")}
        self.list.show(timeline, self.tokens, self.opened.agent.profile, self.window, folded)
        here = None if position is None else timeline.line_at(position)
        if here is not None:
            self.list.select_line(here)
        elif len(folded) < len(timeline.groups):
            self.list.select_group(next(n for n in range(len(timeline.groups)) if n not in folded))

    @work(thread=True, exclusive=True, group="measure")
    def _read_and_count(self) -> None:
        """Lay in what the model no longer sees, then count everything."""
        worker, opened = get_current_worker(), self.opened
        timeline = build(opened.view, opened.turns, opened.agent.history(opened.session, opened.resume))
        if worker.is_cancelled:
            return
        self.hand_over(self._lay_out, timeline)

        def report(first: int, values: array[int]) -> None:
            self.hand_over(self._counted, first, values)

        count(opened, timeline, report, lambda: worker.is_cancelled)
        if not worker.is_cancelled:
            self.hand_over(self._measured, measure(opened))

    def _counted(self, first: int, values: array[int]) -> None:
        self.tokens.count(self.timeline, first, values)
        self.query_one(Meter).show(first_gauge(self.opened, self.tokens))
        self.list.refresh()

    def _measured(self, measured: Measured) -> None:
        self.measured = measured
        self.query_one(Meter).show(measured.gauge)
        growth = measured.growth or cumulative(self.timeline, self.tokens)
        self.query_one(GrowthStrip).show(growth, measured.threshold)
        self.show_detail()

    def action_back(self) -> None:
        if self.close_detail():
            return
        if self.measured is None and self._counting:
            self._counting = False
            self.workers.cancel_group(self, "measure")
            self.notify("Counting stopped: figures with ~ are estimates. A review counts on.")
        elif len(self.app.screen_stack) > 2:
            self.dismiss(None)

    def action_past(self) -> None:
        past = [number for number, group in enumerate(self.timeline.groups) if group.kind == "past"]
        if not past:
            self.notify("The model sees the whole history: nothing was compacted.")
            return
        self.list.toggle(past[0])
        self.list.select_group(past[0])

    def action_elsewhere(self) -> None:
        self.app.push_screen(ElsewhereScreen(self.opened, self.leaf), self._go)

    def _go(self, place: Place | None) -> None:
        """Show another leaf in the place of this one, or a child above it."""
        if place is not None:
            self.post_message(OpenSession(place.path, None if place.is_child else self, place.leaf))

    def action_review(self) -> None:
        if self.measured is None:
            self.notify("Tokens are still being counted: a proposal needs them.")
            if not self._counting:
                self._counting = True
                self._read_and_count()
            return
        self.app.push_screen(ReviewScreen(self.opened, self.measured.gauge.marks), self._written)

    def action_undo(self) -> None:
        self.app.push_screen(ReceiptScreen(self.opened), self._written)

    def _written(self, path: Path | None) -> None:
        """A commit or an undo changed the file: show it anew."""
        if path is not None:
            self.post_message(OpenSession(path, instead=self))

    @on(GrowthStrip.Chosen)
    def _go_to_entry(self, chosen: GrowthStrip.Chosen) -> None:
        for index, line in enumerate(self.timeline.lines):
            if any(source.entry == chosen.entry for source in line.item.source):
                self.list.select_line(index)
                return

    def on_unmount(self) -> None:
        self.workers.cancel_group(self, "measure")
