"""Branches and other leaves: listed with what they end in, and each can be chosen for a view."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.agents import detect
from core.files import Disk
from core.opening import open_session
from core.view import Item
from tests.core.claude_sessions import Build as Claude
from tests.core.claude_sessions import call, own
from tests.core.codex_sessions import Rollout
from tests.core.every_format import STORIES
from tests.core.message_files import reply, system, user, write
from tests.core.pi_sessions import HEADER, line
from tests.core.pi_sessions import Build as Pi


def texts(path: Path, leaf: str | None = None) -> list[str]:
    return [shown(item) for item in open_session(path, leaf=leaf).view.items]


def shown(item: Item) -> str:
    return item.text or item.kind


def leaves(path: Path) -> list[tuple[str, str, int, str]]:
    agent = detect(Disk(), path)
    return [(leaf.entry, leaf.kind, leaf.messages, leaf.words) for leaf in agent.leaves(agent.open(Disk(), path))]


@pytest.mark.parametrize("name", STORIES)
def test_a_session_without_branches_has_no_other_leaf(name: str, tmp_path: Path) -> None:
    assert leaves(STORIES[name]().write(tmp_path)) == []


def test_a_branch_of_pi_is_a_leaf(tmp_path: Path) -> None:
    made = Pi()
    made.user("one")
    first = made.reply("re one")
    made.user("left")
    left = made.reply("re left")
    made.leaf = first
    made.user("taken")
    made.reply("re taken")
    path = tmp_path / "session.jsonl"
    path.write_bytes(line(HEADER) + b"".join(map(line, made.records)))
    assert texts(path) == ["one", "re one", "taken", "re taken"]
    assert leaves(path) == [(left, "branch", 2, "re left")]
    assert texts(path, left) == ["one", "re one", "left", "re left"]


def test_a_branch_of_claude_code_is_a_leaf(tmp_path: Path) -> None:
    made = Claude().turns(1)
    made.turns(2)
    made.user("again", parent="a1")
    made.reply("re again")
    path = made.write(tmp_path / "a.jsonl")
    assert texts(path) == ["q1", "a1", "again", "re again"]
    assert leaves(path) == [(own("a2"), "branch", 2, "a2")]
    assert texts(path, own("a2")) == ["q1", "a1", "q2", "a2"]


def test_reports_of_progress_and_parallel_results_are_no_branches(tmp_path: Path) -> None:
    made = Claude()
    made.user("q")
    made.reply("c1", call("1"), message="m")
    made.reply("c2", call("2"), message="m")
    made.result("r1", "1", parent="c1")
    made.result("r2", "2", parent="c2")
    for number in range(2):
        made.add(f"p{number}", parent="c2", type="progress", data={"type": "hook_progress"})
    made.user("next", parent="p1")
    made.reply("end")
    path = made.write(tmp_path / "a.jsonl")
    assert texts(path) == ["q", "tool_call", "tool_call", "R", "R", "next", "end"]
    assert leaves(path) == []


def test_what_a_boundary_took_is_past_and_no_branch(tmp_path: Path) -> None:
    made = Claude().turns(1, 2)
    made.boundary("B")
    made.summary("S")
    made.turns(3)
    assert leaves(made.write(tmp_path / "a.jsonl")) == []


def test_a_sub_agent_in_the_same_file_is_told_as_one(tmp_path: Path) -> None:
    made = Claude().turns(1)
    made.user("task", parent=None, isSidechain=True)
    made.reply("done", isSidechain=True)
    made.user("q2", parent="a1")
    made.reply("a2")
    path = made.write(tmp_path / "a.jsonl")
    assert texts(path) == ["q1", "a1", "q2", "a2"]
    assert leaves(path) == [(own("done"), "sub-agent", 2, "done")]
    assert texts(path, own("done")) == ["task", "done"]


def test_turns_that_codex_took_back_can_be_seen_again(tmp_path: Path) -> None:
    path = Rollout().turn("one").turn("two").event("thread_rolled_back", num_turns=1).turn("three").write(tmp_path)
    assert texts(path) == ["one", "re one", "three", "re three"]
    ((entry, kind, messages, words),) = leaves(path)
    assert (kind, messages, words) == ("taken-back", 2, "two")
    assert texts(path, entry) == ["one", "re one", "two", "re two"]


def test_conversations_of_a_file_are_leaves(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", [{"messages": [system("S"), user(f"q{n}"), reply("a")]} for n in range(3)])
    found = leaves(path)
    assert [kind for _, kind, _, _ in found] == ["conversation"] * 3
    assert [texts(path, entry)[1] for entry, _, _, _ in found] == ["q0", "q1", "q2"]
