"""What users do to a program that it was not made for: each ends in one line and leaves no trace."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from threading import Thread

import pytest

from tests.commands.conftest import Run


@pytest.mark.parametrize("option", ["--edit", "--summary"])
def test_an_endless_file_of_edits_is_not_read_to_its_end(run: Run, session: Path, option: str) -> None:
    ran = run("compact", session, "--yes", "--agent-stopped", "--target", 3000, option, "/dev/zero")
    assert ran.code == 1 and ran.first_line.startswith("seamline compact: /dev/zero: larger than 16 MiB")


def test_a_summary_may_come_through_a_pipe(run: Run, session: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    words = "Goal: know what is in src/. Done: every part of it was read once. To do: nothing is left.\n" * 3
    Thread(target=pipe.write_text, args=(words,), daemon=True).start()
    ran = run("compact", session, "--yes", "--agent-stopped", "--target", 3000, "--summary", pipe)
    assert ran.code == 0, ran.err
    assert words.strip() in run("view", session, "--json").json["items"][0]["text"]


@pytest.mark.parametrize("command", ["view", "check", "plan", "compact", "undo", "follow"])
def test_a_pipe_is_no_session_and_nobody_waits_for_it(run: Run, tmp_path: Path, command: str) -> None:
    pipe = tmp_path / "pipe.jsonl"
    os.mkfifo(pipe)
    ran = run(command, pipe)
    assert ran.code == 2 and "a pipe or a device, not a file" in ran.first_line


@pytest.mark.parametrize("words", ["view", "view --json", "check", "compact --target 3000", "compact --yes --json"])
def test_closed_streams_are_no_fault(session: Path, environment: dict[str, str], words: str) -> None:
    command, *options = words.split()
    line = f'exec "{sys.executable}" -m inspector {command} "{session}" {" ".join(options)} <&- >&-'
    ran = subprocess.run(["sh", "-c", line], env=environment, capture_output=True, text=True, timeout=60)
    assert ran.returncode == (1 if command == "compact" else 0), ran.stderr
    assert "Error" not in ran.stderr and len(ran.stderr.splitlines()) <= 1


def test_a_target_out_of_reach_is_said_and_not_tried_again(run: Run, session: Path) -> None:
    assert run("compact", session, "--yes", "--agent-stopped", "--target", 3000).code == 0
    tokens = run("view", session, "--json", "--tokens").json["tokens"]["value"]
    assert run("compact", session, "--yes", "--agent-stopped", "--target", tokens, "--keep-recent", 1).code == 1
    data = session.read_bytes()
    ran = run("compact", session, "--yes", "--agent-stopped", "--target", 10)
    assert ran.code == 1 and "can't reach 10 tokens" in ran.first_line
    assert session.read_bytes() == data
