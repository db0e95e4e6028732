"""Whether a Codex that runs on this machine has a session open.

Since 0.171.0 a running Codex holds an exclusive lock on a file named after the thread; older versions hold none.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from core.agents.codex.finding import home
from core.agents.codex.lineage import FOLDERS, first_payload
from core.files import Disk
from core.session import Session

LOCKS = "thread-writer-locks"

PROCESSES = Path("/proc")


def known_running(path: Path, processes: Path = PROCESSES) -> str | None:
    """Words for the Codex that is known to have this session open; None where none is known. Never raises."""
    try:
        thread = first_payload(Disk(), path).get("id")
        if isinstance(thread, str):
            for root in _homes(path):
                lock = root / LOCKS / f"{Path(thread).name}.lock"
                if _is_held(lock):
                    return f"Codex has this thread open (it holds {lock})"
    except OSError:
        pass
    return _holder(path, processes)


def lock_of(session: Session) -> tuple[Path, ...]:
    """The lock that a running Codex holds on a thread, to be taken while it is written; none outside of a home."""
    root = next((parent.parent for parent in session.path.absolute().parents if parent.name in FOLDERS), None)
    return () if root is None else (root / LOCKS / f"{Path(session.identity).name}.lock",)


def _homes(path: Path) -> tuple[Path, ...]:
    """The home that a session lies in, and the one of this machine."""
    around = next((parent.parent for parent in path.resolve().parents if parent.name in FOLDERS), None)
    return (home(),) if around is None else (around, home())


def _is_held(lock: Path) -> bool:
    """Whether another process holds a lock; asked for a moment only, and shared, so that nothing is disturbed."""
    try:
        descriptor = os.open(lock, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        fcntl.flock(descriptor, fcntl.LOCK_UN)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return False


def _holder(path: Path, processes: Path) -> str | None:
    """A process named codex that holds the file open: older versions keep it so."""
    try:
        target = path.resolve()
        numbers = [folder for folder in processes.iterdir() if folder.name.isdigit()]
    except OSError:
        return None
    for folder in numbers:
        try:
            if not (folder / "comm").read_text().startswith("codex"):
                continue
            if any(file.readlink() == target for file in (folder / "fd").iterdir()):
                return f"Codex (process {folder.name}) has this file open"
        except OSError:
            continue
    return None
