"""An open file that a commit works on: everything is read and written through one descriptor."""

from __future__ import annotations

import fcntl
import hashlib
import os
import signal
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from core.commit.receipt import FileState, Scope, Sha256
from core.errors import CommitRefused
from core.files import READ_SIZE, WHOLE_FINGERPRINT_LIMIT

TAIL = 1 << 20
"""Bytes at the end that are hashed where a file is too large to be hashed whole."""


def target_of(path: Path) -> Path:
    """The file behind `path` and all its symbolic links. Raises CommitRefused where there is none."""
    try:
        return Path(os.path.realpath(path, strict=True))
    except FileNotFoundError:
        if path.is_symlink():
            words = "a symbolic link that leads nowhere: give the session's own path"
        else:
            words = "there is no such file"
        raise CommitRefused(f"{path}: {words}") from None
    except (OSError, RuntimeError) as error:  # a loop of links
        raise CommitRefused(f"{path}: cannot be followed: {error}") from error


class Held:
    """One regular file, held open; a byte source like `core.files.Files`, whatever path it is asked for.

    What is hashed and what is written is the same file, even if its name meanwhile leads to another one. And while
    `alone` holds, opening the file a second time would wait for ourselves.
    """

    def __init__(self, path: Path, flags: int = os.O_RDONLY) -> None:
        self.path = path
        self._leased = False
        if not stat.S_ISREG(path.stat(follow_symlinks=False).st_mode):  # asked first: to open a pipe would wait
            raise CommitRefused(f"{path}: not a regular file")
        self.descriptor = os.open(path, flags | os.O_CLOEXEC | os.O_NOFOLLOW)

    def close(self) -> None:
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1

    def __enter__(self) -> Held:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def status(self) -> os.stat_result:
        return os.fstat(self.descriptor)

    def exists(self, path: Path) -> bool:
        return True

    def size(self, path: Path | None = None) -> int:
        return self.status().st_size

    def read(self, path: Path, offset: int, length: int) -> bytes:
        return os.pread(self.descriptor, length, offset)

    def is_at_its_path(self) -> bool:
        """Whether the path still leads to this very file."""
        try:
            return os.path.samestat(self.path.stat(), self.status())
        except FileNotFoundError:
            return False

    def holds(self, offset: int, data: bytes) -> bool:
        """Whether exactly `data` stands at `offset`."""
        for start in range(0, len(data), READ_SIZE):
            part = data[start : start + READ_SIZE]
            if os.pread(self.descriptor, len(part), offset + start) != part:
                return False
        return True

    def sha256(self, start: int, end: int) -> str:
        """SHA-256 (hexadecimal) of the bytes from `start` to `end`."""
        digest = hashlib.sha256()
        while start < end:
            block = os.pread(self.descriptor, min(READ_SIZE, end - start), start)
            if not block:
                break
            digest.update(block)
            start += len(block)
        return digest.hexdigest()

    def hash_up_to(self, size: int, scope: Scope | None = None) -> Sha256:
        """The hash of the file as if it ended at `size`; whole up to 64 MiB, else of the MiB before `size`."""
        if scope is None:
            scope = "whole" if size <= WHOLE_FINGERPRINT_LIMIT else "tail"
        return Sha256(self.sha256(0 if scope == "whole" else max(0, size - TAIL), size), scope)

    def observe(self) -> FileState:
        """The state of the file now."""
        status = self.status()
        return FileState(
            size=status.st_size,
            sha256=self.hash_up_to(status.st_size),
            mode=stat.S_IMODE(status.st_mode),
            mtime_ns=status.st_mtime_ns,
            inode=status.st_ino,
            device=status.st_dev,
        )

    def is_as(self, state: FileState) -> bool:
        """Whether the bytes are those of `state`."""
        return self.size() == state.size and self.hash_up_to(state.size, state.sha256.scope) == state.sha256

    def give_back(self, state: FileState) -> None:
        """Restore mode and time of change, where they differ. Only the owner may; for others they stay."""
        status = self.status()
        with suppress(PermissionError):
            if stat.S_IMODE(status.st_mode) != state.mode:
                os.fchmod(self.descriptor, state.mode)
            if status.st_mtime_ns != state.mtime_ns:
                os.utime(self.descriptor, ns=(status.st_atime_ns, state.mtime_ns))

    def sync(self) -> None:
        os.fsync(self.descriptor)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep others from opening the file for a moment, where the system can (a Linux write lease).

        pi and others open a session anew for each line that they append. Their `open` waits while the lease is held
        (milliseconds), so nothing of theirs can land between our last check and our write, or be cut off by a
        truncation. The lease is refused while somebody has the file open, and elsewhere than on Linux: then the
        checks after the write must do. Nothing in this process may open the file while it is held.
        """
        self._leased = self._lease(True)
        try:
            yield
        finally:
            if self._leased:
                self._leased = False
                self._lease(False)

    @property
    def is_alone(self) -> bool:
        """Whether the system keeps others out now: nobody else has the file open."""
        return self._leased

    def awaited(self) -> bool:
        """Whether, while `alone` holds, somebody waits who wants to open the file for writing."""
        return self._leased and fcntl.fcntl(self.descriptor, fcntl.F_GETLEASE) == fcntl.F_UNLCK

    def _lease(self, take: bool) -> bool:
        if not hasattr(fcntl, "F_SETLEASE"):
            return False
        try:
            # The kernel says by a signal that somebody waits. The usual one, SIGIO, would end this process.
            fcntl.fcntl(self.descriptor, fcntl.F_SETSIG, signal.SIGURG)
            fcntl.fcntl(self.descriptor, fcntl.F_SETLEASE, fcntl.F_WRLCK if take else fcntl.F_UNLCK)
        except OSError:
            return False
        return True


def sync_folder(folder: Path) -> None:
    """Make a folder's names durable. Raises OSError where the disk fails."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except PermissionError:
        return  # a folder that may be written but not read
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
