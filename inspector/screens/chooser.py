"""Which session to open: those in a folder, or those found on this machine."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.widgets import Footer, Static
from textual.worker import get_current_worker

from core.agents import AGENTS, agent_named
from core.agents.protocol import Found
from core.errors import SeamlineError
from core.files import Disk
from core.finding import sessions_in
from inspector.keymap import CHOOSER, bindings
from inspector.messages import OpenSession
from inspector.screens.working import WorkingScreen
from inspector.widgets.cells import first_line, visible
from inspector.widgets.session_list import Listed, SessionList

READ_UP_TO = 32 << 20
"""Bytes. Titles and messages of larger sessions are read only when they are opened."""

SAMPLES = Path(__file__).resolve().parents[2] / "sample_sessions"


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
        self._samples = False

    def compose(self) -> ComposeResult:
        with Vertical(id="top"):
            yield Static("Sessions", classes="title")
            yield Static("Looking …", id="where", markup=False, classes="faint")
        yield SessionList(id="list")
        yield Footer(show_command_palette=False)

    @property
    def list(self) -> SessionList:
        return self.query_one(SessionList)

    def on_mount(self) -> None:
        self.list.focus()
        self.action_reload()

    def action_reload(self) -> None:
        self._look()

    @work(thread=True, exclusive=True, group="look")
    def _look(self) -> None:
        worker = get_current_worker()
        samples = False
        if self.folder is not None:
            found, where = list(sessions_in(self.folder)), f"in {self.folder}"
        else:
            found = sorted(_on_this_machine(), key=lambda session: -session.modified)
            where = "on this machine: " + _looked_at()
            if not found and SAMPLES.is_dir():
                found = list(sessions_in(SAMPLES))
                samples = bool(found)
        self.hand_over(self._show, [Listed(one) for one in found], where, samples)
        for number, one in enumerate(found):
            if worker.is_cancelled:
                return
            self.hand_over(self._read, number, read(one))

    def _show(self, sessions: list[Listed], where: str, samples: bool) -> None:
        self._samples = samples
        count = len(sessions)
        if samples:
            words = f"No session found {where}. Here are the samples; a copy is opened, so try anything."
        elif sessions:
            words = f"{count:,} {'session' if count == 1 else 'sessions'} {where}"
        else:
            words = f"No session found {where}. Give a path: seamline PATH"
        self.query_one("#where", Static).update(visible(words))
        self.list.show(sessions, self._clock())
        if count == 1 and self.folder is not None:
            self.action_open()

    def _read(self, number: int, listed: Listed) -> None:
        if number < len(self.list.sessions) and self.list.sessions[number].found == listed.found:
            self.list.sessions[number] = listed
            self.list.refresh()

    @on(SessionList.Chosen)
    def action_open(self) -> None:
        if not self.list.sessions:
            return
        found = self.list.sessions[self.list.cursor].found
        self.post_message(OpenSession(_copied(found) if self._samples else found.path))


def _on_this_machine() -> list[Found]:
    return [found for name in AGENTS for found in agent_named(name).find()]


def _looked_at() -> str:
    return ", ".join(str(folder) for name in AGENTS for folder in agent_named(name).folders())


def _copied(sample: Found) -> Path:
    """A copy of a sample session, with its folder where it has its own: what is tried on it changes no sample."""
    folder = Path(tempfile.mkdtemp(prefix="seamline-"))
    if agent_named(sample.agent).profile.own_folder:
        own = shutil.copytree(sample.path.parent, folder / sample.path.parent.name)
        return Path(own, sample.path.name)
    return Path(shutil.copy2(sample.path, folder))


def read(found: Found) -> Listed:
    """The title and the number of messages of a session, if it is small enough to be read for a list."""
    listed = Listed(found)
    if found.size > READ_UP_TO:
        return replace(listed, title=first_line(found.cwd))
    try:
        session = agent_named(found.agent).open(Disk(), found.path)
    except (SeamlineError, OSError) as error:
        return replace(listed, problem=first_line(str(error)))
    messages = sum(1 for entry in session.entries if entry.role)
    title = first_line(session.title) or first_line(session.cwd)
    return replace(listed, title=title, messages=messages)
