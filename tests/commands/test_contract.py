"""What every command keeps to: exit codes, errors in one line, JSON that says what it is, nothing written."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from inspector.commands import COMMANDS
from tests.commands.conftest import Run
from tests.commands.writing import header, small_session, user

READING = ("view", "stats", "check", "plan", "compare")
SCHEMAS = {"view": "model-view/1", "stats": "stats/1", "check": "check/1", "plan": "plan/1", "compare": "compare/1"}


def tree(folder: Path) -> dict[str, tuple[str, int]]:
    """Every file below a folder, with its hash and time of change."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(p): (hashlib.sha256(p.read_bytes()).hexdigest(), p.stat().st_mtime_ns) for p in files}


def test_help_names_every_command(run: Run) -> None:
    ran = run("--help")
    assert ran.code == 0
    for name in COMMANDS:
        assert f"    {name} " in ran.out


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_each_command_has_examples(run: Run, command: str) -> None:
    ran = run(command, "--help")
    assert ran.code == 0
    assert f"examples:\n  seamline{'' if command == 'open' else ' ' + command}" in ran.out


def test_version_is_the_installed_one(run: Run) -> None:
    ran = run("--version")
    assert ran.code == 0
    assert ran.out.startswith("seamline 0.")


@pytest.mark.parametrize("command", READING)
def test_json_names_its_schema(run: Run, session: Path, command: str) -> None:
    ran = run(command, session, "--json")
    assert ran.code == 0, ran.err
    assert ran.json["schema"] == SCHEMAS[command]
    assert ran.err == ""


@pytest.mark.parametrize("command", [*READING, "undo", "follow", "compact"])
def test_a_missing_file_is_wrong_usage(run: Run, tmp_path: Path, command: str) -> None:
    ran = run(command, tmp_path / "missing.jsonl")
    assert ran.code == 2
    assert "missing.jsonl: no such file" in ran.first_line
    assert ran.out == ""


@pytest.mark.parametrize("command", READING)
def test_a_file_of_another_kind_is_refused(run: Run, tmp_path: Path, command: str) -> None:
    other = tmp_path / "notes.txt"
    other.write_text("nothing of the kind\n")
    ran = run(command, other, "--json")
    assert ran.code == 1
    assert "notes.txt: not a session" in ran.first_line
    assert ran.json["schema"] == SCHEMAS[command]
    assert ran.json["error"] in ran.first_line


def test_wrong_usage_says_so_first(run: Run) -> None:
    ran = run("view", "--json")
    assert ran.code == 2
    assert ran.first_line.startswith("seamline view: the following arguments are required: PATH: see `seamline view")
    assert ran.json["schema"] == "model-view/1"


def test_a_word_that_is_no_command_is_a_path(run: Run) -> None:
    ran = run("veiw")
    assert ran.code == 2
    assert "veiw: no such file, and no command is called so" in ran.first_line


def test_the_inspector_needs_a_terminal(run: Run, session: Path) -> None:
    ran = run(session)
    assert ran.code == 2
    assert "needs a terminal" in ran.first_line


@pytest.mark.parametrize("command", READING)
def test_a_folder_of_several_sessions_is_listed_and_nothing_done(run: Run, session: Path, command: str) -> None:
    other = session.with_name("other.jsonl")
    other.write_bytes(session.read_bytes())
    ran = run(command, session.parent)
    assert ran.code == 2
    assert "holds 2 sessions" in ran.first_line
    assert set(ran.out.splitlines()) == {str(session), str(other)}
    assert set(run(command, session.parent, "--json").json["sessions"]) == {str(session), str(other)}


def test_a_folder_of_one_session_is_that_session(run: Run, session: Path) -> None:
    assert run("view", session.parent, "--json").json["session"]["path"] == str(session)


def test_a_folder_without_sessions_is_refused(run: Run, tmp_path: Path) -> None:
    ran = run("view", tmp_path)
    assert ran.code == 1
    assert "no session in this folder" in ran.first_line


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(run: Run, session: Path) -> None:
    session.chmod(0)
    ran = run("view", session)
    assert ran.code == 1
    assert "Permission denied" in ran.first_line


@pytest.mark.parametrize("command", READING)
def test_reading_writes_nothing_outside_its_own_folders(
    run: Run, session: Path, own_folders: Path, tmp_path: Path, command: str
) -> None:
    before = tree(tmp_path)
    assert run(command, session).code == 0
    assert tree(tmp_path) == before
    own = (own_folders / "state", own_folders / "cache")
    assert [path for path in tree(own_folders) if not path.startswith(tuple(map(str, own)))] == []


def test_a_reader_that_stops_early_is_no_error(session: Path, environment: dict[str, str]) -> None:
    session.write_bytes(small_session(400))
    done = subprocess.run(
        f"{sys.executable} -m inspector view {session} --json | head -c 5",
        shell=True,
        env=environment,
        capture_output=True,
        timeout=60,
    )
    assert done.stdout == b'{"sch'
    assert done.stderr == b""


def test_a_fault_of_ours_is_one_line_unless_debugging(session: Path, environment: dict[str, str]) -> None:
    code = (
        "import sys, inspector.commands.view as view\n"
        "view.view_json = lambda *_: 1 / 0\n"
        "from inspector.__main__ import main\n"
        f"sys.exit(main(['view', {str(session)!r}, '--json']))"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "ZeroDivisionError" in done.stderr
    assert "SEAMLINE_DEBUG=1" in done.stderr
    assert "internal error" in json.loads(done.stdout)["error"]
    debugged = subprocess.run(
        command, env=environment | {"SEAMLINE_DEBUG": "1"}, capture_output=True, text=True, timeout=60
    )
    assert "Traceback" in debugged.stderr


def test_text_of_a_session_cannot_reach_the_terminal(run: Run, session: Path) -> None:
    nasty = "\x1b]0;owned\x07\x1b[2J red \u202egnirts\u2066 \U000e0041"
    session.write_bytes(header() + user(1, nasty))
    for command in ("view", "stats", "check"):
        shown = run(command, session).out
        assert not [character for character in shown if not character.isprintable() and character != "\n"]
    assert "␛" in run("view", session).out
    assert run("view", session, "--json").json["items"][0]["text"] == nasty


def test_a_lone_surrogate_survives_as_an_escape(run: Run, session: Path) -> None:
    raw = header() + user(1, "half SURROGATE end")
    session.write_bytes(raw.replace(b"SURROGATE", b"\\ud83d"))
    ran = run("view", session, "--json")
    assert ran.code == 0, ran.err
    assert "half" in ran.json["items"][0]["text"]
    assert run("view", session).code == 0
    assert run("stats", session).code == 0


@pytest.mark.parametrize("command", ["view", "stats", "check", "compact"])
def test_an_unknown_option_points_at_the_help_of_its_command(run: Run, session: Path, command: str) -> None:
    ran = run(command, session, "--sideways", "--json")
    assert ran.code == 2 and "--sideways" in ran.first_line
    assert f"`seamline {command} --help`" in ran.first_line
    assert "--sideways" in ran.json["error"]
