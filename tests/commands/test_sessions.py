"""`seamline sessions`, as people and programs see it."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

from rich.cells import cell_len

from tests.commands.conftest import Run
from tests.core.dated_sessions import pi_session

ROOT = Path(__file__).parents[2]


def test_an_empty_machine_says_where_it_looked(run: Run) -> None:
    ran = run("sessions")
    assert ran.code == 0
    assert ".codex/sessions" in ran.out and ".claude/projects" in ran.out and "--root" in ran.out


def test_a_folder_of_samples(run: Run) -> None:
    ran = run("sessions", "--root", str(ROOT / "sample_sessions"), "--agent", "pi")
    lines = ran.out.splitlines()
    assert ran.code == 0 and lines[0].startswith("last activity")
    assert any("116,628" in line and "91%" in line for line in lines)
    again = run("sessions", "--root", str(ROOT / "sample_sessions"), "--agent", "pi")
    assert again.out == ran.out


def test_columns_line_up_whatever_stands_in_a_title(run: Run, tmp_path: Path) -> None:
    for name, title in (("a", "plain"), ("b", "请修复测试 🙏 日本語"), ("c", "\\u001b[31mred\\u202e")):
        header = f'{{"type":"session","version":3,"id":"{name}","timestamp":"2026-11-01T10:00:00Z","cwd":"/w"}}'
        message = f'{{"role":"user","content":"{title}","timestamp":0}}'
        entry = f'{{"type":"message","id":"1","parentId":null,"timestamp":"2026-11-01T10:00:00Z","message":{message}}}'
        (tmp_path / f"{name}.jsonl").write_text(f"{header}\n{entry}\n", "utf-8")
    ran = run("sessions", "--root", str(tmp_path))
    assert "\x1b" not in ran.out and "\u202e" not in ran.out
    starts = {cell_len(line.partition(" · ")[0].rpartition(" B  ")[0]) for line in ran.out.splitlines()[1:]}
    assert len(starts) == 1


def test_json_lists_sessions_and_what_was_skipped(run: Run, tmp_path: Path) -> None:
    (tmp_path / "broken.jsonl").write_text("{}\n")
    found = run("sessions", "--root", str(tmp_path), "--json").json
    assert found["schema"] == "sessions/1" and found["sessions"] == []
    assert found["looked_in"] == [str(tmp_path)]
    assert found["skipped"][0]["path"].endswith("broken.jsonl") and found["skipped"][0]["reason"]


def test_a_root_that_is_none_is_wrong_usage(run: Run, tmp_path: Path) -> None:
    ran = run("sessions", "--root", str(tmp_path / "nowhere"))
    assert ran.code == 2 and "--root" in ran.first_line


def test_on_a_terminal_rows_come_one_by_one_and_are_the_same_the_second_time(
    environment: dict[str, str], tmp_path: Path
) -> None:
    for number in range(30):
        pi_session(tmp_path / "all" / f"{number}.jsonl", "/work", f"2026-11-{number % 28 + 1:02d}T10:00:00Z")
    first, second = (on_a_terminal(["sessions", "--root", str(tmp_path / "all")], environment) for _ in range(2))
    assert sum("words of" in line for line in first) == 30
    assert "30 were read for the first time" in first[-1]
    assert [line[:10] for line in second[1:]] == sorted((line[:10] for line in second[1:]), reverse=True)
    assert len(second) == 31


def on_a_terminal(words: list[str], environment: dict[str, str]) -> list[str]:
    """The lines that `seamline` prints on a terminal."""
    terminal, inner = pty.openpty()
    program = subprocess.Popen(
        [sys.executable, "-m", "inspector", *words], env=environment, stdin=inner, stdout=inner, stderr=inner
    )
    os.close(inner)
    told = b""
    while True:
        try:
            read = os.read(terminal, 1 << 16)
        except OSError:  # how Linux says that nobody writes any more
            break
        if not read:
            break
        told += read
    os.close(terminal)
    assert program.wait(60) == 0
    return told.decode("utf-8").splitlines()
