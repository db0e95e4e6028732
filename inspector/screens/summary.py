"""The summary under a person's hand, with the checks beside it. Nothing is written."""

from __future__ import annotations

from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.timer import Timer
from textual.widgets import Footer, Static, TextArea
from textual.worker import get_current_worker

from core.errors import SeamlineError
from core.planning import Plan, revise
from inspector.commands.planned import stamp
from inspector.drafting import with_text
from inspector.keymap import SUMMARY, bindings
from inspector.screens.working import WorkingScreen
from inspector.text import printable
from inspector.widgets.detail_rows import Block
from inspector.widgets.text_pane import TextPane
from inspector.widgets.verdict_rows import check_blocks, summary_tokens

PAUSE = 0.5
"""Seconds without a key after which the checks are run again."""


class SummaryScreen(WorkingScreen[str | None]):
    """Ends with the text as it was left; None where it is as it was."""

    CSS_PATH = "summary.tcss"
    AREA = "summary"
    KEYS = SUMMARY
    BINDINGS: ClassVar[list[BindingType]] = bindings(SUMMARY)

    def __init__(self, plan: Plan) -> None:
        super().__init__()
        self.plan = plan
        summary = plan.proposal.summary
        self._before = printable(summary.text) if summary else ""
        self._timer: Timer | None = None

    def compose(self) -> ComposeResult:
        yield Static("", id="what", markup=False)
        with Container(id="panes"):
            yield TextArea(self._before, id="text", soft_wrap=True, show_line_numbers=False)
            yield TextPane(id="beside")
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        area = self.query_one(TextArea)
        area.cursor_blink = False
        area.focus()
        self._show(self.plan)

    @on(TextArea.Changed)
    def _changed(self) -> None:
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(PAUSE, self._check_soon)

    def _check_soon(self) -> None:
        self._check(self.query_one(TextArea).text)

    @work(thread=True, exclusive=True, group="check")
    def _check(self, text: str) -> None:
        worker = get_current_worker()
        try:
            proposal = with_text(self.plan.proposal, text)
            plan = revise(self.plan.opened, proposal, self.plan.settings, stamp())
        except SeamlineError as error:
            if not worker.is_cancelled:
                self.hand_over(self._fail, str(error))
            return
        if not worker.is_cancelled:
            self.hand_over(self._show, plan)

    def _show(self, plan: Plan) -> None:
        writer = plan.proposal.summary.writer if plan.proposal.summary else ""
        said = f"Summary, by: {writer} · {summary_tokens(plan):,} tokens"
        if plan.patch is not None:
            said += f" · view then {plan.after.view_tokens:,}, counted"
        self.query_one("#what", Static).update(said)
        failed = sum(1 for check in plan.checks if not check.ok)
        title = f"{failed} of {len(plan.checks)} checks fail" if failed else f"all {len(plan.checks)} checks hold"
        self.query_one(TextPane).show([Block("error" if failed else "title", title), *check_blocks(plan.checks)])

    def _fail(self, message: str) -> None:
        self.query_one(TextPane).show([Block("error", message)])

    def action_back(self) -> None:
        text = self.query_one(TextArea).text
        self.dismiss(None if text == self._before else text)
