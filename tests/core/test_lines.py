"""Lines are the same however the file falls into blocks."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import jsonl
from core.files import Disk
from core.jsonl import Line, lines

LONGEST, HEAD = 12, 5


@given(
    pieces=st.lists(st.sampled_from([b"\n", b"\r\n", b"\r", b"a", b"bcd", b"x" * 6, b"y" * 20])), size=st.integers(1, 9)
)
def test_blocks_make_no_difference(pieces: list[bytes], size: int) -> None:
    data = b"".join(pieces)
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        path = Path(folder, "lines")
        path.write_bytes(data)
        patch.setattr(jsonl, "READ_SIZE", size)
        patch.setattr(jsonl, "LONGEST_LINE", LONGEST)
        patch.setattr(jsonl, "HEAD_OF_LONG_LINE", HEAD)
        found = list(lines(Disk(), path))
    rows = data.split(b"\n")
    whole = [(row, 1) for row in rows[:-1]] + ([(rows[-1], 0)] if rows[-1] else [])
    at = 0
    for number, (line, (row, end)) in enumerate(zip(found, whole, strict=True), start=1):
        assert (line.number, line.offset, line.length + line.end) == (number, at, len(row) + end)
        assert line.whole == (line.length <= LONGEST)
        carriage = bool(end) and row.endswith(b"\r") and len(row) <= LONGEST
        assert line.end == end + carriage
        assert line.data == (row[: len(row) - carriage] if line.whole else row[: len(line.data)])
        at += len(row) + end
    assert at == len(data)


def test_a_byte_order_mark_is_divided_from_its_line() -> None:
    mark, rest = Line(1, 0, b"\xef\xbb\xbf{}", 5, 1).divided()
    assert (mark.offset, mark.length, mark.end) == (0, 3, 0)
    assert rest == Line(1, 3, b"{}", 2, 1)
