"""`seamline follow`: what is appended, cut off or replaced is told at once, each line a JSON object."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.commands.writing import call, header, result, small_session, user

PATIENCE = 30.0
"""Seconds that an event may take on a busy machine."""


class Follower:
    """A running `seamline follow --json`."""

    def __init__(self, session: Path, environment: dict[str, str], *words: str) -> None:
        command = [sys.executable, "-m", "inspector", "follow", str(session), "--json", *words]
        self.process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert self.process.stdout is not None and self.process.stderr is not None
        assert b"following" in self.process.stderr.readline()
        self._lines: queue.Queue[bytes] = queue.Queue()
        threading.Thread(target=self._read, args=(self.process.stdout,), daemon=True).start()

    def _read(self, stream: Any) -> None:
        for line in stream:
            self._lines.put(line)

    def next(self) -> dict[str, Any]:
        return json.loads(self._lines.get(timeout=PATIENCE))

    def until(self, event: str) -> dict[str, Any]:
        while (seen := self.next())["event"] != event:
            pass
        return seen

    def stop(self) -> int:
        self.process.send_signal(signal.SIGINT)
        code = self.process.wait(PATIENCE)
        for stream in (self.process.stdout, self.process.stderr):
            assert stream is not None
            stream.close()
        return code


@pytest.fixture
def follower(session: Path, environment: dict[str, str]) -> Iterator[Follower]:
    follower = Follower(session, environment, "--window", "64000")
    yield follower
    if follower.process.poll() is None:
        follower.stop()


def test_an_entry_is_told_with_what_it_adds(follower: Follower, session: Path) -> None:
    with session.open("ab") as file:
        file.write(user(67, "one two three"))
    event = follower.next()
    assert (event["event"], event["entry"], event["line"]) == ("entry", "00000043", 68)
    assert event["added"] == 3
    assert event["tokens"] > 0
    assert isinstance(event["turns_left"], int)
    assert follower.stop() == 0


def test_half_a_line_is_waited_for(follower: Follower, session: Path) -> None:
    line = user(67, "日本語 한국어")
    cut = line.index("한".encode()) + 1
    with session.open("ab") as file:
        file.write(line[:cut])
        file.flush()
        os.fsync(file.fileno())
        with pytest.raises(queue.Empty):
            follower._lines.get(timeout=2.5)
        file.write(line[cut:])
    assert follower.next()["entry"] == "00000043"


def test_a_threshold_is_told_when_it_is_crossed(follower: Follower, session: Path) -> None:
    with session.open("ab") as file:
        file.write(call(67, "bash", {"command": "ls"}, "call_big", context=60_000))
        file.write(result(68, "bash", "call_big", "ok"))
    event = follower.until("threshold")
    assert event["tokens"] > event["threshold"]
    assert event["turns_left"] == 0
    assert "threshold" in event["message"]


def test_a_truncated_file_is_followed_from_its_start(follower: Follower, session: Path) -> None:
    session.write_bytes(header())
    assert follower.until("truncated")["tokens"] == 0
    with session.open("ab") as file:
        file.write(user(1, "again"))
    # Id 00000001 was seen before the file was cut off, and is new again after it.
    assert follower.until("entry")["entry"] == "00000001"


def test_a_replaced_file_is_noticed(follower: Follower, session: Path) -> None:
    other = session.with_name("other")
    other.write_bytes(small_session(30).replace(b"5e55a9e0", b"aaaaaaaa"))
    other.replace(session)
    assert follower.next()["event"] == "replaced"


def test_damage_is_told_once_lines_follow(follower: Follower, session: Path) -> None:
    with session.open("ab") as file:
        file.write(b'{"type": "message", "id": \n' + user(67, "after the broken line"))
    assert "68" in follower.until("damage")["message"]


def test_the_followed_file_is_only_read(follower: Follower, session: Path) -> None:
    before = (session.read_bytes(), session.stat().st_mtime_ns)
    assert follower.stop() == 0
    assert (session.read_bytes(), session.stat().st_mtime_ns) == before
