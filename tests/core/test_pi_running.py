"""What is said of a running pi, from a list of processes as Linux keeps it; and pi's sessions on this machine."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from core.agents.pi.running import find, known_running
from tests.core.pi_sessions import HEADER, line

TICKS = os.sysconf("SC_CLK_TCK")
BOOTED = 1_000_000


class Machine:
    """A made-up list of processes."""

    def __init__(self, folder: Path) -> None:
        self.processes = folder / "proc"
        self.project = folder / "project"
        self.session = folder / "sessions" / "one.jsonl"
        for made in (self.processes, self.project, self.session.parent):
            made.mkdir()
        (self.processes / "stat").write_text(f"cpu 1 2 3\nbtime {BOOTED}\n")
        self.write(self.session)

    def write(self, path: Path, age: float = 0) -> None:
        path.write_bytes(line({**HEADER, "cwd": str(self.project)}))
        os.utime(path, (BOOTED + 5000 - age, BOOTED + 5000 - age))

    def process(self, number: int, arguments: list[str], cwd: Path | None = None, started: int = 1000) -> Path:
        folder = self.processes / str(number)
        (folder / "fd").mkdir(parents=True)
        (folder / "cmdline").write_bytes(b"".join(argument.encode() + b"\0" for argument in arguments) + b"\0" * 40)
        (folder / "cwd").symlink_to(cwd or self.processes)
        fields = ["S", *["0"] * 18, str(started * TICKS), "0"]
        (folder / "stat").write_text(f"{number} (node (pi)) {' '.join(fields)}\n")
        return folder

    def known(self) -> str | None:
        return known_running(self.session, self.processes)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


CLI = "/usr/lib/node_modules/@earendil-works/pi-coding-agent/dist/cli.js"


@pytest.mark.parametrize("arguments", [["node", CLI], ["/usr/bin/node", "/usr/local/bin/pi"], ["/opt/pi"], ["pi"]])
def test_a_session_on_the_command_line_is_known(machine: Machine, arguments: list[str]) -> None:
    machine.process(77, [*arguments, "--session", "../sessions/one.jsonl"], machine.project)
    assert machine.known() == "pi (process 77) was started with this session"


def test_a_session_may_be_named_by_the_start_of_its_id(machine: Machine) -> None:
    machine.process(77, ["node", CLI, "--session", str(HEADER["id"])[:8]])
    assert "was started with this session" in (machine.known() or "")


def test_other_programs_and_other_sessions_are_no_reason(machine: Machine) -> None:
    machine.process(1, ["vim", str(machine.session)])
    machine.process(2, ["node", CLI, "--session", "/elsewhere/two.jsonl"])
    machine.process(3, ["seamline", "view", "--session", str(machine.session)])
    machine.process(4, [""])
    assert machine.known() is None


def test_our_own_process_is_no_reason(machine: Machine) -> None:
    machine.process(os.getpid(), ["pi", "--session", str(machine.session)])
    assert machine.known() is None


def test_an_open_file_is_known(machine: Machine) -> None:
    folder = machine.process(5, ["pi"])
    (folder / "fd" / "9").symlink_to(machine.session)
    assert machine.known() == "pi (process 5) has this file open"


def test_the_session_that_pi_works_on_in_its_folder(machine: Machine) -> None:
    machine.process(5, ["pi"], machine.project, started=1000)
    words = machine.known()
    assert words is not None and "process 5" in words and "written after it started" in words


def test_an_older_session_of_the_folder_is_not_said_to_be_open(machine: Machine) -> None:
    machine.process(5, ["pi"], machine.project, started=1000)
    machine.write(machine.session.parent / "two.jsonl", age=-10)
    assert machine.known() is None


def test_a_session_that_was_written_before_pi_started_is_not_known(machine: Machine) -> None:
    machine.process(5, ["pi"], machine.project, started=6000)
    machine.process(6, ["pi"], machine.processes, started=1000)
    assert machine.known() is None


def test_nothing_is_raised_where_nothing_can_be_told(machine: Machine, tmp_path: Path) -> None:
    machine.process(5, ["pi"], machine.project)
    assert known_running(tmp_path / "missing.jsonl", machine.processes) is None
    assert known_running(machine.session, tmp_path / "no-proc") is None
    (machine.processes / "5" / "stat").unlink()
    assert machine.known() is None


def test_the_processes_of_this_machine_can_be_read(tmp_path: Path) -> None:
    assert known_running(tmp_path / "nothing.jsonl") is None


def session_file(path: Path, cwd: str = "/srv/demo") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"\nbroken {\n" + line({**HEADER, "cwd": cwd}) + b"x" * 100)
    return path


def test_sessions_are_found_where_pi_keeps_them(own_folders: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    agent = own_folders / ".pi" / "agent"
    usual = session_file(agent / "sessions" / "--srv-demo--" / "a.jsonl")
    (usual.parent / "no-session.jsonl").write_text('{"type":"message"}\n')
    (usual.parent / "empty.jsonl").write_text("")
    (usual.parent / "other.txt").write_text("x")
    named = session_file(own_folders / "kept" / "b.jsonl", "/elsewhere")
    (agent / "settings.json").write_text('{"sessionDir": "~/kept"}')
    flat = session_file(own_folders / "flat" / "c.jsonl")
    monkeypatch.setenv("PI_CODING_AGENT_SESSION_DIR", str(flat.parent))
    (flat.parent / "again.jsonl").symlink_to(usual)
    found = {one.path.resolve(): one for one in find()}
    assert set(found) == {usual, named, flat}
    assert (found[named].cwd, found[named].agent, found[named].size) == ("/elsewhere", "pi", named.stat().st_size)
    assert abs(found[named].modified - time.time()) < 3600
    monkeypatch.setenv("PI_CODING_AGENT_DIR", str(own_folders / "nowhere"))
    monkeypatch.delenv("PI_CODING_AGENT_SESSION_DIR")
    assert list(find()) == []
