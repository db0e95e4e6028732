"""What the APIs demand of a conversation, its units, what it costs, and who holds its file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from core.agents.openai_messages import AGENT
from core.agents.openai_messages.running import known_running
from core.budget import used_figure
from core.findings import check_session
from core.opening import open_session
from core.planning import budget_of
from core.policies.settings import Settings
from tests.core.message_files import Value, reply, result, system, user, write


def kinds(path: Path) -> list[str]:
    return [finding.kind for finding in check_session(path).findings]


CHAT = [
    ([user("a"), reply(None, "c1", "c2"), result("c2"), result("c1"), reply("b")], []),
    ([user("a"), reply(None, "c1", "c2"), result("c1"), user("b")], ["unanswered-call"]),
    ([user("a"), reply(None, "c1"), user("b"), result("c1")], ["unanswered-call", "orphaned-result"]),
    ([user("a"), reply(None, "c1"), result("c1"), result("c1")], ["orphaned-result"]),
    ([user("a"), reply(None, "c0"), result("c0"), reply(None, "c0"), result("c0")], []),
    ([user("a"), result("zz")], ["orphaned-result"]),
    ([user(None)], ["no-content"]),
    ([user("a"), {"role": "assistant", "content": "b", "tool_calls": []}], ["empty-calls"]),
    ([user("a"), reply(None, "c1"), result("c1", "")], ["no-content"]),
    ([system("s"), system("t"), user("a"), user("b"), reply("c"), reply("d")], []),
]


@pytest.mark.parametrize(("messages", "expected"), CHAT)
def test_rules_of_chat_completions(messages: list[Value], expected: list[str], tmp_path: Path) -> None:
    assert kinds(write(tmp_path / "a.json", messages)) == expected


def use(*ids: str) -> Value:
    return reply([{"type": "tool_use", "id": one, "name": "read", "input": {}} for one in ids])


def answer(*ids: str, before: str = "", after: str = "") -> Value:
    blocks: list[Any] = [{"type": "tool_result", "tool_use_id": one, "content": "x"} for one in ids]
    first = [{"type": "text", "text": before}] if before else []
    return user([*first, *blocks, *([{"type": "text", "text": after}] if after else [])])


ANTHROPIC = [
    ([user("a"), use("t1", "t2"), answer("t1", "t2", after="and?"), reply("b")], []),
    ([user("a"), use("t1", "t2"), answer("t1")], ["unanswered-call"]),
    ([user("a"), use("t1"), user("b"), answer("t1")], ["unanswered-call", "orphaned-result"]),
    ([user("a"), use("t1"), answer("t1", before="well")], ["text-before-result"]),
    ([use("t1"), answer("t1")], ["not-user-first"]),
    ([user("a"), use("t1"), answer("t1"), user([{"type": "text", "text": " "}])], ["empty-text"]),
]


@pytest.mark.parametrize(("messages", "expected"), ANTHROPIC)
def test_rules_of_anthropic_messages(messages: list[Value], expected: list[str], tmp_path: Path) -> None:
    assert kinds(write(tmp_path / "a.json", messages)) == expected


def call(call_id: str) -> Value:
    return {"type": "function_call", "id": f"fc_{call_id}", "call_id": call_id, "name": "f", "arguments": "{}"}


def output(call_id: str) -> Value:
    return {"type": "function_call_output", "call_id": call_id, "output": "x"}


REASONING = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "AAAA"}
SAID = {"type": "message", "role": "assistant", "id": "msg_1", "content": [{"type": "output_text", "text": "b"}]}

RESPONSES = [
    ([user("a"), REASONING, call("c1"), call("c2"), output("c2"), user("b"), output("c1")], []),
    ([user("a"), call("c1"), user("b")], ["unanswered-call"]),
    ([user("a"), output("c1"), call("c1"), output("c1")], ["orphaned-result"]),
    ([user("a"), REASONING, user("b"), call("c1"), output("c1")], ["lone-reasoning"]),
    ([user("a"), {**call("c1"), "id": "msg_1"}, output("c1")], ["wrong-id"]),
]


@pytest.mark.parametrize(("items", "expected"), RESPONSES)
def test_rules_of_responses(items: list[Value], expected: list[str], tmp_path: Path) -> None:
    assert kinds(write(tmp_path / "a.json", {"input": items})) == expected


def test_what_an_api_refuses_is_named_with_its_place(tmp_path: Path) -> None:
    path = write(tmp_path / "a.json", [user("a"), reply(None, "c1"), user("b")], indent=1)
    (finding,) = check_session(path).findings
    assert finding.line == 6
    assert "c1" in finding.message
    assert "400" in finding.client


def test_mixed_messages_are_pointed_out(tmp_path: Path) -> None:
    view = open_session(write(tmp_path / "a.json", [user("a"), call("c1"), reply(None, "c2"), result("c2")])).view
    assert any("more than one API" in warning for warning in view.warnings)


def units(path: Path) -> list[tuple[str, int]]:
    return [(unit.kind, len(unit.entries)) for unit in open_session(path).units]


def test_units_of_chat_and_anthropic(tmp_path: Path) -> None:
    chat = [system("s"), user("a"), reply("x", "c1", "c2"), result("c2"), result("c1"), reply("b"), user("c")]
    expected = [("system", 1), ("user", 1), ("exchange", 3), ("assistant", 1), ("user", 1)]
    assert units(write(tmp_path / "a.json", chat)) == expected
    anthropic = [user("a"), use("t1", "t2"), answer("t1", "t2", after="more"), reply("b")]
    assert units(write(tmp_path / "b.json", anthropic)) == [("user", 1), ("exchange", 2), ("assistant", 1)]


def test_units_of_responses_keep_reasoning_with_what_followed(tmp_path: Path) -> None:
    first = [user("a"), REASONING, call("c1"), call("c2"), output("c1"), output("c2")]
    then = [REASONING, call("c3"), output("c3"), REASONING, SAID, SAID]
    found = units(write(tmp_path / "a.json", {"input": [*first, *then]}))
    assert found[:3] == [("user", 1), ("exchange", 5), ("exchange", 3)]
    assert found[3][0] == "assistant"
    assert found[3][1] >= 2


def test_a_late_output_stays_with_its_call(tmp_path: Path) -> None:
    items = [user("a"), call("c1"), user("b"), output("c1")]
    assert units(write(tmp_path / "a.json", {"input": items})) == [("user", 1), ("exchange", 2), ("user", 1)]


def test_system_messages_are_always_kept(tmp_path: Path) -> None:
    opened = open_session(write(tmp_path / "a.json", [system("s"), user("a"), reply(None, "c1"), result("c1")]))
    prompt, asked, exchange = (opened.options(unit) for unit in opened.units)
    assert prompt.allowed == {"keep"}
    assert set(prompt.refused) == {"summarize", "drop", "limit", "point"}
    assert asked.allowed == {"keep", "summarize", "drop"}
    assert exchange.allowed == {"keep", "summarize", "drop", "limit", "point"}
    assert len(exchange.results) == 1


def test_an_encrypted_compaction_can_only_be_kept_or_dropped(tmp_path: Path) -> None:
    items = [user("a"), {"type": "compaction", "encrypted_content": "AAAA"}, user("b")]
    opened = open_session(write(tmp_path / "a.json", {"input": items}))
    assert [unit.kind for unit in opened.units] == ["user", "summary", "user"]
    assert opened.options(opened.units[1]).allowed == {"keep", "drop"}


# Figures.


@pytest.mark.parametrize(
    ("usage", "context", "cached"),
    [
        ({"prompt_tokens": 100, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 80}}, 105, 80),
        ({"input_tokens": 226_616, "input_tokens_details": {"cached_tokens": 176_640}}, 226_616, 176_640),
        ({"input_tokens": 10, "cache_read_input_tokens": 90, "cache_creation_input_tokens": 7}, 107, 90),
        ({"input_tokens": 10, "output_tokens": 3}, 13, 0),
    ],
)
def test_cached_tokens_are_counted_by_the_rule_of_the_api(
    usage: Value, context: int, cached: int, tmp_path: Path
) -> None:
    opened = open_session(write(tmp_path / "a.json", [user("a"), reply("b", usage=usage), user("c")]))
    assert [(point.context, point.cached) for point in opened.usage.points] == [(context, cached)]
    assert opened.usage.current == context
    assert [source.entry for source in opened.usage.later] == [opened.session.entries[3].id]


def test_a_reply_that_was_logged_again_and_again_counts_once_with_its_last_figures(tmp_path: Path) -> None:
    lines = [reply("x", id="msg_1", usage={"input_tokens": 1, "output_tokens": n}) for n in (9, 9, 159)]
    opened = open_session(write(tmp_path / "a.jsonl", [user("a"), *lines]))
    assert [point.output for point in opened.usage.points] == [159]


def test_totals_of_a_whole_run_are_no_size_of_the_context(tmp_path: Path) -> None:
    total = {"type": "result", "usage": {"input_tokens": 5_000_000, "output_tokens": 1}}
    lines = [user("a"), reply("b", usage={"prompt_tokens": 10, "completion_tokens": 1}), total]
    assert open_session(write(tmp_path / "a.jsonl", lines)).usage.current == 11


def test_figures_of_zero_are_none(tmp_path: Path) -> None:
    lines = [user("a"), reply("b", usage={"prompt_tokens": 0, "completion_tokens": 0}), reply("c", usage=None)]
    opened = open_session(write(tmp_path / "a.json", lines))
    assert opened.usage.points == ()
    assert opened.usage.stale


def test_marks_around_messages_are_counted_by_the_published_rule(tmp_path: Path) -> None:
    tool = {"name": "read", "description": "Reads.", "parameters": {"properties": {"mode": {"enum": ["a", "b"]}}}}
    body = {"model": "gpt-4o", "messages": [user("a"), reply(None, "c1"), result("c1")]}
    plain = open_session(write(tmp_path / "a.json", body))
    assert plain.framing_tokens == 3 + 3 * (3 + 1) + 3
    with_tools = open_session(write(tmp_path / "b.json", {**body, "tools": [{"type": "function", "function": tool}]}))
    # A function 7, its properties 3, one key 3, an enum −3 and 3 for each value, 12 at the end.
    assert with_tools.framing_tokens == plain.framing_tokens + 7 + 3 + 3 - 3 + 2 * 3 + 12
    (definition,) = with_tools.agent.system(with_tools.session, with_tools.resume)
    assert definition.name == "read"
    assert definition.text == "read:Reads\nmode::\na\nb"


def test_marks_around_messages_stand_beside_what_is_counted(tmp_path: Path) -> None:
    opened = open_session(write(tmp_path / "a.json", {"model": "gpt-4o", "messages": [user("a")]}))
    used = budget_of(opened, Settings()).used
    assert used.value == opened.view_tokens + 7
    assert used.includes == "view, marks around messages"
    anthropic = open_session(write(tmp_path / "b.json", {"system": "s", "messages": [user("a")]}))
    assert anthropic.framing_tokens == 0
    assert used_figure(anthropic.usage, 5).includes == "view"


# The machine.


def test_a_process_that_may_write_the_file_is_named(tmp_path: Path) -> None:
    path = write(tmp_path / "a.json", [user("a")])
    processes = tmp_path / "proc"
    for number, flags in (("41", "0100000"), ("42", "0100002")):
        folder = processes / number
        (folder / "fd").mkdir(parents=True)
        (folder / "fdinfo").mkdir()
        (folder / "fd" / "3").symlink_to(path)
        (folder / "fdinfo" / "3").write_text(f"pos:\t0\nflags:\t{flags}\n")
        (folder / "comm").write_text("bot\n")
    assert known_running(path, processes) == "bot (process 42) has this file open to write"
    assert known_running(write(tmp_path / "b.json", []), processes) is None
    assert known_running(path, tmp_path / "none") is None


def test_there_is_no_folder_of_such_files() -> None:
    assert list(AGENT.find()) == []
    assert AGENT.folders() == ()


def test_the_profile_names_what_tools_do() -> None:
    assert AGENT.profile.tool("read_file").kind == "read"
    assert AGENT.profile.tool("update_plan").protected
    assert json.dumps(AGENT.profile.newest_client) == '"by definition"'
