"""The frames of a compressed dsh log: one for the header, then one for each durable append.

dsh reads the frames' structure itself before it unpacks anything: what it refuses, and with which words, follows from
that (dsh 0.1.0-rc.8). A frame that the file ends within is the tail of an append that broke off: of it dsh takes what
whole blocks give, unless they can't be unpacked.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from core.compressed import FED_AT_ONCE, MAGIC
from core.files import Files, holding, stream

WINDOW = 1 << 16
"""Bytes of the file that are looked at together."""

RESERVED_BITS, SINGLE_SEGMENT, CHECKSUM = 24, 32, 4


@dataclass(frozen=True, slots=True)
class Fault:
    """A frame that dsh would not unpack."""

    start: int
    """Bytes from the start of the compressed file."""
    at: int
    """Bytes from the start of the content, where its content would end."""
    message: str


@dataclass
class Frames:
    """What is known of the frames of one log, once it was unpacked."""

    ends: array[int] = field(default_factory=lambda: array("Q"))
    """Where each whole frame ends in the compressed file; each begins where the one before it ends."""
    contents: array[int] = field(default_factory=lambda: array("Q"))
    """Where the content of each whole frame ends, in unpacked bytes."""
    torn: int | None = None
    """Where the last frame begins, if the file ends within it."""
    faults: list[Fault] = field(default_factory=list[Fault])

    @property
    def complete(self) -> int:
        """Bytes of the content that stand in whole frames."""
        return self.contents[-1] if self.contents else 0

    def unpack(self, files: Files, path: Path, faults: list[str]) -> Iterator[bytes]:
        """The content of the log, frame after frame. Raises OSError."""
        import zstandard

        with holding(files, path):
            broken = self._scan(_Bytes(files, path))
            size, start = 0, 0
            for end in self.ends:
                try:
                    for block in _unpacked(files, path, start, end):
                        size += len(block)
                        yield block
                except zstandard.ZstdError:
                    words = f"corrupt Zstandard session log: frame at byte {start} failed validation"
                    self.faults.append(Fault(start, size, words))
                self.contents.append(size)
                start = end
            if broken is not None:
                self.faults.append(Fault(broken.at, size, broken.message))
            if self.torn is not None and _can_be_unpacked(files, path, self.torn):
                yield from _unpacked(files, path, self.torn, None)
        faults += [fault.message for fault in self.faults]

    def _scan(self, file: _Bytes) -> _Broken | None:
        """Find the frames, as far as their structure holds."""
        start = 0
        try:
            while start < file.size:
                start = _end_of_frame(file, start)
                self.ends.append(start)
        except _Ends:
            self.torn = start
        except _Broken as broken:
            return broken
        return None


class _Ends(Exception):
    """The file ends here."""


class _Broken(Exception):
    """No frame stands here."""

    def __init__(self, at: int, what: str) -> None:
        self.at = at
        self.message = f"corrupt Zstandard session log: {what} at byte {at}"
        super().__init__(self.message)


class _Bytes:
    """The bytes of a file, by small bounded reads."""

    def __init__(self, files: Files, path: Path) -> None:
        self._files, self._path = files, path
        self.size = files.size(path)
        self._start, self._window = 0, b""

    def number(self, at: int, length: int) -> int:
        """The little-endian number that stands there. Raises _Ends."""
        if at + length > self.size:
            raise _Ends
        if not self._start <= at <= self._start + len(self._window) - length:
            self._start, self._window = at, self._files.read(self._path, at, WINDOW)
        found = self._window[at - self._start : at - self._start + length]
        if len(found) < length:
            raise _Ends
        return int.from_bytes(found, "little")


def _end_of_frame(file: _Bytes, start: int) -> int:
    """Where the frame that begins at `start` ends. Raises _Ends and _Broken."""
    if file.number(start, 4) != int.from_bytes(MAGIC, "little"):
        raise _Broken(start, "invalid frame magic")
    descriptor = file.number(start + 4, 1)
    if descriptor & RESERVED_BITS:
        raise _Broken(start + 4, "reserved frame-header bit")
    at = start + 5 + _header_bytes(descriptor)
    if at > file.size:
        raise _Ends
    last = False
    while not last:
        block = file.number(at, 3)
        last, kind, size = bool(block & 1), block >> 1 & 3, block >> 3
        if kind == 3:
            raise _Broken(at, "reserved block type")
        at += 3 + (1 if kind == 1 else size)
        if at > file.size:
            raise _Ends
    at += 4 if descriptor & CHECKSUM else 0
    if at > file.size:
        raise _Ends
    return at


def _header_bytes(descriptor: int) -> int:
    """Bytes of a frame's header behind its descriptor."""
    single = bool(descriptor & SINGLE_SEGMENT)
    size_flag, dictionary = descriptor >> 6, (0, 1, 2, 4)[descriptor & 3]
    size = 1 << size_flag if size_flag else int(single)
    return (0 if single else 1) + dictionary + size


def _unpacked(files: Files, path: Path, start: int, end: int | None) -> Iterator[bytes]:
    """The content of one frame; of a torn one (no end) what its whole blocks give. Raises ZstdError."""
    import zstandard

    frame: Any = zstandard.ZstdDecompressor().decompressobj()
    for block in stream(files, path, start, end):
        for at in range(0, len(block), FED_AT_ONCE):
            found = frame.decompress(block[at : at + FED_AT_ONCE])
            if found:
                yield found
    if end is not None and not frame.eof:
        raise zstandard.ZstdError("the frame does not end where its blocks do")


def _can_be_unpacked(files: Files, path: Path, start: int) -> bool:
    """Whether nothing in a torn frame is damaged, so that dsh takes what it gives."""
    import zstandard

    try:
        for _ in _unpacked(files, path, start, None):
            pass
    except zstandard.ZstdError:
        return False
    return True
