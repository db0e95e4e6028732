"""Every command that the README shows works as it stands there, on a copy of the sample sessions."""

from __future__ import annotations

import os
import pty
import re
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text("utf-8")
PATIENCE = 120.0
"""Seconds that a command may take on a busy machine."""


def commands() -> list[str]:
    """The lines of all fenced blocks that are marked `sh`, in order."""
    blocks = re.findall(r"^```sh\n(.*?)^```", README, re.S | re.M)
    return [line for block in blocks for line in block.splitlines() if line.strip()]


def is_inspector(command: str) -> bool:
    return re.match(r"seamline( sample_sessions\S*)?$", command) is not None


@pytest.fixture
def place(tmp_path: Path, own_folders: Path) -> tuple[Path, dict[str, str]]:
    """A folder with the samples and an environment in which `seamline` is a command."""
    shutil.copytree(ROOT / "sample_sessions", tmp_path / "sample_sessions")
    program = tmp_path / "bin" / "seamline"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m inspector "$@"\n')
    program.chmod(0o755)
    paths = os.pathsep.join([str(ROOT / "tests" / "offline"), str(ROOT)])
    return tmp_path, os.environ | {"PATH": f"{program.parent}:/usr/bin:/bin", "PYTHONPATH": paths}


def test_every_command_has_an_example() -> None:
    from inspector.commands import COMMANDS

    shown = {words[1] for words in map(str.split, commands()) if len(words) > 1 and words[0] == "seamline"}
    assert set(COMMANDS) - {"open"} <= shown


def test_the_commands_work_one_after_the_other(place: tuple[Path, dict[str, str]]) -> None:
    folder, environment = place
    ran = 0
    for command in commands():
        if is_inspector(command):
            continue
        follows = command.startswith("seamline follow")
        line = f"timeout -s INT 8 {command} || [ $? = 124 ]" if follows else command
        done = subprocess.run(
            ["bash", "-euc", line],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout[-500:]}\n{done.stderr[-1000:]}"
        ran += 1
    assert ran > 15


@pytest.mark.parametrize("command", [command for command in commands() if is_inspector(command)])
def test_the_inspector_opens_and_quits(place: tuple[Path, dict[str, str]], command: str) -> None:
    folder, environment = place
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    expected = b"turn 1" if command.endswith(".jsonl") else b"interface-migration"
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(folder)
        os.execvpe(
            "seamline", command.split(), environment | {"TERM": "xterm-256color", "COLUMNS": "120", "LINES": "40"}
        )
    seen = read_until(terminal, expected)
    assert expected in seen, seen[-2000:]
    os.write(terminal, b"q")
    read_until(terminal, None)
    _, status = os.waitpid(child, 0)
    os.close(terminal)
    assert os.waitstatus_to_exitcode(status) == 0
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def read_until(terminal: int, expected: bytes | None) -> bytes:
    """What a program draws, until `expected` stands in it or (with None) it ends."""
    seen, until = b"", time.monotonic() + PATIENCE
    while time.monotonic() < until and (expected is None or expected not in seen):
        if not select.select([terminal], [], [], 1.0)[0]:
            continue
        try:
            block = os.read(terminal, 65536)
        except OSError:  # the program has ended
            break
        if not block:
            break
        seen += block
    return seen


def test_links_lead_somewhere() -> None:
    for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"):
        text = (ROOT / name).read_text("utf-8")
        for link in re.findall(r"\]\(([^)#]+)\)", text):
            if not link.startswith("http"):
                assert (ROOT / link).exists(), f"{name}: {link}"


def test_the_picture_asks_no_server() -> None:
    picture = (ROOT / "docs" / "inspector.svg").read_text("utf-8")
    assert "@font-face" not in picture
    assert not re.search(r"url\((?!#)|@import|<image", picture)
