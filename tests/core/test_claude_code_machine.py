"""Claude Code on this machine: its sessions and their sub-agents, and which process has one open."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from core.agents.claude_code import AGENT
from core.agents.claude_code.running import known_running
from core.files import Disk
from inspector.opening import session_at
from tests.core.claude_sessions import SESSION, Build

CAPTURED = Path(__file__).parent.parent / "data" / "conformance" / "claude-code"


class Home:
    """The client's folder with one session, and a made-up list of processes."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "claude"
        self.project = self.root / "projects" / "-srv-demo"
        self.project.mkdir(parents=True)
        self.processes = folder / "proc"
        (self.processes / "self" / "ns").mkdir(parents=True)
        (self.processes / "self" / "ns" / "pid").symlink_to("pid:[4026531836]")
        self.session = Build().turns(1).write(self.project / f"{SESSION}.jsonl")

    def says(self, number: int = 77, **fields: Any) -> None:
        folder = self.root / "sessions"
        folder.mkdir(exist_ok=True)
        value = {"pid": number, "sessionId": SESSION, "cwd": "/srv/demo", "procStart": "5000", **fields}
        (folder / f"{number}.json").write_text(json.dumps(value))
        (folder / f"{number}.key").write_text("key")

    def lives(self, number: int = 77, started: int = 5000, state: str = "S") -> None:
        folder = self.processes / str(number)
        folder.mkdir()
        fields = [state, *["0"] * 18, str(started), "0"]
        (folder / "stat").write_text(f"{number} (claude (x)) {' '.join(fields)}\n")

    def known(self, path: Path | None = None) -> str | None:
        return known_running(path or self.session, self.processes)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    made = Home(tmp_path)
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(made.root))
    return made


def test_a_living_process_that_names_the_session_is_known(home: Home) -> None:
    assert home.known() is None
    home.says()
    assert home.known() is None
    home.lives()
    words = home.known()
    assert words is not None and words.startswith("Claude Code (process 77) has it open")
    agent = home.project / SESSION / "subagents" / "agent-a1.jsonl"
    assert home.known(agent) == words


@pytest.mark.parametrize("fields", [{"sessionId": "other"}, {"procStart": "4999"}, {"pid": 78}])
def test_another_session_or_process_is_not(home: Home, fields: dict[str, Any]) -> None:
    home.says(**fields)
    home.lives()
    assert home.known() is None


def test_a_dead_process_is_not(home: Home) -> None:
    home.says()
    home.lives(state="Z")
    assert home.known() is None


def test_a_process_of_another_container_is_believed(home: Home) -> None:
    home.says(pidDomain="pid:[4026539999]")
    words = home.known()
    assert words is not None and "another container" in words
    home.says(pidDomain="pid:[4026531836]")
    assert home.known() is None


def test_broken_process_files_are_passed_over(home: Home) -> None:
    home.says()
    home.lives()
    for name, text in (("0", "{"), ("1", "[]"), ("2", '{"sessionId": 5}')):
        (home.root / "sessions" / f"{name}.json").write_text(text)
    assert home.known() is not None


def test_sessions_are_found_without_sub_agents(home: Home) -> None:
    (home.project / "memory").mkdir()
    (home.project / "notes.jsonl").write_text('{"a": 1}\n')
    Build().turns(1).write(home.project / "agent-old.jsonl")
    inner = home.project / SESSION / "subagents"
    inner.mkdir(parents=True)
    build = Build()
    build.user("task", isSidechain=True, agentId="a1")
    build.write(inner / "agent-a1.jsonl")
    (inner / "agent-a1.meta.json").write_text('{"agentType": "Explore"}')
    (found,) = AGENT.find()
    assert (found.path, found.agent, found.cwd) == (home.session, "claude-code", "/srv/demo")
    assert found.size == home.session.stat().st_size
    children = list(AGENT.children(Disk(), home.session))
    assert [child.path.name for child in children] == ["agent-a1.jsonl", "agent-old.jsonl"]
    assert AGENT.folders() == (home.root / "projects",)
    assert session_at(home.project) == home.session
    assert session_at(home.project / SESSION) == home.session


def test_the_usual_folder_is_in_the_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    assert AGENT.folders() == (Path(os.environ["HOME"]) / ".claude" / "projects",)
    assert list(AGENT.find()) == []


@pytest.mark.parametrize("name, count", [("native_subagents", 3), ("native_big_output", 0)])
def test_a_session_with_what_belongs_to_it_is_one(name: str, count: int) -> None:
    folder = CAPTURED / name / "session"
    path = session_at(folder)
    assert path.parent == folder
    assert len(list(AGENT.children(Disk(), path))) == count
