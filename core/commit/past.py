"""The files as they were before a commit, as far as their old bytes are still there: read, never written."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from core.commit.held import Held
from core.commit.journal import Change, Operation
from core.errors import CommitRefused
from core.files import Disk, Files
from core.patch import Create, Kept, Patch, Piece


@dataclass(frozen=True, slots=True)
class _Old:
    """Where the old bytes of a file stand now."""

    path: Path
    size: int


class Before:
    """The disk, but for the files that an operation changed: those end, or are, as they were before it.

    Raises CommitRefused where the old bytes of one are gone.
    """

    def __init__(self, operation: Operation) -> None:
        self.base: Files = Disk()
        self._old = {change.path: _old(change) for change in operation.changes if change.before is not None}

    def exists(self, path: Path) -> bool:
        return path in self._old or self.base.exists(path)

    def size(self, path: Path) -> int:
        old = self._old.get(path)
        return self.base.size(path) if old is None else old.size

    def read(self, path: Path, offset: int, length: int) -> bytes:
        old = self._old.get(path)
        if old is None:
            return self.base.read(path, offset, length)
        return self.base.read(old.path, offset, max(0, min(length, old.size - offset)))

    def on_disk(self, patch: Patch) -> Patch:
        """The same patch, with what it takes over read from where the old bytes stand."""
        changes = tuple(
            Create(change.path, pieces=tuple(map(self._moved, change.pieces))) if isinstance(change, Create) else change
            for change in patch.changes
        )
        return replace(patch, changes=changes)

    def _moved(self, piece: Piece) -> Piece:
        old = self._old.get(piece.path) if isinstance(piece, Kept) and piece.path is not None else None
        return replace(piece, path=old.path) if isinstance(piece, Kept) and old is not None else piece


def _old(change: Change) -> _Old:
    before = change.before
    assert before is not None
    place = change.backup or change.path
    try:
        with Held(place) as held:
            there = held.size() >= before.size and held.hash_up_to(before.size, before.sha256.scope) == before.sha256
    except FileNotFoundError:
        there = False
    if not there:
        raise CommitRefused(f"{change.path}: the bytes of before the commit no longer stand in {place}")
    return _Old(place, before.size)
