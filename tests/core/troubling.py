"""What can go wrong with a commit, for its tests: refusals, faults of calls, full and read-only disks, no rights."""

import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from core.commit.held import Held
from core.errors import CommitRefused
from tests.core.committing import Case

CALLS = ["open", "write", "fsync", "ftruncate", "utime", "link", "unlink", "fchmod", "pread", "fstat"]
"""The calls of `os` that touch a file."""


def refused(case: Case, words: str, error: type[Exception] = CommitRefused, **kw: Any) -> str:
    """Commit, expect a refusal with these words and no trace, and give the message."""
    before = case.look()
    with pytest.raises(error, match=words) as caught:
        case.commit(**kw)
    assert case.look() == before
    assert case.pending() == []
    message = str(caught.value)
    assert message.startswith("/")
    assert "\n" not in message
    return message


def without_lease(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Held, "_lease", lambda self, take: False)


@contextmanager
def faults(monkeypatch: pytest.MonkeyPatch, number: int, error: BaseException, lasting: bool) -> Iterator[list[str]]:
    """Let the call `number` (counted over all of CALLS) raise `error`; yields the calls that failed."""
    failed: list[str] = []
    count = 0

    def wrap(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **keywords: Any) -> Any:
            nonlocal count
            count += 1
            if count == number or (lasting and count > number):
                failed.append(name)
                raise error
            return real(*arguments, **keywords)

        return call

    with monkeypatch.context() as patched:
        for name in CALLS:
            patched.setattr(os, name, wrap(name, getattr(os, name)))
        yield failed


@contextmanager
def mounted(folder: Path, *options: str) -> Iterator[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(["mount", *options, str(folder)], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"cannot mount here: {done.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


@contextmanager
def unprivileged() -> Iterator[Path]:
    """A folder of somebody without root's rights, as whom the block is run."""
    with tempfile.TemporaryDirectory() as name:
        if os.geteuid() != 0:
            yield Path(name)
            return
        os.chown(name, 65534, 65534)
        os.seteuid(65534)
        try:
            yield Path(name)
        finally:
            os.seteuid(0)


def quick_folder() -> Iterator[Path]:
    """A folder in memory where there is one: to make many small writes durable on a disk takes minutes."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as name:
        yield Path(name)
