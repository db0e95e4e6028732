"""The session files on this machine or in a folder: found by name, told by content, each file once."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from core.agents import AGENTS, agent_named, detect
from core.agents.protocol import Found
from core.errors import NotASession
from core.files import Disk

MOST_FILES = 5_000
"""Files that are looked at in one folder that a person names to open; a larger one is not searched to its end."""

LEFT_OUT = frozenset({"node_modules", ".git", ".venv", "__pycache__"})
"""Folders in which no session is looked for."""


@dataclass(frozen=True, slots=True)
class Root:
    """A folder to look in, and what session files are called there."""

    folder: Path
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """A file that by its name may hold a session, in the state in which it was found."""

    path: Path
    size: int
    """Bytes."""
    changed: int
    """Nanoseconds since 1970."""
    inode: int
    claimed: bool
    """Whether its name alone promises a session: such a file that is none is worth a word."""


def agents_roots() -> tuple[Root, ...]:
    """The agents' own folders on this machine, whether or not they exist."""
    agents = [agent_named(name) for name in AGENTS]
    return tuple(Root(folder, agent.profile.session_names) for agent in agents for folder in agent.folders())


def root_of(folder: Path) -> Root:
    """A folder that may hold sessions of any agent, or agents' own folders."""
    names = (name for agent in AGENTS for name in agent_named(agent).profile.session_names)
    return Root(folder, tuple(dict.fromkeys(names)))


def places(roots: Iterable[Root]) -> Iterator[Place]:
    """The files that may be sessions, each once however many names lead to it; what can't be read is passed over."""
    whole = tuple(
        name for agent in AGENTS if (own := agent_named(agent).profile).own_folder for name in own.session_names
    )
    seen: set[tuple[int, int]] = set()
    for root in roots:
        for parent, folders, files in os.walk(root.folder):
            folders[:] = sorted(name for name in folders if name not in LEFT_OUT)
            only = next((name for name in whole if name in files), None)
            for name in sorted(files) if only is None else (only,):
                found = _place(parent, name, root.names)
                if found is not None and found[1] not in seen:
                    seen.add(found[1])
                    yield found[0]


def _place(parent: str, name: str, names: tuple[str, ...]) -> tuple[Place, tuple[int, int]] | None:
    if not any(fnmatchcase(name, pattern) for pattern in names):
        return None
    path = Path(parent, name)
    try:
        status = path.stat()
    except OSError:
        return None
    if status.st_mode & 0o170000 != 0o100000:
        return None
    place = Place(path, status.st_size, status.st_mtime_ns, status.st_ino, not name.endswith(".json"))
    return place, (status.st_dev, status.st_ino)


def sessions_in(folder: Path) -> tuple[Found, ...]:
    """Every session in `folder` and below it, last changed first; hidden folders are left out.

    The folder that a session ran in (`cwd`) stands inside the file and is not read here.
    """
    disk = Disk()
    found: list[Found] = []
    for path in _files(folder):
        try:
            agent = detect(disk, path)
            status = path.stat()
        except (NotASession, OSError):
            continue
        found.append(Found(path=path, agent=agent.name, cwd="", modified=status.st_mtime, size=status.st_size))
    return tuple(sorted(found, key=lambda session: (-session.modified, session.path)))


def _files(folder: Path) -> Iterator[Path]:
    left = MOST_FILES
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(parent, name)
            if name.startswith(".") or not path.is_file():
                continue
            left -= 1
            if left < 0:
                return
            yield path
