"""The receipt of a commit, fresh or from the journal, and the way back."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.widgets import Footer, Static

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

STATES = {
    "done": "Committed",
    "undone": "Undone: the session has its old bytes, mode and time of change again",
}


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
        state = STATES.get(receipt.state, receipt.state)
        self.query_one("#state", Static).update(state if self._changed else f"The last commit: {state.lower()}")
        self.query_one("#problem", Static).update("")
        self.query_one(TextPane).show(receipt_blocks(receipt, self.opened.agent.profile.title))

    def _fail(self, message: str) -> None:
        if self.receipt is None:
            self.query_one("#state", Static).update("Nothing to undo")
        self.query_one("#problem", Static).update(visible(message))

    def action_undo(self) -> None:
        if self.receipt is not None and self.receipt.state == "done":
            self._undo(self.receipt.result)

    @work(thread=True, exclusive=True, group="undo")
    def _undo(self, path: Path) -> None:
        try:
            receipt = undone(self.opened, path)
        except (SeamlineError, OSError) as error:
            self.hand_over(self._fail, str(error))
        else:
            self.hand_over(self._undone, receipt)

    def _undone(self, receipt: Receipt) -> None:
        self._changed = True
        self._show(receipt)

    def action_done(self) -> None:
        if self.receipt is None or not self._changed:
            self.dismiss(None)
        else:
            self.dismiss(self.receipt.session if self.receipt.state == "undone" else self.receipt.result)


def receipt_blocks(receipt: Receipt, agent: str) -> list[Block]:
    """What was done, in figures, and how to go on or back."""
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
    blocks = [Block("body", f"{name:<12}{value}") for name, value in rows]
    if receipt.reason:
        blocks.append(Block("notice", receipt.reason))
    if receipt.state == "done":
        blocks += [
            Block("body", ""),
            Block("key", f"To go on: open this session anew in {agent}, as with /resume."),
            Block("fact", f"A {agent} that still has it open keeps its old history in memory: close it first."),
        ]
    return blocks


def _figure(figure: object) -> str:
    if not isinstance(figure, dict) or "value" not in figure:
        return "unknown"
    return f"{figure['value']:,} tokens {figure.get('kind', '')}"


def _sha(sha: Sha256) -> str:
    return sha.value[:16] + ("…" if sha.scope == "whole" else "… (tail)")
