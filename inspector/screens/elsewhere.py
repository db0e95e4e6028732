"""Where else one can go from a session: its other leaves, its sub-agents and forks."""

from __future__ import annotations

from typing import ClassVar

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from core.errors import SeamlineError
from core.opening import Opened
from inspector.elsewhere import Place, places
from inspector.keymap import ELSEWHERE, bindings
from inspector.screens.working import WorkingScreen
from inspector.widgets.cells import visible


class ElsewhereScreen(ModalScreen[Place | None], WorkingScreen[Place | None]):
    """Ends with the place that was chosen; with None where nothing was."""

    CSS_PATH = "elsewhere.tcss"
    AREA = "leaves and children"
    KEYS = ELSEWHERE
    BINDINGS: ClassVar[list[BindingType]] = bindings(ELSEWHERE)

    def __init__(self, opened: Opened, leaf: str | None) -> None:
        super().__init__()
        self.opened = opened
        self.leaf = leaf
        self.places: tuple[Place, ...] | None = None
        """None until they are found."""

    def compose(self) -> ComposeResult:
        with Vertical(id="box"):
            yield Static("Other leaves, sub-agents and forks", classes="title")
            yield Static("Looking …", id="said", markup=False, classes="faint")
            yield OptionList(id="places", markup=False)

    def on_mount(self) -> None:
        self.query_one(OptionList).focus()
        self._look()

    @work(thread=True, exclusive=True, group="look")
    def _look(self) -> None:
        try:
            found, problem = places(self.opened, self.leaf), ""
        except (SeamlineError, OSError) as error:
            found, problem = (), str(error)
        self.hand_over(self._show, found, problem)

    def _show(self, found: tuple[Place, ...], problem: str) -> None:
        self.places = found
        words = "enter opens one; esc goes back" if found else "This session has none."
        self.query_one("#said", Static).update(visible(problem or words))
        self.query_one(OptionList).add_options([Option(Text(visible(place.words))) for place in found])
        self.query_one(OptionList).highlighted = 0 if found else None

    @on(OptionList.OptionSelected)
    def _selected(self, chosen: OptionList.OptionSelected) -> None:
        if self.places:
            self.dismiss(self.places[chosen.option_index])

    def action_choose(self) -> None:
        self.query_one(OptionList).action_select()

    def action_back(self) -> None:
        self.dismiss(None)
