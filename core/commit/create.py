"""The change `create`: a new file that appears whole or not at all, and never in the place of another one."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from core.commit.change import Found, Unsettled
from core.commit.held import Held, sync_folder
from core.commit.journal import Change
from core.commit.receipt import FileState
from core.commit.request import At
from core.errors import CommitRefused, Stale
from core.files import READ_SIZE, Disk
from core.patch import Create

_NO_HARD_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)


class CreateStep:
    """One new file of a running commit, with the permissions `mode`."""

    data = b""

    def __init__(self, patched: Create, identity: str, mode: int) -> None:
        self._patched = patched
        self._mode = mode
        # The folder's links are followed, the file's own name is not: what stands there is never written through.
        path = Path(os.path.realpath(patched.path.parent)) / patched.path.name
        self._temporary = _temporary(path, identity)
        if not path.parent.is_dir() and not path.parent.parent.is_dir():
            raise CommitRefused(f"{path.parent}: there is no such folder for the new session: make it first")
        if os.path.lexists(path):
            raise CommitRefused(_occupied(path))
        digest = hashlib.sha256()
        for block in self._blocks():
            digest.update(block)
        self.change = Change("create", path, patched.size, digest.hexdigest(), None)

    def _blocks(self) -> Iterator[bytes]:
        """The new bytes. Raises Stale where a file that they are taken from has become shorter."""
        patched, disk = self._patched, Disk()
        for offset in range(0, patched.size, READ_SIZE):
            block = patched.read(offset, READ_SIZE, disk.read)
            if len(block) != min(READ_SIZE, patched.size - offset):
                raise Stale(f"{patched.path}: what it is made from has changed: open the session again")
            yield block

    def write(self, at: At) -> None:
        """Write it beside its place, durably, then give it its name. Raises CommitRefused, OSError.

        The last folder is made where it is missing: some agents give each session one of its own.
        """
        path = self.change.path
        at("create")
        if not path.parent.is_dir():
            path.parent.mkdir(mode=0o700)
            sync_folder(path.parent.parent)
            at("folder")
        descriptor = os.open(self._temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            at("write")
            for block in self._blocks():
                view = memoryview(block)
                while view:
                    view = view[os.write(descriptor, view) :]
                    at("written")
            os.fchmod(descriptor, self._mode)
            at("sync")
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        at("name")
        _name_without_overwriting(self._temporary, path)
        at("named")
        self._temporary.unlink(missing_ok=True)
        sync_folder(path.parent)

    def settle(self) -> FileState:
        with Held(self.change.path) as held:
            if held.size() != self.change.size or held.sha256(0, self.change.size) != self.change.sha256:
                raise Stale(f"{self.change.path}: somebody else has written to the new session at once")
            return held.observe()

    def take_back(self) -> None:
        take_back_new(self.change, self._temporary)

    def close(self) -> None:
        pass


def _occupied(path: Path) -> str:
    return f"{path}: exists already, and is never overwritten: try again, so that a new name is made"


def _temporary(path: Path, identity: str) -> Path:
    """A name that no agent takes for a session, and that `recover` can work out again."""
    return path.parent / f".seamline-{identity}.part"


def _name_without_overwriting(temporary: Path, path: Path) -> None:
    try:
        os.link(temporary, path)
    except FileExistsError:
        raise CommitRefused(_occupied(path)) from None
    except OSError as error:
        if error.errno not in _NO_HARD_LINKS:
            raise
        # A file system without hard links (FAT, some network mounts): look, then rename.
        if os.path.lexists(path):
            raise CommitRefused(_occupied(path)) from None
        os.rename(temporary, path)  # noqa: PTH104


def take_back_new(change: Change, temporary: Path) -> None:
    """Remove the temporary file, and the new one if it is ours, whole and unchanged. Raises Unsettled, OSError."""
    temporary.unlink(missing_ok=True)
    found = _judge_named(change)
    if found == "whole":
        change.path.unlink()
    _leave(change.path.parent)
    if found == "continued":
        raise Unsettled("the agent has written to the new session, so it was left as it is")


def _leave(folder: Path) -> None:
    """Make what was removed durable; a folder that is empty now was made for the file, and goes with it."""
    with suppress(FileNotFoundError):
        sync_folder(folder)
        if _is_empty(folder):
            folder.rmdir()
            sync_folder(folder.parent)


def _is_empty(folder: Path) -> bool:
    return folder.is_dir() and next(folder.iterdir(), None) is None


def _judge_named(change: Change) -> Found:
    """What stands under the new file's name."""
    try:
        held = Held(change.path)
    except (FileNotFoundError, CommitRefused):
        return "untouched"  # nothing, or something that is no file: not ours
    with held:
        size = held.size()
        if size >= change.size and held.sha256(0, change.size) == change.sha256:
            return "whole" if size == change.size else "continued"
    return "untouched"  # ours appears whole or not at all, so this one was made by somebody else


def judge(change: Change, data: bytes | None, identity: str) -> Found:
    """What a process that is gone left of this new file."""
    found = _judge_named(change)
    if found == "untouched" and (_temporary(change.path, identity).exists() or _is_empty(change.path.parent)):
        return "partial"
    return found


def finish(change: Change, data: bytes | None, identity: str) -> FileState:
    """The state to record for a file that stands whole; a temporary second name of it goes."""
    _temporary(change.path, identity).unlink(missing_ok=True)
    sync_folder(change.path.parent)
    with Held(change.path) as held:
        return held.observe()


def take_back(change: Change, data: bytes | None, identity: str) -> None:
    """Remove what a process that is gone left. Raises Unsettled, OSError."""
    take_back_new(change, _temporary(change.path, identity))


def check_reversible(change: Change) -> None:
    """Raise CommitRefused where the file is neither gone nor as the commit left it."""
    after = change.after
    assert after is not None
    if not os.path.lexists(change.path):
        return
    if not stat.S_ISREG(change.path.lstat().st_mode):
        raise CommitRefused(f"{change.path}: cannot undo: it is not the file that was made")
    with Held(change.path) as held:
        if not held.is_as(after) or held.sha256(0, after.size) != change.sha256:
            raise CommitRefused(
                f"{change.path}: cannot undo: the fork has been used since; delete it yourself if need be"
            )


def reverse(change: Change, identity: str, at: At) -> None:
    """Remove the file that was made. Raises CommitRefused where it has changed, OSError."""
    check_reversible(change)
    at("remove")
    change.path.unlink(missing_ok=True)
    at("sync")
    _leave(change.path.parent)


def tidy(change: Change, identity: str) -> None:
    """Remove the temporary file."""
    _temporary(change.path, identity).unlink(missing_ok=True)
