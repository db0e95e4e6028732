"""From what a person names to an opened session: the edge where the machine is asked, for commands and screens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from core.agents import bundle, detect
from core.agents.protocol import Found, Progress
from core.errors import NotASession, SeamlineError
from core.files import Disk
from core.finding import sessions_in
from core.opening import Opened, open_session
from core.resume import Overrides
from inspector.installed import installed_version


class WrongUsage(SeamlineError):
    """What was asked for cannot be meant; the message says what can."""


class SeveralSessions(WrongUsage):
    """A folder was named that holds more than one session; `found` lists them."""

    def __init__(self, folder: Path, found: Sequence[Found]) -> None:
        super().__init__(f"{folder}: holds {len(found)} sessions, and nothing was done: name one of them")
        self.found = tuple(found)


def session_at(path: Path) -> Path:
    """The session file that `path` names: itself, or the only one in the folder.

    Raises WrongUsage where nothing is there, NotASession where a folder holds none, SeveralSessions.
    """
    if path.is_dir():
        whole = bundle(Disk(), path)
        if whole is not None:
            return whole
        found = sessions_in(path)
        if len(found) > 1:
            raise SeveralSessions(path, found)
        for only in found:
            return only.path
        raise NotASession(f"{path}: no session in this folder: give the path of a session file")
    if not path.exists():
        raise WrongUsage(f"{path}: no such file: give the path of a session file or its folder")
    if not path.is_file():
        raise WrongUsage(f"{path}: a pipe or a device, not a file: give the path of a session file")
    return path


def with_installed(path: Path, overrides: Overrides) -> Overrides:
    """The overrides, with the version of the client that is installed here where the person named none."""
    if overrides.client_version is not None or overrides.installed is not None:
        return overrides
    command = detect(Disk(), path).profile.command
    return replace(overrides, installed=installed_version(command)) if command else overrides


def open_path(
    path: Path, overrides: Overrides | None = None, leaf: str | None = None, progress: Progress | None = None
) -> Opened:
    """Open what `path` names, as the client installed here would. Raises SeamlineError, OSError."""
    session = session_at(path)
    return open_session(session, with_installed(session, overrides or Overrides()), leaf=leaf, progress=progress)
