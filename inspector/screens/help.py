"""All keys of a screen, from the same table as its bindings, and what the signs on the timeline mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.table import Table
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen, Screen
from textual.widgets import Static

from inspector.keymap import APP, LIST, Key
from inspector.widgets.timeline_rows import ICONS

SIGNS = {
    "result": "result of a call",
    "error": "result that is marked as an error",
    "summary": "summary of an earlier compaction",
    "branch": "summary of a branch that was left",
    "shell": "command that the user ran",
    "custom": "made by an extension of the agent",
}
"""Words for kinds whose name alone says too little."""

FIGURES = (
    ("counted", "with the o200k tokenizer, the same for every agent"),
    ("reported", "by the provider, with what its request held beside the view"),
    ("estimated ~", "bytes / 4, until counted"),
)


class HelpScreen(ModalScreen[None]):
    """Any of its keys closes it again."""

    CSS_PATH = "help.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,question_mark,q,enter", "close", "Close", key_display="esc")
    ]

    def __init__(self, over: Screen[object]) -> None:
        super().__init__()
        self._keys: tuple[Key, ...] = getattr(over, "KEYS", ())
        self._area: str = getattr(over, "AREA", "this screen")

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="help"):
            yield Static(f"Keys of the {self._area}", classes="title")
            yield Static(_table([(key.display, _words(key)) for key in self._keys]))
            yield Static("Everywhere", classes="title gap")
            yield Static(_table([(key.display, _words(key)) for key in (*LIST, *APP)]))
            yield Static("Signs", classes="title gap")
            yield Static(_table([(icon, SIGNS.get(kind, kind)) for kind, icon in ICONS.items()]))
            yield Static("Figures", classes="title gap")
            yield Static(_table(FIGURES))

    def action_close(self) -> None:
        self.dismiss(None)


def _words(key: Key) -> str:
    return key.words + (f". {key.help}" if key.help else "")


def _table(rows: Sequence[tuple[str, str]]) -> Table:
    """Two columns, the right one wrapped in itself."""
    table = Table.grid(padding=(0, 2))
    table.add_column(width=14, no_wrap=True)
    table.add_column()
    for left, right in rows:
        table.add_row(Text(left), Text(right))
    return table
