"""The model view before and after, side by side, with their totals."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import Screen
from textual.widgets import Footer, Static

from core.opening import Opened
from core.planning import Plan
from inspector.keymap import COMPARE, bindings
from inspector.measuring import counted
from inspector.widgets import figures
from inspector.widgets.timeline_list import TimelineList
from inspector.widgets.timeline_rows import Timeline, Tokens, build


class CompareScreen(Screen[None]):
    """The selection in one view is followed by the other, where the same entry is in both."""

    CSS_PATH = "compare.tcss"
    AREA = "before and after"
    KEYS = COMPARE
    BINDINGS: ClassVar[list[BindingType]] = bindings(COMPARE)

    def __init__(self, plan: Plan) -> None:
        super().__init__()
        self.plan = plan

    def compose(self) -> ComposeResult:
        with Horizontal(id="sides"):
            with Vertical():
                yield Static(self._total("before", self.plan.opened), markup=False, classes="total")
                yield TimelineList(id="before")
            with Vertical():
                yield Static(self._total("after", self.plan.after), markup=False, classes="total")
                yield TimelineList(id="after")
        yield Footer(show_command_palette=False)

    def _total(self, name: str, opened: Opened) -> str:
        window = self.plan.opened.resume.window
        share = f" · {figures.share(opened.view_tokens, window.value)}" if window else ""
        return f"{name} {opened.view_tokens:,} tokens · {len(opened.view.items):,} items{share}"

    def on_mount(self) -> None:
        for name, opened in (("before", self.plan.opened), ("after", self.plan.after)):
            timeline = build(opened.view, opened.turns, ())
            window = opened.resume.window
            folded = {number for number, group in enumerate(timeline.groups) if group.kind == "fresh"}
            side = self.query_one(f"#{name}", TimelineList)
            side.show(
                timeline, _tokens(opened, timeline), opened.agent.profile, window.value if window else None, folded
            )
        self.query_one("#after").focus()

    @property
    def _here(self) -> TimelineList:
        focused = self.focused
        return focused if isinstance(focused, TimelineList) else self.query_one("#after", TimelineList)

    @property
    def _there(self) -> TimelineList:
        return self.query_one("#before" if self._here.id == "after" else "#after", TimelineList)

    @on(TimelineList.Moved)
    def _follow(self, moved: TimelineList.Moved) -> None:
        if moved.list is not self._here:
            return
        line, _ = self._here.selected
        item = self._here.timeline.lines[line].item if line is not None else None
        if item is None or not item.source:
            return
        other = self._there
        for index, shown in enumerate(other.timeline.lines):
            if shown.item.source == item.source and shown.item.kind == item.kind:
                other.select_line(index)
                return

    def action_other(self) -> None:
        self._there.focus()

    def action_fold(self) -> None:
        if self._here.timeline.groups:
            self._here.toggle(self._here.selected[1])

    def action_fold_all(self) -> None:
        fold = not self._here.folded
        for side in self.query(TimelineList):
            side.fold_all(fold)

    def action_turn(self, by: int) -> None:
        line, group = self._here.selected
        target = group if by < 0 and line is not None else group + by
        if 0 <= target < len(self._here.timeline.groups):
            self._here.select_group(target)

    def action_back(self) -> None:
        self.dismiss(None)


def _tokens(opened: Opened, timeline: Timeline) -> Tokens:
    tokens = Tokens.estimated(timeline)
    tokens.count(timeline, 0, counted(opened, timeline))
    return tokens
