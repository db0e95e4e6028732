"""Where bytes come from: the disk, or the disk as it would be under a patch.

Every reader reads through `Files`, so preview, verification and a fresh process share one code path. Reads are
bounded (`pread`); nothing maps a file, because a live file that is truncated would kill a process that maps it.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, cast

from core.patch import Append, Change, Patch

READ_SIZE = 1 << 18
"""Bytes read at a time when a file is streamed: few enough to stay in the processor's cache while they are split."""

WHOLE_FINGERPRINT_LIMIT = 64 << 20
"""Up to this size (bytes) a fingerprint covers every byte; above it, the size and both ends."""

FINGERPRINT_END = 1 << 20


class Files(Protocol):
    """A byte source with paths, as the disk has them."""

    def exists(self, path: Path) -> bool: ...

    def size(self, path: Path) -> int:
        """Size in bytes. Raises OSError where there is no such file."""
        ...

    def read(self, path: Path, offset: int, length: int) -> bytes:
        """Up to `length` bytes from `offset`; fewer at the end of the file. Raises OSError."""
        ...


class Disk:
    """The files as they are."""

    def __init__(self) -> None:
        self._descriptors: dict[Path, int] = {}

    def exists(self, path: Path) -> bool:
        return path.is_file()

    def size(self, path: Path) -> int:
        descriptor = self._descriptors.get(path)
        return os.fstat(descriptor).st_size if descriptor is not None else path.stat().st_size

    def read(self, path: Path, offset: int, length: int) -> bytes:
        descriptor = self._descriptors.get(path)
        if descriptor is not None:
            return os.pread(descriptor, length, offset)
        with open(path, "rb", buffering=0) as file:
            return os.pread(file.fileno(), length, offset)

    @contextmanager
    def held(self, path: Path) -> Iterator[None]:
        """Keep `path` open while many small reads follow."""
        if path in self._descriptors:
            yield
            return
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        self._descriptors[path] = descriptor
        try:
            yield
        finally:
            del self._descriptors[path]
            os.close(descriptor)


@dataclass(frozen=True)
class Overlay:
    """`base` as it would be once `patch` was carried out; nothing is written."""

    base: Files
    patch: Patch

    def exists(self, path: Path) -> bool:
        return any(change.path == path for change in self.patch.changes) or self.base.exists(path)

    def size(self, path: Path) -> int:
        change = self._change(path)
        if change is None:
            return self.base.size(path)
        return change.at + change.size if isinstance(change, Append) else change.size

    def read(self, path: Path, offset: int, length: int) -> bytes:
        change = self._change(path)
        if change is None:
            return self.base.read(path, offset, length)
        if not isinstance(change, Append):
            return change.read(offset, length, self.base.read)
        old = self.base.read(path, offset, min(length, change.at - offset)) if offset < change.at else b""
        start = max(0, offset - change.at)
        return old + change.data[start : start + length - len(old)]

    def _change(self, path: Path) -> Change | None:
        for change in self.patch.changes:
            if change.path == path:
                return change
        return None


def stream(files: Files, path: Path, start: int = 0, end: int | None = None) -> Iterator[bytes]:
    """The bytes of `path` from `start` to `end` (default: its end now), `READ_SIZE` at a time."""
    end = files.size(path) if end is None else end
    while start < end:
        block = files.read(path, start, min(READ_SIZE, end - start))
        if not block:
            return
        yield block
        start += len(block)


def fingerprint(files: Files, path: Path) -> str:
    """Names one state of a file: its size and a SHA-256 of its bytes (of both ends, above 64 MiB)."""
    size = files.size(path)
    digest = hashlib.sha256()
    if size <= WHOLE_FINGERPRINT_LIMIT:
        for block in stream(files, path):
            digest.update(block)
        return f"{size}:{digest.hexdigest()[:32]}"
    digest.update(files.read(path, 0, FINGERPRINT_END))
    digest.update(files.read(path, size - FINGERPRINT_END, FINGERPRINT_END))
    return f"{size}:ends:{digest.hexdigest()[:32]}"


def holding(files: Files, path: Path) -> AbstractContextManager[None]:
    """Keep `path` open on the disk below `files` while many small reads follow, where there is such a file."""
    base = files
    while not isinstance(base, Disk) and hasattr(base, "base"):
        base = cast(Files, base.base)
    return base.held(path) if isinstance(base, Disk) and base.exists(path) else nullcontext()
