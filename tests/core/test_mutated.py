"""Mutated files of every format: a check, figures and leaves end in words, in bounded time, and no byte is lost."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import NotASession, SeamlineError
from core.findings import check_session
from core.opening import open_session
from core.planning import budget_of
from core.policies.settings import Settings
from core.session import Session
from core.stats import stats
from tests.core.every_format import STORIES, Story

SECONDS = 5.0

ODD_LINES = [b"", b"\0\0", b"\xef\xbb\xbf", b"[]", b"{", b'{"a":1}{"a":2}', b'"\\ud83d"', b"[" * 3000, b'  "a": 1,']


@st.composite
def mutated(draw: st.DrawFn, story: Story) -> bytes:
    data = bytearray(b"".join(line + b"\n" for line in story.lines))
    for _ in range(draw(st.integers(1, 4))):
        rows = bytes(data).split(b"\n")
        one, other = (draw(st.integers(0, len(rows) - 1)) for _ in range(2))
        kind = draw(st.sampled_from(["flip", "cut", "double", "remove", "swap", "insert", "join"]))
        if kind == "flip" and data:
            data[draw(st.integers(0, len(data) - 1))] ^= 1 << draw(st.integers(0, 7))
            continue
        if kind == "cut":
            del data[draw(st.integers(0, len(data))) :]
            continue
        if kind == "double":
            rows.insert(other, rows[one])
        elif kind == "remove":
            del rows[one]
        elif kind == "swap":
            rows[one], rows[other] = rows[other], rows[one]
        elif kind == "insert":
            rows.insert(one, draw(st.sampled_from(ODD_LINES)))
        else:
            rows[one : one + 2] = [b"".join(rows[one : one + 2])]
        data = bytearray(b"\n".join(rows))
    return bytes(data)


def assert_partition(session: Session, data: bytes) -> None:
    """Every byte belongs to one entry or to one damage, with the white space, line ends and commas behind it."""
    entries = [(entry.offset, entry.offset + entry.length) for entry in session.entries if entry.path is None]
    taken = set(entries)
    places = [(one.offset, one.offset + one.length) for one in session.damage if one.length]
    places = sorted(entries + list({place for place in places if not _overlaps(place, taken)}))
    at = 0
    for start, end in places:
        assert start >= at, (at, start)
        assert not data[at:start].strip(b" \t\r\n,"), data[at:start]
        at = end
    assert not data[at:].strip(b" \t\r\n,"), data[at:]


def _overlaps(place: tuple[int, int], entries: set[tuple[int, int]]) -> bool:
    return any(place[0] < end and start < place[1] for start, end in entries)


@pytest.mark.parametrize("name", STORIES)
def test_damage_ends_in_words_and_no_byte_is_lost(name: str) -> None:
    story = STORIES[name]()

    @settings(max_examples=60)
    @given(data=mutated(story))
    def holds(data: bytes) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = story.write_bytes(Path(folder), data)
            begun = time.process_time()
            look(path, data)
            assert time.process_time() - begun < SECONDS

    holds()


def look(path: Path, data: bytes) -> None:
    try:
        checked = check_session(path)
    except NotASession as refusal:
        assert "\n" not in str(refusal)
        return
    for finding in checked.findings:
        assert finding.kind and finding.message
        assert "\n" not in finding.message
        assert finding.client, finding
    session = checked.session
    if not any(entry.path is not None for entry in session.entries):
        assert_partition(session, data)
    assert all(leaf.entry for leaf in checked.agent.leaves(session))
    try:
        opened = open_session(path)
        stats(opened, budget_of(opened, Settings())).to_json()
    except SeamlineError as refusal:
        assert "\n" not in str(refusal)
