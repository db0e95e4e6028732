"""The review of a proposal: what would happen to each item, the cut, the summary, the checks. Writes nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Vertical
from textual.widgets import Footer, Static
from textual.worker import get_current_worker

from core.budget import Mark
from core.commit import Receipt
from core.edits import remove_cut
from core.errors import EditRefused, SeamlineError
from core.opening import Opened
from core.planning import Plan, plan_session, revise
from core.policies.settings import Settings
from core.proposal import Proposal, What
from inspector.commands.planned import stamp
from inspector.committing import made_ready
from inspector.drafting import Draft, apply, apply_to_all, cut_before, step, summary_anew, with_text
from inspector.keymap import REVIEW, bindings
from inspector.measuring import counted
from inspector.screens.approve import ApproveScreen
from inspector.screens.browsing import BrowsingScreen
from inspector.screens.compare import CompareScreen
from inspector.screens.leave import LeaveScreen
from inspector.screens.receipt import ReceiptScreen
from inspector.screens.summary import SummaryScreen
from inspector.widgets.cells import visible
from inspector.widgets.detail_rows import Block
from inspector.widgets.review_list import ReviewList
from inspector.widgets.review_rows import KEY_WORDS
from inspector.widgets.staircase import Staircase
from inspector.widgets.staircase_rows import steps
from inspector.widgets.text_pane import TextPane
from inspector.widgets.timeline_rows import Tokens, build
from inspector.widgets.verdict_rows import check_blocks, check_line, cut_blocks, no_commit, verdict_blocks

POLICY = "handoff"


class ReviewScreen(BrowsingScreen[Path | None]):
    """Ends with the path of the session that a commit made, or with None where nothing was written."""

    CSS_PATH: ClassVar[list[str]] = ["browsing.tcss", "review.tcss"]
    AREA = "review"
    KEYS = REVIEW
    BINDINGS: ClassVar[list[BindingType]] = bindings(REVIEW)

    def __init__(self, opened: Opened, marks: Sequence[Mark]) -> None:
        super().__init__()
        self.opened = opened
        self.marks = marks
        self.settings = Settings()
        self.draft: Draft | None = None
        self.plan: Plan | None = None
        """The plan of the draft as it is now; None while it is worked out."""
        self._showing_checks = False
        self._committed = False

    def compose(self) -> ComposeResult:
        with Vertical(id="top"):
            yield Static("", id="what", markup=False)
            yield Staircase()
            yield Static("", id="checks", markup=False)
        with Container(id="panes"):
            yield ReviewList(id="list")
            yield TextPane(id="detail")
        yield Footer(show_command_palette=False)

    @property
    def list(self) -> ReviewList:
        return self.query_one("#list", ReviewList)

    def on_mount(self) -> None:
        opened = self.opened
        self.timeline = build(opened.view, opened.turns, ())
        self.tokens = Tokens.estimated(self.timeline)
        self.tokens.count(self.timeline, 0, counted(opened, self.timeline))
        folded = {number for number, group in enumerate(self.timeline.groups) if group.kind == "fresh"}
        self.list.show(self.timeline, self.tokens, opened.agent.profile, self.window, folded)
        self.list.focus()
        self.query_one("#what", Static).update(f"Review · policy {POLICY} · proposing …")
        self._propose()

    # the proposal and its plan

    @work(thread=True, exclusive=True, group="plan")
    def _propose(self) -> None:
        worker = get_current_worker()
        try:
            put_right = made_ready(self.opened.session.path)
            if put_right:
                self.hand_over(self._changed_below, put_right)
                return
            plan = plan_session(self.opened, POLICY, self.settings, stamp())
        except (SeamlineError, OSError) as error:
            if not worker.is_cancelled:
                self.hand_over(self._failed, str(error))
            return
        if not worker.is_cancelled:
            self.hand_over(self._proposed, plan)

    def _changed_below(self, said: Sequence[str]) -> None:
        """An interrupted commit was ended, so the file is another one now: open it again."""
        self.app.notify(visible("; ".join(said)), timeout=20, markup=False)
        self.dismiss(self.opened.session.path)

    def _failed(self, message: str) -> None:
        self.notify(visible(message), severity="error", timeout=20, markup=False)
        self.query_one("#what", Static).update(visible(message))

    def _proposed(self, plan: Plan) -> None:
        self.draft = Draft((plan.proposal,))
        self._planned(plan)
        self.list.fold_summarised()
        self.list.select_cut()

    def _take(self, draft: Draft) -> None:
        """Show another state of the draft, and work out its plan."""
        self.draft, self.plan = draft, None
        self._show()
        self._revise(draft)

    @work(thread=True, exclusive=True, group="plan")
    def _revise(self, draft: Draft) -> None:
        worker = get_current_worker()
        try:
            plan = revise(self.opened, draft.proposal, self.settings, stamp())
        except SeamlineError as error:
            if not worker.is_cancelled:
                self.hand_over(self._failed, str(error))
            return
        if not worker.is_cancelled:
            self.hand_over(self._planned, plan)

    def _planned(self, plan: Plan) -> None:
        assert self.draft is not None
        self.draft, self.plan = self.draft.settled(plan.proposal), plan
        self._show()

    def _show(self) -> None:
        assert self.draft is not None
        proposal, plan = self.draft.proposal, self.plan
        self.list.judge(self.opened, proposal, self.draft.states[0])
        self.query_one(Staircase).show(steps(self.opened, proposal, plan), self.marks)
        self.query_one("#what", Static).update(self._title(proposal, plan))
        style, words = check_line(plan)
        checks = self.query_one("#checks", Static)
        checks.update(visible(words))
        checks.set_class(style == "bad", "-bad")
        checks.set_class(style == "good", "-good")
        checks.set_class(style == "warn", "-warn")
        self.show_detail()

    def _title(self, proposal: Proposal, plan: Plan | None) -> str:
        number = self.draft.at if self.draft is not None else 0
        edits = f", {number} {'edit' if number == 1 else 'edits'}" if number else ""
        acts = ""
        if plan is not None and not plan.would_act and not proposal.edited:
            acts = " · the policy would not act yet" if plan.would_act is False else " · the window is unknown"
        return f"Review · policy {proposal.policy}{edits}{acts} · nothing is written before you approve"

    def blocks(self) -> list[Block]:
        if self.draft is None:
            return [Block("fact", "Proposing …")]
        proposal = self.draft.proposal
        if self._showing_checks:
            return [Block("title", "Checks"), *check_blocks(self.plan.checks if self.plan else ())]
        line, _ = self.list.selected
        if self.list.on_cut or not self.timeline.groups:
            return cut_blocks(proposal, self.plan)
        position = self.timeline.lines[line].position if line is not None else None
        if line is None:
            return [Block("key", f"keys, for the whole turn: {' · '.join(KEY_WORDS.values())}"), *super().blocks()]
        if position is None or self.raw:
            return super().blocks()
        verdict = self.list.verdicts.get(position)
        by_hand = position in self.list.kept
        return [*verdict_blocks(self.opened, position, verdict, by_hand), *super().blocks()]

    @property
    def shows_other(self) -> bool:
        return self.raw or self._showing_checks

    def show_own(self) -> None:
        self._showing_checks = False
        super().show_own()

    # edits

    def _refuse(self, reason: str) -> None:
        self.notify(visible(reason), title="Not possible", severity="warning", markup=False)

    def _attempt(self, make: Callable[[Proposal], Proposal]) -> bool:
        """Make one edit, or say why it is refused."""
        if self.draft is None:
            return False
        try:
            edited = make(self.draft.proposal)
        except EditRefused as reason:
            self._refuse(str(reason))
            return False
        self._take(self.draft.edited(edited))
        return True

    def action_set(self, what: What) -> None:
        line, group = self.list.selected
        if self.list.on_cut:
            self._refuse("the cut itself has no disposition: select a row above or below it")
        elif not self.timeline.groups:
            return
        elif line is None:
            self._set_turn(group, what)
        else:
            self._attempt(lambda proposal: apply(self.opened, proposal, self._position(line), what))

    def _position(self, line: int) -> int:
        position = self.timeline.lines[line].position
        if position is None:
            raise EditRefused("the model does not see this: there is nothing to decide")
        return position

    def _set_turn(self, group: int, what: What) -> None:
        this = self.timeline.groups[group]
        refused: list[str] = []

        def edit(proposal: Proposal) -> Proposal:
            positions = [self._position(line) for line in range(this.start, this.stop)]
            edited, reasons = apply_to_all(self.opened, proposal, positions, what)
            refused.extend(reasons)
            return edited

        if self._attempt(edit) and refused:
            self._refuse(f"for {len(refused)} of this turn's units: {refused[0]}")

    def action_cut(self, by: int) -> None:
        if self._attempt(lambda proposal: step(self.opened, proposal, by)):
            self.list.select_cut()

    def action_cut_here(self) -> None:
        line, group = self.list.selected
        if self.timeline.groups:
            here = self.timeline.groups[group].start if line is None else line
            self._attempt(lambda proposal: cut_before(self.opened, proposal, self._position(here)))

    def action_no_cut(self) -> None:
        self._attempt(lambda proposal: remove_cut(self.opened, proposal))

    def action_to_cut(self) -> None:
        if self.draft is not None and self.draft.proposal.cut is None:
            self._refuse("there is no cut: < and > set one")
        self.list.select_cut()

    def action_undo_edit(self) -> None:
        self._go(Draft.undone)

    def action_redo_edit(self) -> None:
        self._go(Draft.redone)

    def _go(self, where: Callable[[Draft], Draft]) -> None:
        if self.draft is None:
            return
        try:
            self._take(where(self.draft))
        except EditRefused as reason:
            self._refuse(str(reason))

    # the summary, before and after, the checks

    def action_summary(self) -> None:
        if self.plan is None:
            self._refuse("the proposal is still being worked out")
        elif self.plan.proposal.summary is None:
            self._refuse("nothing is summarised, so there is no summary to edit: set a cut first")
        else:
            self.app.push_screen(SummaryScreen(self.plan), self._summary_edited)

    def _summary_edited(self, text: str | None) -> None:
        if text is not None:
            self._attempt(lambda proposal: with_text(proposal, text))

    def action_rewrite(self) -> None:
        self._attempt(summary_anew)

    def action_compare(self) -> None:
        if self.plan is None:
            self._refuse("the after-view is still being read")
        elif self.plan.patch is None:
            self._refuse(f"there is no after-view to compare with: {no_commit(self.plan)}")
        else:
            self.app.push_screen(CompareScreen(self.plan))

    def action_checks(self) -> None:
        self._showing_checks = not self._showing_checks
        self.fill_detail()

    def action_approve(self) -> None:
        plan = self.plan
        if plan is None:
            self._refuse("the proposal is still being worked out")
        elif plan.patch is None:
            self._refuse(no_commit(plan))
        elif not plan.may_commit:
            failed = next(check for check in plan.checks if not check.ok)
            self._refuse(f"a check does not hold: {failed.id}: {failed.message}")
        else:
            self.app.push_screen(ApproveScreen(plan), self._approved)

    def _approved(self, receipt: Receipt | None) -> None:
        if receipt is not None:
            self._committed = True
            self.app.push_screen(ReceiptScreen(self.opened, receipt), self.dismiss)

    def action_back(self) -> None:
        if self.close_detail():
            return
        if self.edits:
            self.app.push_screen(LeaveScreen(self.edits), self._leave)
        else:
            self._leave(True)

    def _leave(self, leave: bool | None) -> None:
        if leave:
            self.workers.cancel_group(self, "plan")
            self.dismiss(None)

    @property
    def edits(self) -> int:
        """How many edits would be lost."""
        return self.draft.edits if self.draft is not None and not self._committed else 0
