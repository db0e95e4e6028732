"""The last question before anything is written: exactly what, and where."""

from __future__ import annotations

from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widgets import Button, Static

from core.commit import Receipt
from core.commit.liveness import Liveness
from core.errors import SeamlineError, Stale
from core.patch import Append, Change, Kept, Piece, Replace, size_of
from core.planning import Plan
from core.rebasing import news
from inspector.committing import committed, liveness_of, regrown
from inspector.screens.working import WorkingScreen
from inspector.widgets import figures
from inspector.widgets.cells import visible
from inspector.widgets.detail_rows import Block
from inspector.widgets.text_pane import TextPane
from inspector.widgets.verdict_rows import warnings_of

RECORD_SHOWN = 400
"""Characters of each record that are shown; its size stands before it."""


class ApproveScreen(ModalScreen[Receipt | None], WorkingScreen[Receipt | None]):
    """Ends with the receipt, or with None where nothing was written."""

    CSS_PATH = "approve.tcss"
    AREA = "approval"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "write", "Write"),
        Binding("escape,n", "cancel", "Cancel", key_display="esc"),
    ]

    def __init__(self, plan: Plan) -> None:
        super().__init__()
        self.plan = plan
        self._liveness: Liveness | None = None
        self._writing = False
        self._warnings = warnings_of(plan.checks)

    def compose(self) -> ComposeResult:
        with Vertical(id="box"):
            yield Static("Write this?", classes="title")
            yield Static(visible("\n".join(f"! {said}" for said in self._warnings)), id="warnings", markup=False)
            yield TextPane(id="exactly")
            yield Static("Looking whether an agent has the session open …", id="agent", markup=False)
            with Horizontal(id="buttons"):
                yield Button("Cancel (esc)", id="cancel")
                yield Button("Write (y)", id="write", disabled=True)

    def on_mount(self) -> None:
        self.query_one(TextPane).show(exactly(self.plan))
        self.query_one("#warnings").display = bool(self._warnings)
        self.query_one("#cancel").focus()
        self._look()

    @work(thread=True, exclusive=True, group="commit")
    def _look(self) -> None:
        try:
            liveness = liveness_of(self.plan.opened)
        except (SeamlineError, OSError) as error:
            liveness = Liveness("running", str(error))
        self.hand_over(self._looked, liveness)

    def _looked(self, liveness: Liveness) -> None:
        self._liveness = liveness
        words = {
            "quiet": "No agent is known to have the session open.",
            "recent": f"{liveness.words}. Write only if it is closed.",
            "running": liveness.words,
        }
        agent = self.query_one("#agent", Static)
        agent.update(visible(words[liveness.state]))
        agent.set_class(liveness.state != "quiet", "-bad")
        write = self.query_one("#write", Button)
        all_the_same = "Write all the same (y)" if self._warnings else "Write (y)"
        write.label = "The agent is closed: write (y)" if liveness.state == "recent" else all_the_same
        write.disabled = liveness.state == "running"

    @on(Button.Pressed, "#write")
    def action_write(self) -> None:
        if self._liveness is None or self._liveness.state == "running" or self._writing:
            return
        self._writing = True
        self.query_one("#write", Button).disabled = True
        self.query_one("#agent", Static).update("Writing, and reading back …")
        self._write(self._liveness.state == "recent")

    @work(thread=True, exclusive=True, group="commit")
    def _write(self, agent_stopped: bool) -> None:
        try:
            receipt = committed(self.plan, agent_stopped)
        except Stale as stale:
            self._rebase(stale)
        except (SeamlineError, OSError) as error:
            self.hand_over(self._failed, str(error))
        else:
            self.hand_over(self.dismiss, receipt)

    def _rebase(self, stale: Stale) -> None:
        """The session is another one by now: where it only grew, the new view is shown, to be approved anew."""
        try:
            again = regrown(self.plan)
        except (SeamlineError, OSError) as error:
            self.hand_over(self._failed, str(error) if isinstance(error, Stale) else f"{stale} ({error})")
        else:
            self.hand_over(self._grown, again)

    def _grown(self, again: Plan) -> None:
        added = news(self.plan.opened, again.opened)
        self.plan = again
        self._writing = False
        self._warnings = warnings_of(again.checks)
        said = f"the session has grown by {len(added):,} items since: look at what would be written now, then write it"
        warnings = self.query_one("#warnings", Static)
        warnings.update(visible("\n".join(f"! {one}" for one in (said, *self._warnings))))
        warnings.display = True
        blocks = [Block("key", "new since, and kept")]
        blocks += [Block("body", f"{item.role} {item.kind}: {item.text[:RECORD_SHOWN]}") for item in added]
        self.query_one(TextPane).show([*exactly(again), Block("body", ""), *blocks])
        self._look()

    def _failed(self, message: str) -> None:
        self._writing = False
        agent = self.query_one("#agent", Static)
        agent.update(visible(f"Nothing was written: {message}"))
        agent.add_class("-bad")

    @on(Button.Pressed, "#cancel")
    def action_cancel(self) -> None:
        # A write that has begun ends in a receipt or in a refusal; both take a moment only.
        if not self._writing:
            self.dismiss(None)


def exactly(plan: Plan) -> list[Block]:
    """Every byte that would be written: where, how many, and each record with its size."""
    assert plan.patch is not None
    opened, after = plan.opened, plan.after
    blocks = [
        Block("body", f"view {opened.view_tokens:,} → {after.view_tokens:,} tokens, counted"),
        Block("body", f"items {len(opened.view.items):,} → {len(after.view.items):,}"),
    ]
    if plan.commits_as == "fork":
        blocks.append(Block("notice", f"as a new session, the old one stays as it is: {plan.why}"))
    for change in plan.patch.changes:
        blocks += [Block("body", ""), Block("key", _where(change))]
        blocks += _new_bytes((change.data,)) if isinstance(change, Append) else _new_bytes(change.pieces)
    return blocks


def _where(change: Change) -> str:
    if isinstance(change, Append):
        return f"append {change.size:,} bytes at the end of {change.path} ({change.at:,} bytes now)"
    if isinstance(change, Replace):
        return f"replace {change.path} ({change.size_before:,} bytes now) by {change.size:,} bytes"
    return f"create {change.path} with {change.size:,} bytes"


def _new_bytes(pieces: tuple[Piece, ...]) -> list[Block]:
    """Each new record with its size; what is taken over from the old file is named by its size only."""
    kept = sum(size_of(piece) for piece in pieces if isinstance(piece, Kept))
    records = [line for piece in pieces if isinstance(piece, bytes) for line in piece.split(b"\n") if line.strip()]
    count = f"{len(records):,} {'record' if len(records) == 1 else 'records'}"
    blocks = [Block("fact", f"{count}, {kept:,} bytes stay as they are" if kept else count)]
    for number, record in enumerate(records, 1):
        text = record[: RECORD_SHOWN * 4].decode("utf-8", "replace")[:RECORD_SHOWN]
        more = " …" if len(record) > len(text.encode("utf-8", "replace")) else ""
        blocks.append(Block("fact", f"{number:>3}  {figures.size(len(record))}"))
        blocks.append(Block("body", f"{text}{more}"))
    return blocks
