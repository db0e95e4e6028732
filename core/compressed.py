"""Sessions that their agent has compressed with Zstandard, read as if they were not."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from io import FileIO
from pathlib import Path
from typing import Any

from core.files import Files, stream

Unpack = Callable[[Files, Path, list[str]], Iterator[bytes]]
"""Gives the content of one compressed file; adds to the list, in words, why it can't go on."""

MAGIC = b"\x28\xb5\x2f\xfd"
"""The first bytes of a Zstandard frame."""

FED_AT_ONCE = 1 << 10
"""Compressed bytes that are given to the decompressor at once: no kilobyte holds more than 32 MiB."""

HELD_IN_MEMORY = 32 << 20
"""Unpacked bytes that are kept in memory; a larger content lies in a temporary file without a name."""

MOST_UNPACKED = 16 << 30
"""Bytes; what is said to be larger is not unpacked to its end."""


def is_compressed(files: Files, path: Path) -> bool:
    """Whether a file begins as a Zstandard frame does. Raises OSError."""
    return files.read(path, 0, len(MAGIC)) == MAGIC


def unpacked_head(files: Files, path: Path, length: int) -> bytes:
    """The first bytes of a file's content, unpacked where it is compressed. Raises OSError."""
    if not is_compressed(files, path):
        return files.read(path, 0, length)
    head = bytearray()
    for block in _unpack(files, path, []):
        head += block
        if len(head) >= length:
            break
    return bytes(head[:length])


@dataclass
class _Content:
    """The unpacked content of one file."""

    size: int = 0
    memory: bytearray = field(default_factory=bytearray)
    file: FileIO | None = None
    faults: list[str] = field(default_factory=list[str])

    def add(self, block: bytes) -> None:
        self.size += len(block)
        if self.file is None and self.size > HELD_IN_MEMORY:
            self.file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115  (lives as long as the content)
            self._write(bytes(self.memory))
            self.memory.clear()
        if self.file is None:
            self.memory += block
        else:
            self._write(block)

    def read(self, offset: int, length: int) -> bytes:
        if self.file is None:
            return bytes(self.memory[offset : offset + length])
        return os.pread(self.file.fileno(), length, offset)

    def _write(self, block: bytes) -> None:
        assert self.file is not None
        left = memoryview(block)
        while left:
            left = left[self.file.write(left) :]


class Unpacked:
    """The files of `base`; of a compressed one, the content: sizes and positions count in unpacked bytes.

    A file is unpacked once, when first read. To see a later state, make a new one. A format that gives the frames a
    meaning of its own passes `unpack`.
    """

    def __init__(self, base: Files, unpack: Unpack | None = None) -> None:
        self.base = base
        self._unpack = _unpack if unpack is None else unpack
        self._contents: dict[Path, _Content | None] = {}

    def exists(self, path: Path) -> bool:
        return self.base.exists(path)

    def size(self, path: Path) -> int:
        content = self._content(path)
        return self.base.size(path) if content is None else content.size

    def read(self, path: Path, offset: int, length: int) -> bytes:
        content = self._content(path)
        return self.base.read(path, offset, length) if content is None else content.read(offset, length)

    def fault(self, path: Path) -> str:
        """Why a file's content ends where it ends, in words; empty where it is whole."""
        content = self._content(path)
        return content.faults[0] if content is not None and content.faults else ""

    def _content(self, path: Path) -> _Content | None:
        if path not in self._contents:
            compressed = is_compressed(self.base, path)
            self._contents[path] = _unpacked(self.base, path, self._unpack) if compressed else None
        return self._contents[path]


def stored(files: Files) -> Files:
    """The files as they lie on the disk (or under a patch), for what counts in stored bytes."""
    return files.base if isinstance(files, Unpacked) else files


def _unpacked(files: Files, path: Path, unpack: Unpack) -> _Content:
    content = _Content()
    for block in unpack(files, path, content.faults):
        content.add(block)
        if content.size > MOST_UNPACKED:
            content.faults.append(f"the content is larger than {MOST_UNPACKED >> 30} GiB")
            break
    return content


def _unpack(files: Files, path: Path, faults: list[str]) -> Iterator[bytes]:
    """The content of a compressed file, frame after frame, as far as it can be read."""
    import zstandard

    decompressor: Any = zstandard.ZstdDecompressor()
    frame: Any = decompressor.decompressobj()
    fresh = True
    for block in stream(files, path):
        for start in range(0, len(block), FED_AT_ONCE):
            rest = block[start : start + FED_AT_ONCE]
            while rest:
                try:
                    yield frame.decompress(rest)
                except zstandard.ZstdError as error:
                    faults.append(f"the compressed data is damaged: {error}")
                    return
                rest, fresh = (frame.unused_data, True) if frame.eof else (b"", False)
                if frame.eof:
                    frame = decompressor.decompressobj()
    if not fresh:
        faults.append("the compressed data breaks off")
