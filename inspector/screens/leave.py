"""The question before edits are lost."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widgets import Button, Static

from inspector.keymap import LEAVE, bindings


class LeaveScreen(ModalScreen[bool]):
    """Ends with True where the person leaves and loses the edits."""

    CSS_PATH = "leave.tcss"
    AREA = "question"
    KEYS = LEAVE
    BINDINGS: ClassVar[list[BindingType]] = bindings(LEAVE)

    def __init__(self, edits: int) -> None:
        super().__init__()
        self.edits = edits

    def compose(self) -> ComposeResult:
        count = "1 edit" if self.edits == 1 else f"{self.edits} edits"
        with Vertical(id="box"):
            yield Static(f"Leave and lose {count}?", classes="title")
            yield Static("Nothing was written, and nothing will be.", classes="faint")
            with Horizontal(id="buttons"):
                yield Button("Stay (esc)", id="stay", action="screen.stay")
                yield Button("Leave (y)", id="leave", action="screen.leave")

    def on_mount(self) -> None:
        self.query_one("#leave").focus()

    def action_leave(self) -> None:
        self.dismiss(True)

    def action_stay(self) -> None:
        self.dismiss(False)
