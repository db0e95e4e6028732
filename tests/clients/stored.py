"""A session on the disk, be it one file or a folder: what it holds, how large it is, and putting it back."""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path

State = tuple[tuple[str, str, int, int], ...]
"""Each file: its name within the session, SHA-256, mode and time of change (nanoseconds)."""


def files_of(session: Path) -> list[Path]:
    """The session's file, or all files in its folder."""
    return sorted(path for path in session.rglob("*") if path.is_file()) if session.is_dir() else [session]


def state_of(session: Path) -> State:
    """All that an undone commit must give back."""
    return tuple(_state(path, session) for path in files_of(session))


def _state(path: Path, session: Path) -> tuple[str, str, int, int]:
    status = path.stat()
    name = str(path.relative_to(session))
    return name, hashlib.sha256(path.read_bytes()).hexdigest(), status.st_mode, status.st_mtime_ns


def contents(state: State) -> list[tuple[str, str]]:
    """Names and digests alone."""
    return [(name, digest) for name, digest, _, _ in state]


def size_of(session: Path) -> int:
    """Bytes of all its files."""
    return sum(path.stat().st_size for path in files_of(session))


def mark(session: Path, mode: int, time: int) -> None:
    """Give every file permissions and a time of change (nanoseconds since 1970) that nothing would set by chance."""
    for path in files_of(session):
        path.chmod(mode)
        os.utime(path, ns=(time, time))


def saved(session: Path, place: Path) -> Path:
    """A copy to put back from, beside the session's own folder."""
    return Path(shutil.copytree(session, place) if session.is_dir() else shutil.copy2(session, place))


def put_back(session: Path, copy: Path) -> None:
    """The session as it was when it was saved."""
    if session.is_dir():
        shutil.rmtree(session)
        shutil.copytree(copy, session)
    else:
        session.unlink(missing_ok=True)
        shutil.copy2(copy, session)
