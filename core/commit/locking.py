"""One commit or undo at a time on a file: our own lock, in our own folder, and the agent's own where it has one."""

from __future__ import annotations

import fcntl
import hashlib
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from core.commit.causes import cause_of
from core.errors import CommitRefused

PATIENCE_SECONDS = 2.0
"""How long to wait for a lock of the agent: grok-build holds it for the moment of an append, Codex all the time."""

LOOK_SECONDS = 0.02


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


@contextmanager
def agents_locks(paths: Iterable[Path]) -> Iterator[None]:
    """Hold the agent's own lock files (an exclusive `flock` on each), so that it does not write meanwhile.

    Raises CommitRefused where the agent keeps one. A file that was made for it is removed again, while it is held.
    """
    with ExitStack() as stack:
        for path in sorted(set(paths)):
            if path.parent.is_dir():
                stack.enter_context(_agents_lock(path))
        yield


@contextmanager
def _agents_lock(path: Path) -> Iterator[None]:
    made = not path.exists()
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise CommitRefused(f"{path}: the agent's lock cannot be taken: {cause_of(error)}") from error
    try:
        _wait_for(descriptor, path)
        try:
            yield
        finally:
            if made:
                with suppress(OSError):  # one that stays is harmless
                    path.unlink()
    finally:
        os.close(descriptor)


def _wait_for(descriptor: int, path: Path) -> None:
    end = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > end:
                raise CommitRefused(f"{path}: the agent holds its lock on the session: end it first") from None
            time.sleep(LOOK_SECONDS)
        else:
            return
