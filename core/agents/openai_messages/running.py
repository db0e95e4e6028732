"""Which process on this machine has a file of messages open to write."""

from __future__ import annotations

import os
from pathlib import Path

PROCESSES = Path("/proc")

WRITES = os.O_WRONLY | os.O_RDWR


def known_running(path: Path, processes: Path = PROCESSES) -> str | None:
    """Words for a process that has the file open to write; None where none is known. Never raises.

    There is no client whose processes could be told by name; whoever reads the file only is no danger to a commit.
    """
    try:
        resolved = path.resolve()
        for folder in processes.iterdir():
            if folder.name.isdigit() and int(folder.name) != os.getpid() and _writes(folder, resolved):
                name = _name(folder)
                return f"{name} (process {folder.name}) has this file open to write"
    except OSError:
        return None
    return None


def _writes(folder: Path, path: Path) -> bool:
    try:
        for descriptor in (folder / "fd").iterdir():
            if descriptor.readlink() == path and _flags(folder / "fdinfo" / descriptor.name) & WRITES:
                return True
    except OSError:
        return False
    return False


def _flags(information: Path) -> int:
    for line in information.read_text().splitlines():
        name, _, value = line.partition(":")
        if name == "flags":
            return int(value, 8)
    return 0


def _name(folder: Path) -> str:
    try:
        return (folder / "comm").read_text(errors="replace").strip() or "a process"
    except OSError:
        return "a process"
