"""The change `replace`: a whole new file in the place of the old one, by a temporary file beside it and a rename.

For formats whose records cannot be appended. While a commit runs, the old file keeps a second name beside the new
one, so that it can be put back as it is: the same inode, with whatever a program has written to it meanwhile that
still had it open. Our copy of the old bytes in the state folder is for an undo long after.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from core.commit.append import changed
from core.commit.backup import back_up, beside, dress
from core.commit.change import Found, Unsettled
from core.commit.held import Held, sync_folder, target_of
from core.commit.journal import Change
from core.commit.receipt import FileState
from core.commit.request import At
from core.errors import CommitRefused, Stale
from core.files import READ_SIZE, Disk
from core.patch import Replace

GRACE_SECONDS = 2.0
"""How long a program that still has the old file open is given to write its last lines, before the commit ends."""

LOOK_SECONDS = 0.05
"""How often the old file is looked at meanwhile."""

LEFT = "the agent has written to the new file, so it was left as it is: check the session"


class ReplaceStep:
    """One replacement of a running commit. To make it opens the old file and writes nothing."""

    data = b""

    def __init__(self, patched: Replace, identity: str, backup: Path) -> None:
        self._patched = patched
        self._renamed = False
        self._begun = False
        self._held = Held(target_of(patched.path), os.O_RDWR)  # who may not write it may not replace it either
        try:
            _require_one_name(self._held, patched.path)
            before = self._held.observe()
            if before.size != patched.size_before:
                raise Stale(changed(patched.path))
            digest = hashlib.sha256()
            for block in self._blocks():
                digest.update(block)
        except BaseException:
            self.close()
            raise
        path = self._held.path
        self.change = Change("replace", path, patched.size, digest.hexdigest(), before, backup=backup)
        self._before = before
        self._backup = backup
        self._identity = identity
        self._temporary, self._old = _temporary(path, identity), _old(path, identity)

    def _blocks(self) -> Iterator[bytes]:
        """The new bytes, from the old file and the patch. Raises Stale where the old file has become shorter."""
        patched, disk = self._patched, Disk()

        def kept(path: Path, offset: int, length: int) -> bytes:
            source = self._held if path == patched.path else disk
            return source.read(path, offset, length)

        for offset in range(0, patched.size, READ_SIZE):
            block = patched.read(offset, READ_SIZE, kept)
            if len(block) != min(READ_SIZE, patched.size - offset):
                raise Stale(changed(patched.path))
            yield block

    def write(self, at: At) -> None:
        """Keep the old bytes, write the new ones beside them, and rename. Raises Stale, CommitRefused, OSError."""
        path = self.change.path
        self._begun = True
        at("back up")
        back_up(self._held, self._backup)
        at("create")
        _write_beside(self._temporary, self._blocks(), self._held, self._before.mode, None, at)
        with self._held.alone():
            self._recheck()
            at("link")
            if not _has_second_name(path, self._old) and not self._held.is_alone:
                raise CommitRefused(f"{path}: another program has it open, and its lines could be lost: end it first")
            at("rename")
            if self._held.awaited():
                raise CommitRefused(_awaited(self._patched.path))
            self._renamed = True
            os.rename(self._temporary, path)  # noqa: PTH104
            at("renamed")
            if self._held.awaited():
                raise CommitRefused(_awaited(self._patched.path))
        sync_folder(path.parent)

    def _recheck(self) -> None:
        same = self._unwritten() and self._held.is_at_its_path()
        if not same or not self._held.is_as(self._before):
            raise Stale(changed(self._patched.path))
        _require_one_name(self._held, self._patched.path)

    def _unwritten(self) -> bool:
        status = self._held.status()
        return (status.st_size, status.st_mtime_ns) == (self._before.size, self._before.mtime_ns)

    def settle(self) -> FileState:
        """The state after the commit. Raises Stale where a program wrote to the new file, or still to the old one."""
        with Held(self.change.path) as new:
            state = new.observe()
            if state.size != self.change.size or new.sha256(0, state.size) != self.change.sha256:
                raise Stale(changed(self._patched.path))
        self._await_late_lines()
        self._old.unlink(missing_ok=True)
        sync_folder(self.change.path.parent)
        return state

    def _await_late_lines(self) -> None:
        """Wait while somebody has the old file open, as what is written there would be lost with it."""
        end = time.monotonic() + GRACE_SECONDS
        while True:
            with self._held.alone():  # granted: nobody else has it open, so nothing can come any more
                if not self._unwritten():
                    path = self._patched.path
                    raise Stale(f"{path}: another program wrote to it while it was replaced: what it wrote is kept")
                if self._held.is_alone or time.monotonic() > end:
                    return
            time.sleep(LOOK_SECONDS)

    def take_back(self) -> None:
        """Give the old file its name again. Raises Unsettled where others have written to the new one, OSError."""
        if not self._begun:
            return
        if self._renamed:
            take_back(self.change, None, self._identity)
        else:
            _remove(self._temporary, self._old, self._backup)
            sync_folder(self.change.path.parent)

    def close(self) -> None:
        self._held.close()


def _temporary(path: Path, identity: str) -> Path:
    return beside(path, identity, "part")


def _old(path: Path, identity: str) -> Path:
    return beside(path, identity, "old")


def _awaited(path: Path) -> str:
    return f"{path}: another program is writing to it: end it first, then try again"


def _require_one_name(held: Held, path: Path) -> None:
    names = held.status().st_nlink
    if names > 1:
        raise CommitRefused(
            f"{path}: it has {names} names (hard links), and only this one would lead to the new file: "
            "copy it to a file of its own first, or use --as fork"
        )


def _has_second_name(path: Path, old: Path) -> bool:
    """Give the old file a second name, where the file system has such; else our copy must do."""
    try:
        os.link(path, old)
    except FileExistsError:
        raise
    except OSError:
        return False
    return True


def _write_beside(
    temporary: Path, blocks: Iterator[bytes], like: Held, mode: int, mtime_ns: int | None, at: At
) -> None:
    """A new file with these bytes, durably, dressed like another one; with this time of change, if one is given."""
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        at("write")
        for block in blocks:
            view = memoryview(block)
            while view:
                view = view[os.write(descriptor, view) :]
                at("written")
        dress(descriptor, like.descriptor, mode)
        if mtime_ns is not None:
            os.utime(descriptor, ns=(mtime_ns, mtime_ns))
        at("sync")
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _remove(*paths: Path | None) -> None:
    for path in paths:
        if path is not None:
            path.unlink(missing_ok=True)


def judge(change: Change, data: bytes | None, identity: str) -> Found:
    """What a process that is gone left of this replacement."""
    if _temporary(change.path, identity).exists():
        return "partial"  # the rename would have taken it away, so the session was never touched
    old = _old(change.path, identity)
    with Held(change.path) as held:
        found = _found_at_path(held, change)
    if found == "whole" and old.exists():
        with Held(old) as kept:
            written = not kept.is_as(_before(change))
        return "partial" if written else "whole"  # late lines: they are kept, and ours goes
    if found == "untouched" and (old.exists() or (change.backup is not None and change.backup.exists())):
        return "partial"
    return found


def _found_at_path(held: Held, change: Change) -> Found:
    """What stands under the session's name."""
    size = held.size()
    if size >= change.size and held.sha256(0, change.size) == change.sha256:
        return "whole" if size == change.size else "continued"
    return "untouched" if held.is_as(_before(change)) else "foreign"


def finish(change: Change, data: bytes | None, identity: str) -> FileState:
    """The state to record for a replacement that stands whole; the old file's second name goes."""
    tidy(change, identity)
    with Held(change.path, os.O_RDWR) as held:
        held.sync()
        state = held.observe()
        if state.size == change.size:
            return state
        # The agent has gone on: its time of change is not ours, and must never be taken for ours.
        return FileState(change.size, held.hash_up_to(change.size), state.mode, 0, state.inode, state.device)


def take_back(change: Change, data: bytes | None, identity: str) -> None:
    """Put the old file back, if ours stands in its place untouched. Raises Unsettled, OSError."""
    temporary, old = _temporary(change.path, identity), _old(change.path, identity)
    renamed = not temporary.exists()
    temporary.unlink(missing_ok=True)
    with Held(change.path) as held:
        found = _found_at_path(held, change) if renamed else "untouched"
        if found == "whole":
            with held.alone():
                if held.size() != change.size:
                    raise Unsettled(LEFT)
                if old.exists():
                    os.rename(old, change.path)  # noqa: PTH104
                else:
                    _restore(change, identity, held, _nowhere)
    if found in ("continued", "foreign"):
        tidy(change, identity)
        raise Unsettled(LEFT)
    _remove(old)
    sync_folder(change.path.parent)
    _remove(change.backup)


def tidy(change: Change, identity: str) -> None:
    """Remove our temporary names; an old file that somebody has written to since keeps its own."""
    old = _old(change.path, identity)
    _remove(_temporary(change.path, identity))
    if old.exists():
        with Held(old) as held:
            if not held.is_as(_before(change)):
                raise Unsettled(f"{old}: here stands what a program wrote to the old file after it was replaced")
        old.unlink()
    with suppress(FileNotFoundError):
        sync_folder(change.path.parent)


def check_reversible(change: Change) -> None:
    """Raise CommitRefused, with the reason, where the file is neither as the commit left it nor as it was before."""
    with Held(change.path) as held:
        found = _found_at_path(held, change)
        if found == "untouched":
            return
        if found == "continued":
            more = held.size() - change.size
            raise CommitRefused(f"{change.path}: cannot undo: the agent has written {more} bytes since the commit")
        if found == "foreign":
            raise CommitRefused(f"{change.path}: cannot undo: the file is no longer as the commit left it")
    _require_backup(change).close()


def _require_backup(change: Change) -> Held:
    """Our copy of the old bytes, open. Raises CommitRefused where it is gone or no longer what it was."""
    assert change.backup is not None
    try:
        held = Held(change.backup)
    except FileNotFoundError:
        raise CommitRefused(f"{change.path}: cannot undo: the old bytes in {change.backup} are gone") from None
    if not held.is_as(_before(change)):
        held.close()
        raise CommitRefused(f"{change.path}: cannot undo: {change.backup} no longer holds the old bytes")
    return held


def reverse(change: Change, identity: str, at: At) -> None:
    """Put a file with the old bytes, mode and time of change in its place. Raises CommitRefused, OSError."""
    _remove(_temporary(change.path, identity))  # of an undo that was killed
    with Held(change.path, os.O_RDWR) as held:
        found = _found_at_path(held, change)
        if found == "untouched":
            held.give_back(_before(change))
        elif found == "whole":
            _restore(change, identity, held, at)
        else:
            raise CommitRefused(f"{change.path}: cannot undo: the file is no longer as the commit left it")
    at("sync")
    sync_folder(change.path.parent)


def _restore(change: Change, identity: str, current: Held, at: At) -> None:
    """Rename a copy of the old bytes over the new file. Raises CommitRefused where somebody writes to that, OSError."""
    before, temporary = _before(change), _temporary(change.path, identity)
    try:
        with _require_backup(change) as backup:
            at("create")
            _write_beside(temporary, _all_of(backup), current, before.mode, before.mtime_ns, at)
        with current.alone():
            if current.size() != change.size or not current.is_at_its_path() or current.awaited():
                raise CommitRefused(f"{change.path}: cannot undo: another program is writing to it: end it first")
            at("rename")
            os.rename(temporary, change.path)  # noqa: PTH104
    except BaseException:
        _remove(temporary)
        raise


def _all_of(held: Held) -> Iterator[bytes]:
    for offset in range(0, held.size(), READ_SIZE):
        yield held.read(held.path, offset, READ_SIZE)


def _nowhere(step: str) -> None:
    """A taking back has no steps of its own."""


def _before(change: Change) -> FileState:
    assert change.before is not None
    return change.before
