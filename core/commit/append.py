"""The change `append`: new records at the end of a file that keeps its name, its inode and all its old bytes."""

from __future__ import annotations

import hashlib
import os
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from core.commit.change import Found, Unsettled
from core.commit.held import Held, sync_folder, target_of
from core.commit.journal import Change
from core.commit.receipt import FileState
from core.commit.request import At
from core.errors import CommitRefused, Stale
from core.patch import Append

LEFT = "the agent has written behind what was appended, so all of it was left as it is: check the session"


class AppendStep:
    """One append of a running commit. To make it opens the file and writes nothing.

    From then on until the bytes are on the disk others wait who want to open the file (see `Held.alone`), also while
    the journal is written. Who then waits to write is an agent that nobody knew of: its line must not come to stand
    behind ours, so ours goes first, before it is let in.
    """

    def __init__(self, patched: Append, identity: str) -> None:
        self.data = patched.data
        self._begun = False
        self._let_in = False
        self._written = 0
        self._shown = patched.path
        self._held = Held(target_of(patched.path), os.O_RDWR | os.O_APPEND)
        self._alone = ExitStack()
        try:
            self._alone.enter_context(self._held.alone())
            before = self._held.observe()
            if before.size != patched.at:
                raise Stale(changed(patched.path))
        except BaseException:
            self.close()  # at once: while it is held, others wait
            raise
        digest = hashlib.sha256(self.data).hexdigest()
        self.change = Change("append", self._held.path, len(self.data), digest, before)

    @property
    def before(self) -> FileState:
        assert self.change.before is not None
        return self.change.before

    def write(self, at: At) -> None:
        """Append all of the data. Raises Stale where the file changed meanwhile, OSError where the disk fails."""
        self._recheck()
        at("write")
        self._begun = True
        view = memoryview(self.data)
        while self._written < len(view):
            self._written += os.write(self._held.descriptor, view[self._written :])
            at("written")
        if self._held.size() != self.before.size + len(self.data):
            raise Stale(changed(self._shown))
        at("sync")
        self._held.sync()
        if self._held.awaited():
            raise CommitRefused(f"{self._shown}: another program is writing to it: end it first, then try again")
        self._alone.close()
        self._let_in = True
        sync_folder(self._held.path.parent)

    def _recheck(self) -> None:
        status = self._held.status()
        same = (status.st_size, status.st_mtime_ns) == (self.before.size, self.before.mtime_ns)
        if not same or not self._held.is_at_its_path():
            raise Stale(changed(self._shown))

    def settle(self) -> FileState:
        """The state after the commit. Raises Stale where anything but our bytes was added."""
        state = self._held.observe()
        size = self.before.size
        if state.size != size + len(self.data) or not self._held.holds(size, self.data):
            raise Stale(changed(self._shown))
        return state

    def take_back(self) -> None:
        """Remove what is ours, and only that. Raises Unsettled where others have written behind it, OSError."""
        if not self._begun:
            return
        with self._alone:
            if self._let_in:
                self._alone.enter_context(self._held.alone())
            place = _place_of_ours(self._held, self.before.size, self.data, self._written)
            if place is None:
                raise Unsettled(LEFT)
            _truncate(self._held, place, self.before)

    def close(self) -> None:
        self._alone.close()
        self._held.close()


def changed(path: Path) -> str:
    """What to say when a session is not the one that the proposal was made for."""
    return f"{path}: it has changed since the proposal was made: open it again and look at a new one"


def _place_of_ours(held: Held, size: int, data: bytes, written: int) -> int | None:
    """Where our bytes, or a beginning of them, start at the end of the file; its end where there are none of ours.

    `written` is how many are known to be there; an interrupted write may have left more. Lines of an agent that came
    between the last check and our write stand before ours, and stay.
    """
    end = held.size()
    if end < size:
        return None
    if end - size <= len(data) and held.holds(size, data[: end - size]):
        return size
    for length in (len(data), written):
        if 0 < length < end - size and held.holds(end - length, data[:length]):
            return end - length
    return end if written == 0 else None


def _truncate(held: Held, place: int, before: FileState) -> None:
    if held.size() != place:
        os.ftruncate(held.descriptor, place)
    if place == before.size:
        held.give_back(before)
    held.sync()


def judge(change: Change, data: bytes | None, identity: str) -> Found:
    """What a process that is gone left of this append."""
    before = _before(change)
    with Held(change.path) as held:
        size = held.size()
        if size < before.size or held.hash_up_to(before.size, before.sha256.scope) != before.sha256:
            return "foreign"
        if size == before.size:
            return "untouched"
        end = before.size + change.size
        if size >= end and held.sha256(before.size, end) == change.sha256:
            return "whole" if size == end else "continued"
        if data is not None and size < end and held.holds(before.size, data[: size - before.size]):
            return "partial"
        return "foreign"


def finish(change: Change, data: bytes | None, identity: str) -> FileState:
    """The state to record for an append that stands whole."""
    before = _before(change)
    end = before.size + change.size
    with Held(change.path, os.O_RDWR) as held:
        held.sync()
        state = held.observe()
        if state.size == end:
            return state
        # The agent has gone on: its time of change is not ours, and must never be taken for ours.
        return replace(state, size=end, sha256=held.hash_up_to(end), mtime_ns=0)


def take_back(change: Change, data: bytes | None, identity: str) -> None:
    """Remove the beginning (or the whole) of our append that a process that is gone left. Raises Unsettled, OSError."""
    before = _before(change)
    with Held(change.path) as held:
        if held.size() == before.size:  # nothing to remove, so a file that may not be written is no hindrance
            held.give_back(before)
            return
    ours = data or b""
    with Held(change.path, os.O_RDWR | os.O_APPEND) as held, held.alone():
        more = held.size() - before.size
        if not 0 <= more <= len(ours) or not held.holds(before.size, ours[:more]):
            raise Unsettled(LEFT)
        _truncate(held, before.size, before)


def check_reversible(change: Change) -> None:
    """Raise CommitRefused, with the reason, where the file is neither as the commit left it nor as it was before."""
    before, after = _before(change), change.after
    assert after is not None
    with Held(change.path) as held:
        if held.is_as(before):
            return
        if held.size() > after.size and held.hash_up_to(after.size, after.sha256.scope) == after.sha256:
            more = held.size() - after.size
            raise CommitRefused(f"{change.path}: cannot undo: the agent has written {more} bytes since the commit")
        ours = held.is_as(after) and held.sha256(before.size, after.size) == change.sha256
        if not ours or held.hash_up_to(before.size, before.sha256.scope) != before.sha256:
            raise CommitRefused(f"{change.path}: cannot undo: the file is no longer as the commit left it")


def reverse(change: Change, identity: str, at: At) -> None:
    """Give back the old bytes, mode and time of change. Raises CommitRefused where that is not possible, OSError."""
    before, after = _before(change), change.after
    assert after is not None
    with Held(change.path, os.O_RDWR | os.O_APPEND) as held:
        if not held.is_as(before):
            with held.alone():
                if not held.is_as(after) or held.sha256(before.size, after.size) != change.sha256:
                    raise CommitRefused(f"{change.path}: cannot undo: the file is no longer as the commit left it")
                if held.awaited():
                    raise CommitRefused(f"{change.path}: cannot undo: another program is writing to it: end it first")
                at("truncate")
                os.ftruncate(held.descriptor, before.size)
        at("give back")
        held.give_back(before)
        at("sync")
        held.sync()
        sync_folder(change.path.parent)
        if not held.is_as(before):
            raise CommitRefused(f"{change.path}: cut back, but the bytes are not those of before the commit")


def tidy(change: Change, identity: str) -> None:
    """An append makes no temporary file."""


def _before(change: Change) -> FileState:
    assert change.before is not None
    return change.before
