"""Which session to open: those in a folder, or those found on this machine."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Footer, Input, Static
from textual.worker import get_current_worker

from core.surveying import Row, is_session, skipped
from inspector.keymap import CHOOSER, bindings
from inspector.listing import SAMPLES, Listing, copied, only_session, running_among
from inspector.messages import OpenSession
from inspector.screens.working import WorkingScreen
from inspector.sessions_text import found_words, none_found_words
from inspector.widgets.cells import visible
from inspector.widgets.session_facts import SessionFacts
from inspector.widgets.session_list import SessionList
from inspector.widgets.session_rows import ORDERS


class FilterField(Input):
    """Where the words of the filter are typed; the keys that move through the list go on to it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(key, f"screen.in_list('{key}')", show=False) for key in ("up", "down", "pageup", "pagedown")),
        Binding("enter", "submit", "Open"),
        Binding("escape", "screen.clear", "Show all", key_display="esc"),
    ]


class ChooserScreen(WorkingScreen[None]):
    """The sessions in `folder`; without one, those of this machine; without any, the samples."""

    CSS_PATH = "chooser.tcss"
    AREA = "sessions"
    KEYS = CHOOSER
    BINDINGS: ClassVar[list[BindingType]] = bindings(CHOOSER)

    def __init__(self, folder: Path | None, clock: Callable[[], float] = time.time) -> None:
        super().__init__()
        self._clock = clock
        self.folder = folder
        self.read = False
        """Whether all is known of every session."""
        self._samples = False
        self._looked = False
        """Whether this is not the first look, after which the only session of a folder is opened."""

    def compose(self) -> ComposeResult:
        with Vertical(id="top"):
            yield Static("Sessions", classes="title")
            yield Static("Looking …", id="where", markup=False, classes="faint")
            yield FilterField(
                placeholder="/ to filter by agent, project, title or path",
                compact=True,
                id="filter",
                select_on_focus=False,
            )
        yield SessionList(id="list")
        yield SessionFacts(id="facts")
        yield Footer(show_command_palette=False)

    @property
    def list(self) -> SessionList:
        return self.query_one(SessionList)

    @property
    def filter(self) -> FilterField:
        return self.query_one(FilterField)

    @property
    def where(self) -> str:
        return "on this machine" if self.folder is None else f"in {self.folder}"

    def on_mount(self) -> None:
        self.list.focus()

    def on_screen_resume(self) -> None:
        """Also after another screen: what was done there may have changed the session."""
        self.action_reload()

    def action_reload(self) -> None:
        self._look()

    @work(thread=True, exclusive=True, group="look")
    def _look(self) -> None:
        """Find the files, then look inside those that nothing is known of; the samples where none is a session."""
        listing = Listing(() if self.folder is None else (self.folder,))
        rows = listing.look()
        only = None if self.folder is None or self._looked else only_session(self.folder, rows)
        self._looked = True
        if only is not None:
            self.hand_over(self.post_message, OpenSession(only))
        if not self._fill(listing, rows) or any(map(is_session, rows)):
            return
        samples = Listing((SAMPLES,)) if self.folder is None and SAMPLES.is_dir() else None
        found = samples.look() if samples is not None else []
        words = none_found_words(self.where, listing.looked_at(), bool(found))
        if samples is not None:
            self._fill(samples, found, words)
        else:
            self.hand_over(self._show, found, words, False)

    def _fill(self, listing: Listing, rows: list[Row], words: str = "") -> bool:
        """Show the rows at once and what is found out of them as it comes; False where that was stopped.

        `words`: what stands above them, which says that they are the samples.
        """
        worker = get_current_worker()
        self.hand_over(self._show, list(rows), words or self._words(rows), bool(words))
        self.hand_over(self._tell_running, running_among(rows))
        known = sum(row.survey is not None for row in rows)
        for batch in listing.read_in_batches(rows, lambda: worker.is_cancelled):
            for number, row in batch:
                rows[number] = row
            self.hand_over(self._tell, batch, words or self._words(rows))
        if worker.is_cancelled:
            return False
        if known < len(rows):
            self.hand_over(self._tell_running, running_among(rows))
        self.hand_over(self._ended)
        return True

    def _words(self, rows: list[Row]) -> str:
        left = sum(row.survey is None for row in rows)
        return found_words(sum(map(is_session, rows)), self.where, len(skipped(rows)), left)

    def _show(self, rows: list[Row], words: str, samples: bool) -> None:
        self._samples, self.read = samples, False
        self.query_one("#where", Static).update(visible(words))
        self.list.show(rows, self._clock())

    def _tell(self, batch: list[tuple[int, Row]], words: str) -> None:
        self.query_one("#where", Static).update(visible(words))
        self.list.tell(batch)

    def _tell_running(self, running: dict[Path, str]) -> None:
        self.list.tell_running(running)

    def _ended(self) -> None:
        self.read = True

    @on(SessionList.Moved)
    def _moved(self) -> None:
        row = self.list.selected
        running = "" if row is None else self.list.running.get(row.place.path, "")
        self.query_one(SessionFacts).show(row, running)

    @on(SessionList.Chosen)
    @on(Input.Submitted)
    def action_open(self) -> None:
        row = self.list.selected
        if row is not None:
            path = row.place.path
            self.post_message(OpenSession(copied(path) if self._samples else path))

    @on(Input.Changed)
    def _filter(self, changed: Input.Changed) -> None:
        self.list.rearrange(words=changed.value)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return action != "filter" or not self.filter.has_focus

    def action_filter(self) -> None:
        self.filter.focus()

    def action_clear(self) -> None:
        """Go back to the list, and show all again."""
        self.filter.value = ""
        self.list.focus()

    def action_in_list(self, key: str) -> None:
        """Move in the list while the filter has the focus."""
        by = -1 if key in ("up", "pageup") else 1
        if key in ("up", "down"):
            self.list.action_move(by)
        else:
            self.list.action_page(by)

    def action_sort(self) -> None:
        order = ORDERS[(ORDERS.index(self.list.order) + 1) % len(ORDERS)]
        self.list.rearrange(order=order)
