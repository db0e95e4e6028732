"""The sessions in a folder, found by their content."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from core.agents import detect
from core.agents.protocol import Found
from core.errors import NotASession
from core.files import Disk

MOST_FILES = 5_000
"""Files that are looked at in one folder; a larger one is not searched to its end."""


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
