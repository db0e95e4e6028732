"""One commit or undo at a time on a file: our own lock, in our own folder, so that a session's folder stays clean."""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from core.commit.causes import cause_of
from core.errors import CommitRefused


class Locked(CommitRefused):
    """Another process is at work on the same file right now."""


@contextmanager
def locked(folder: Path, paths: Iterable[Path]) -> Iterator[None]:
    """Hold our lock on every one of `paths` (real paths); `folder` is the state folder.

    The lock ends with the process, however it ends. Lock files stay: to remove one would let two processes hold
    "the same" lock. Raises Locked at once where another process has it.
    """
    with ExitStack() as stack:
        for path in sorted(set(paths)):
            stack.enter_context(_one(folder / "locks", path))
        yield


@contextmanager
def _one(folder: Path, path: Path) -> Iterator[None]:
    name = hashlib.sha256(os.fsencode(path)).hexdigest()[:40]
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(folder / f"{name}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise CommitRefused(f"{folder}: cannot lock {path.name} there: {cause_of(error)}") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise Locked(f"{path}: locked: another commit or undo is at work on it; let it end, then look again") from None
    try:
        yield
    finally:
        os.close(descriptor)
