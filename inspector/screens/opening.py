"""While a session is read: what, how far, and a way out."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Footer, ProgressBar, Static
from textual.worker import Worker, WorkerState, get_current_worker

from core.errors import SeamlineError
from core.opening import Opened
from core.resume import Overrides
from inspector.opening import open_path
from inspector.screens.working import WorkingScreen
from inspector.widgets.cells import visible


class Cancelled(Exception):
    """The person did not want to wait."""


class OpeningScreen(WorkingScreen[Opened | None]):
    """Reads a session in a thread; ends with it, or with None where it was cancelled or could not be read."""

    CSS_PATH = "opening.tcss"
    AREA = "opening"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "cancel", "Cancel")]

    def __init__(self, path: Path, overrides: Overrides, leaf: str | None = None) -> None:
        super().__init__()
        self.leaf = leaf
        self.path = path
        self.overrides = overrides

    def compose(self) -> ComposeResult:
        with Vertical(id="box"):
            yield Static("Reading the session", classes="title")
            yield Static(visible(str(self.path)), markup=False, classes="faint")
            yield ProgressBar(show_eta=False, id="progress")
            yield Static("", id="problem", markup=False)
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        self._read()

    @work(thread=True, exclusive=True, group="open")
    def _read(self) -> Opened | str | None:
        """The session, or why it could not be read; None where it was cancelled."""
        worker = get_current_worker()

        def progress(done: int, total: int) -> None:
            if worker.is_cancelled:
                raise Cancelled
            self.hand_over(self._progress, done, total)

        try:
            return open_path(self.path, self.overrides, self.leaf, progress)
        except Cancelled:
            return None
        except (SeamlineError, OSError) as error:
            return str(error)

    @on(Worker.StateChanged)
    def _ended(self, event: Worker.StateChanged) -> None:
        if event.state != WorkerState.SUCCESS:
            return
        result = event.worker.result
        if isinstance(result, Opened):
            self.dismiss(result)
        elif isinstance(result, str):
            self.query_one(ProgressBar).display = False
            self.query_one("#problem", Static).update(visible(result))

    def _progress(self, done: int, total: int) -> None:
        self.query_one(ProgressBar).update(progress=done, total=total)

    def action_cancel(self) -> None:
        self.workers.cancel_group(self, "open")
        self.dismiss(None)
