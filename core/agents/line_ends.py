"""Which line end a file of lines uses, so that what is appended looks like what stands there."""

from __future__ import annotations

from pathlib import Path

from core.files import Files

ENDS = 1 << 20
"""Bytes at either end of the file that are looked at."""


def line_end_of(files: Files, path: Path) -> bytes:
    """The line end that the file mostly uses, as far as its two ends tell."""
    size = files.size(path)
    ends = files.read(path, 0, ENDS) + files.read(path, max(ENDS, size - ENDS), ENDS)
    return b"\r\n" if 2 * ends.count(b"\r\n") > ends.count(b"\n") else b"\n"
