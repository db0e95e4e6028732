"""The sample stories in every agent's format: each is its agent's alone, whole, and tells the same facts."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from core.agents import AGENTS, agent_named
from core.budget import handoff_budget, used_figure
from core.files import Disk
from core.jsonl import decode
from core.kin import children_of
from core.opening import Opened, open_session
from core.planning import plan_session
from core.policies import propose
from core.policies.settings import Settings
from core.resume import Overrides
from core.spans import kept
from core.summary.facts import collect
from core.summary.state import Facts
from core.view import pair_up
from scripts.samples import chinese, english
from scripts.samples.__main__ import OTHERS, ROOT
from scripts.samples.story import Aside, Reply, UserSays
from tests.core.pi_sessions import stamp

STORIES = {story.name: story for story in (english.story(), chinese.story())}
ENGLISH, CHINESE = STORIES
TOLD = [(agent, name) for agent in OTHERS for name in STORIES]
WINDOW = 128_000
every = pytest.mark.parametrize(("agent", "name"), TOLD)


@cache
def place(agent: str, name: str) -> Path:
    """Where the session's own file lies."""
    return ROOT / agent / OTHERS[agent].write(STORIES[name])[1]


@cache
def retold(agent: str, name: str, window: int | None = WINDOW) -> Opened:
    return open_session(place(agent, name), Overrides(window=window))


@cache
def told(name: str) -> dict[str, Any]:
    return json.loads((ROOT / "truth" / f"pi-{name}.json").read_text("utf-8"))


@cache
def facts(agent: str, name: str) -> Facts:
    """The facts of all that was said, where nothing is kept beside the summary."""
    session = retold(agent, name, None)
    return collect(tuple(session.agent.history(session.session, session.resume)), (), session.agent.profile)


def inside(path: str, name: str) -> str:
    """A path as the story names it: inside the project."""
    return path.removeprefix(f"{STORIES[name].cwd}/")


@every
def test_each_agent_tells_the_whole_story(agent: str, name: str) -> None:
    session = retold(agent, name)
    assert session.agent.name == agent
    assert [other for other in AGENTS if agent_named(other).detect(Disk(), session.session.path)] == [agent]
    assert not session.session.damage and pair_up(session.view.items).whole
    assert all(item.origin == "stored" for item in session.view.items)
    said = {item.text for item in session.view.items if item.kind == "text"}
    for event in STORIES[name].events:
        if isinstance(event, UserSays):
            assert any(event.text in text for text in said), event.text[:80]
    assert len(session.turns) >= told(name)["turns"]


@every
def test_the_summary_of_each_agents_session_holds_what_was_planted(agent: str, name: str) -> None:
    session = retold(agent, name)
    plan = plan_session(session, "handoff", Settings(target=8_000, keep_recent=2_000), stamp())
    summary = plan.proposal.summary
    assert summary is not None
    rest = "\n".join(item.text for item in kept(session, plan.proposal))
    whole = "\n".join([summary.text, rest])
    missing = [constraint["text"] for constraint in told(name)["constraints"] if constraint["text"] not in whole]
    missing += [file["path"] for file in told(name)["changed_files"] if file["path"] not in whole]
    missing += [failed["text"] for failed in told(name)["failed_attempts"] if failed["text"] not in whole]
    assert not missing
    assert told(name)["last_request"]["text"] in whole and told(name)["goal"]["text"] in whole
    assert f"{told(name)['last_failure']['file']}:{told(name)['last_failure']['line']}" in whole


@every
def test_files_that_were_changed_are_found_in_each_agents_tools(agent: str, name: str) -> None:
    changed = {inside(change.path, name) for change in facts(agent, name).changes}
    assert changed >= {file["path"] for file in told(name)["changed_files"]}


@every
def test_commands_are_found_in_each_agents_tools_with_their_exit_codes(agent: str, name: str) -> None:
    found = facts(agent, name)
    ran = {command.command: command.exit for command in (*found.commands, *found.milestones)}
    last = {one["command"]: one["exit_code"] for one in told(name)["commands"] if one["by"] == "agent"}
    assert {command: ran.get(command) for command in last} == last


@every
def test_the_plan_is_found_in_each_agents_tools(agent: str, name: str) -> None:
    plan = facts(agent, name).plan
    assert plan is not None
    steps = told(name)["plan"]
    assert [step.text for step in plan.steps] == [*steps["done"], *steps["doing"], *steps["open"]]


@every
def test_handoff_acts_in_a_window_of_128_000_tokens(agent: str, name: str) -> None:
    session = retold(agent, name)
    window = session.resume.window
    assert window is not None and window.value == WINDOW
    acts = handoff_budget(window, used_figure(session.usage, session.view_tokens), next_reply=8_192).acts
    if agent == "grok-build":
        assert not acts and session.view_tokens < WINDOW // 2, "it trims old results itself above half of the window"
        return
    assert acts
    assert (propose(session, Settings()).cut is not None) == (name == ENGLISH)


@pytest.mark.parametrize("name", STORIES)
def test_in_its_own_window_grok_trims_nothing(name: str) -> None:
    whole = retold("grok-build", name, None)
    assert whole.view_tokens > 100_000 > retold("grok-build", name).view_tokens


# What pi's format does not have


@pytest.mark.parametrize("name", STORIES)
def test_a_sub_agent_of_claude_code_is_a_child_and_its_search_is_not_in_the_view(name: str) -> None:
    session = retold("claude-code", name)
    (child,) = children_of(session)
    assert child.found.path.parent.name == "subagents"
    calls = [item.name for item in session.view.items if item.kind == "tool_call"]
    searches = [a for e in STORIES[name].events if isinstance(e, Reply) for a in e.actions if a.call.kind == "search"]
    assert calls.count("Agent") == 1
    assert calls.count("Grep") == len(searches)


def test_the_side_branch_with_the_picture_is_a_leaf_of_claude_code() -> None:
    session = retold("claude-code", ENGLISH)
    assert not any(item.kind == "image" for item in session.view.items)
    (leaf,) = session.agent.leaves(session.session)
    branch = open_session(session.session.path, Overrides(window=WINDOW), leaf=leaf.entry)
    assert any(item.kind == "image" for item in branch.view.items)
    (aside,) = [event for event in STORIES[ENGLISH].events if isinstance(event, Aside)]
    assert branch.view.items[-1].text == aside.events[-1].text


def test_the_english_session_of_codex_begins_with_a_compaction_by_codex() -> None:
    from scripts.samples.codex_before import ANSWER, QUESTION, SUMMARY

    session = retold("codex", ENGLISH)
    texts = [item.text for item in session.view.items]
    assert any(SUMMARY in text for text in texts) and QUESTION in texts
    assert ANSWER not in texts, "what was compacted is only in the summary"
    assert retold("codex", CHINESE).view.items[0].role != "assistant"


def test_replies_of_dsh_are_logged_in_packed_pieces() -> None:
    session = retold("dsh", ENGLISH).session
    kinds = {entry.kind for entry in session.entries}
    assert {"text-chunks", "reasoning-chunks", "tool-call-chunks", "agent/inbox/spliced"} <= kinds


def test_messages_lie_in_one_object_or_one_in_a_line() -> None:
    one, lines = place("openai-messages", ENGLISH), place("openai-messages", CHINESE)
    assert json.loads(one.read_bytes())["messages"][0]["role"] == "system"
    assert [decode(line)["role"] for line in lines.read_bytes().splitlines()[:2]] == ["system", "user"]
