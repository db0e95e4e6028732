"""What a commit would write: values made by an agent's writer, read by `Overlay`, carried out by `core.commit`."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Kept:
    """The bytes from `start` to `stop` of a file that is there already, by reference: they are never held in memory."""

    start: int
    stop: int
    path: Path | None = None
    """The file; None for the old bytes of the very file that is replaced. A new file must name it."""


Piece = bytes | Kept


def size_of(piece: Piece) -> int:
    """Bytes of one piece."""
    return piece.stop - piece.start if isinstance(piece, Kept) else len(piece)


@dataclass(frozen=True, slots=True)
class Append:
    """Write `data` (bytes, whole records) at the end of `path`, which must be `at` bytes long."""

    path: Path
    at: int
    data: bytes

    @property
    def size(self) -> int:
        """Bytes that are written."""
        return len(self.data)


class _Rope:
    """What changes that write a whole file have in common: their pieces, one after the other."""

    path: Path
    pieces: tuple[Piece, ...]

    @cached_property
    def _ends(self) -> list[int]:
        return list(accumulate(map(size_of, self.pieces)))

    @property
    def size(self) -> int:
        """Bytes of the whole file."""
        return self._ends[-1] if self._ends else 0

    def read(self, offset: int, length: int, kept: Callable[[Path, int, int], bytes]) -> bytes:
        """Up to `length` bytes of the new file from `offset`; `kept` reads (path, offset, length) of the old files."""
        parts: list[bytes] = []
        end = min(offset + length, self.size)
        at = bisect_right(self._ends, offset)
        while offset < end:
            piece = self.pieces[at]
            start = offset - (self._ends[at] - size_of(piece))
            stop = min(size_of(piece), start + end - offset)
            if isinstance(piece, Kept):
                part = kept(piece.path or self.path, piece.start + start, stop - start)
            else:
                part = piece[start:stop]
            parts.append(part)
            offset += len(part)
            at += 1
            if len(part) < stop - start:  # the old file is shorter than it was
                break
        return b"".join(parts)


@dataclass(frozen=True)
class Replace(_Rope):
    """Put a whole new file in the place of `path`, which must be `size_before` bytes long.

    A rope: new bytes, and ranges of the old file. Neighbouring ranges need not be joined.
    """

    path: Path
    size_before: int
    pieces: tuple[Piece, ...]


@dataclass(frozen=True)
class Create(_Rope):
    """Write a new file; refused where `path` exists. Its bytes are `data`, or the `pieces` where they are given."""

    path: Path
    data: bytes = b""
    pieces: tuple[Piece, ...] = ()

    def __post_init__(self) -> None:
        if not self.pieces:
            object.__setattr__(self, "pieces", (self.data,))


Change = Append | Create | Replace


@dataclass(frozen=True, slots=True)
class Patch:
    """Changes that belong together, and the session file that holds the result."""

    changes: tuple[Change, ...]
    session: Path
    kind: str
    """`append`, `replace` or `fork`, as `plan/1` names it in `commits_as`."""
    locks: tuple[Path, ...] = ()
    """The agent's own lock files, taken with an exclusive `flock` while the session is written.

    One that does not exist is made and removed again; where its folder does not exist, the agent's version has none.
    """

    leaf: str | None = None
    """With which `--leaf` the result is opened; None where it is what the session ends with anyway."""

    @property
    def size(self) -> int:
        """Bytes that are written."""
        return sum(change.size for change in self.changes)
