"""The receipt of a commit, fresh or from the journal, and the way back."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.widgets import Footer, Static

from core.agents.protocol import Profile
from core.commit import Receipt
from core.commit.receipt import Sha256
from core.errors import SeamlineError
from core.opening import Opened
from inspector.committing import last_receipt, undone
from inspector.keymap import RECEIPT, bindings
from inspector.screens.working import WorkingScreen
from inspector.widgets.cells import visible
from inspector.widgets.detail_rows import Block
from inspector.widgets.review_rows import counted
from inspector.widgets.text_pane import TextPane


class ReceiptScreen(WorkingScreen[Path | None]):
    """Ends with the session as it is now; None where nothing has changed."""

    CSS_PATH = "receipt.tcss"
    AREA = "receipt"
    KEYS = RECEIPT
    BINDINGS: ClassVar[list[BindingType]] = bindings(RECEIPT)

    def __init__(self, opened: Opened, receipt: Receipt | None = None) -> None:
        """Without a receipt, the last commit on the session is looked up."""
        super().__init__()
        self.opened = opened
        self.receipt = receipt
        self._changed = receipt is not None
        self._undoing = False

    def compose(self) -> ComposeResult:
        with Vertical(id="box"):
            yield Static("", id="state", classes="title", markup=False)
            yield TextPane(id="facts")
            yield Static("", id="problem", markup=False)
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        self.query_one(TextPane).focus()
        if self.receipt is not None:
            self._show(self.receipt)
        else:
            self.query_one("#state", Static).update("Looking for the last commit …")
            self._look()

    @work(thread=True, exclusive=True, group="undo")
    def _look(self) -> None:
        try:
            receipt = last_receipt(self.opened.session.path)
        except (SeamlineError, OSError) as error:
            self.hand_over(self._fail, str(error))
        else:
            self.hand_over(self._show, receipt)

    def _show(self, receipt: Receipt) -> None:
        self.receipt = receipt
        self.query_one("#state", Static).update(headline(receipt, self._changed))
        self.query_one("#problem", Static).update("")
        self.query_one(TextPane).show(receipt_blocks(receipt, self.opened.agent.profile))
        self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """The undo is offered only where there is something to undo."""
        return self._may_undo if action == "undo" else True

    @property
    def _may_undo(self) -> bool:
        return self.receipt is not None and self.receipt.state == "done" and not self._undoing

    def _fail(self, message: str) -> None:
        if self.receipt is None:
            self.query_one("#state", Static).update("Nothing to undo")
        self.query_one("#problem", Static).update(visible(message))

    def action_undo(self) -> None:
        if self.receipt is not None and self._may_undo:
            self._undoing = True
            self.refresh_bindings()
            self._undo(self.receipt.result)

    @work(thread=True, exclusive=True, group="undo")
    def _undo(self, path: Path) -> None:
        try:
            receipt = undone(self.opened, path)
        except (SeamlineError, OSError) as error:
            self.hand_over(self._not_undone, str(error))
        else:
            self.hand_over(self._undone, receipt)

    def _undone(self, receipt: Receipt) -> None:
        self._changed, self._undoing = True, False
        self._show(receipt)

    def _not_undone(self, message: str) -> None:
        self._undoing = False
        self._fail(message)
        self.refresh_bindings()

    def action_done(self) -> None:
        if self.receipt is None or not self._changed:
            self.dismiss(None)
        else:
            self.dismiss(self.receipt.session if self.receipt.state == "undone" else self.receipt.result)


def headline(receipt: Receipt, fresh: bool) -> str:
    """What has happened, in one line; `fresh`: just now, on this screen."""
    if receipt.state == "undone":
        if receipt.kind == "fork":
            return "Undone: the new session is gone, the old one stays as it was"
        return "Undone: the session has its old bytes, mode and time of change again"
    if receipt.state != "done":
        return f"The last commit: {receipt.state}"
    return "Committed" if fresh else "The last commit on this session: U undoes it"


def receipt_blocks(receipt: Receipt, profile: Profile) -> list[Block]:
    """What was done, in figures, and how to go on or back."""
    if receipt.state == "undone":
        return _undone_blocks(receipt, profile)
    facts = receipt.facts
    before, after = facts.tokens_before or {}, facts.tokens_after or {}
    counts = ", ".join(counted(what, number) for what, number in facts.range.counts.items())
    rows = [
        ("id", receipt.id),
        ("view", f"{_figure(before)} → {_figure(after)}"),
        ("policy", facts.policy),
        ("decisions", counts or "none"),
        ("range", f"{facts.range.first or '–'} … {facts.range.last or '–'}"),
        ("summary", f"by: {facts.summary_writer}" if facts.summary_writer else "none"),
        ("written to", str(receipt.result)),
        ("bytes", f"{receipt.before.size:,} → {receipt.after.size:,}" if receipt.after else f"{receipt.before.size:,}"),
        ("sha256", f"{_sha(receipt.before.sha256)} → {_sha(receipt.after.sha256) if receipt.after else '–'}"),
    ]
    blocks = _rows(rows)
    if receipt.reason:
        blocks.append(Block("notice", receipt.reason))
    if receipt.state == "done":
        blocks += [Block("body", ""), *_going_on(profile)]
    return blocks


def _undone_blocks(receipt: Receipt, profile: Profile) -> list[Block]:
    """What stands there again, in figures."""
    after, before = receipt.after or receipt.before, receipt.before
    rows = [("commit", receipt.id), ("session", str(receipt.session))]
    if receipt.kind == "fork":
        rows.append(("removed", str(receipt.result)))
    else:
        rows += [
            ("view again", _figure(receipt.facts.tokens_before)),
            ("bytes", f"{after.size:,} → {before.size:,}"),
            ("sha256", f"{_sha(after.sha256)} → {_sha(before.sha256)}"),
        ]
    return [*_rows(rows), Block("body", ""), *_going_on(profile)]


def _going_on(profile: Profile) -> list[Block]:
    how = f": {profile.reopen}" if profile.reopen else ""
    return [
        Block("key", f"To go on: open this session anew in {profile.title}{how}"),
        Block("fact", f"A {profile.title} that still has it open keeps its old history in memory: close it first."),
    ]


def _rows(rows: Sequence[tuple[str, str]]) -> list[Block]:
    return [Block("body", f"{name:<12}{value}") for name, value in rows]


def _figure(figure: object) -> str:
    if not isinstance(figure, dict) or "value" not in figure:
        return "unknown"
    return f"{figure['value']:,} tokens {figure.get('kind', '')}"


def _sha(sha: Sha256) -> str:
    return sha.value[:16] + ("…" if sha.scope == "whole" else "… (tail)")
