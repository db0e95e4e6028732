"""Codex: how items are grouped, what became of each, and the provider's figures."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.agents.codex import AGENT
from core.agents.codex.records import SUMMARY_PREFIX
from core.files import Disk
from core.opening import Opened
from core.resume import Overrides
from core.view import Seen
from tests.core.codex_sessions import CHILD, MADE, Rollout, call, opened, output, words
from tests.core.test_codex_view import CASES, name_of, session_of

THINKING = {"type": "reasoning", "summary": [], "encrypted_content": "AAA"}


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_every_item_is_in_one_unit_and_no_pair_in_two(case: Path) -> None:
    if '"error"' in case.read_text("utf-8"):
        return
    seen = opened(session_of(case))
    positions = [position for unit in seen.units for position in unit.items]
    assert sorted(positions) == list(range(len(seen.view.items)))
    assert [unit.first for unit in seen.units] == sorted(unit.first for unit in seen.units)
    assert len({unit.id for unit in seen.units}) == len(seen.units)
    for unit in seen.units:
        assert list(unit.items) == sorted(unit.items)
        assert unit.starts_turn == (unit.kind == "user")
        options = seen.options(unit)
        assert options.allowed.isdisjoint(options.refused)
        assert options.allowed | set(options.refused) == {"keep", "limit", "point", "summarize", "drop"}
    from core.view import pair_up

    unit_of = {position: unit for unit in seen.units for position in unit.items}
    for one, other in pair_up(seen.view.items).pairs:
        assert unit_of[one] is unit_of[other]


def kinds(seen: Opened) -> list[str]:
    return [unit.kind for unit in seen.units]


def test_thinking_stays_with_what_it_led_to(tmp_path: Path) -> None:
    build = Rollout().item(words("<permissions instructions>x", "developer"))
    build.item(words("<environment_context>x</environment_context>"))
    build.turn(
        "go", THINKING, call("a"), call("b"), output("b", "2"), output("a", "1"), THINKING, words("done", "assistant")
    )
    build.turn("<user_shell_command>ls</user_shell_command>", words("ok", "assistant"))
    seen = opened(build.write(tmp_path))
    assert kinds(seen) == ["system", "custom", "user", "exchange", "assistant", "shell", "assistant"]
    exchange = seen.units[3]
    assert [seen.view.items[at].kind for at in exchange.items] == [
        "thinking", "tool_call", "tool_call", "tool_result", "tool_result",
    ]  # fmt: skip
    assert len(seen.options(exchange).results) == 2
    assert [turn.number for turn in seen.turns] == [0, 1]


def test_items_of_a_checkpoint_are_units_of_their_own(tmp_path: Path) -> None:
    held = [words("one"), words("two"), call("c"), output("c", "r"), words(f"{SUMMARY_PREFIX}\nS")]
    held.append({"type": "compaction", "encrypted_content": "zzz"})
    seen = opened(Rollout().turn("gone").compact(held, window_number=1).turn("new").write(tmp_path))
    assert kinds(seen) == ["user", "user", "exchange", "summary", "summary", "user", "assistant"]
    encrypted = seen.options(seen.units[4])
    assert "summarize" in encrypted.refused
    assert "keep" in encrypted.allowed
    assert "point" in seen.options(seen.units[2]).allowed


def test_an_output_before_its_call_is_one_unit_with_it(tmp_path: Path) -> None:
    build = Rollout().turn("go", output("c", "early"), THINKING, call("c"), words("x", "assistant"))
    assert kinds(opened(build.write(tmp_path))) == ["user", "exchange"]


# What became of each item.


def past(path: Path) -> list[Seen]:
    session = AGENT.open(Disk(), path)
    return list(AGENT.history(session, AGENT.resume(session, Overrides())))


def told(path: Path) -> list[tuple[str, str]]:
    return [(seen.item.text, seen.sight) for seen in past(path)]


def test_history_tells_what_a_compaction_took_and_a_copy_once(tmp_path: Path) -> None:
    summary = f"{SUMMARY_PREFIX}\nS"
    build = Rollout().turn("one").turn("two").compact([words("two"), words(summary)], window_number=1).turn("three")
    seen = past(build.write(tmp_path))
    assert [(one.item.text, one.sight) for one in seen] == [
        ("one", "summarized"),
        ("re one", "summarized"),
        ("re two", "summarized"),
        ("two", "visible"),
        (summary, "visible"),
        ("three", "visible"),
        ("re three", "visible"),
    ]
    assert seen[0].left_at == seen[3].item.source[0].entry


def test_history_tells_what_was_taken_back(tmp_path: Path) -> None:
    build = Rollout().turn("one").turn("two").event("thread_rolled_back", num_turns=1).turn("three")
    assert told(build.write(tmp_path)) == [
        ("one", "visible"),
        ("re one", "visible"),
        ("two", "dropped"),
        ("re two", "dropped"),
        ("three", "visible"),
        ("re three", "visible"),
    ]


def test_history_brings_back_what_a_rollback_brings_back(tmp_path: Path) -> None:
    build = Rollout(paginated=False).turn("one").begin("two").compact([words("short")])
    build.event("task_complete", turn_id="t2").event("thread_rolled_back", num_turns=1)
    assert ("one", "visible") in told(build.write(tmp_path))


def test_history_never_sends_an_output_without_a_call(tmp_path: Path) -> None:
    assert told(Rollout().turn("go", output("c", "lost")).write(tmp_path))[1] == ("lost", "never")


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_history_holds_the_whole_view(case: Path) -> None:
    if '"error"' in case.read_text("utf-8"):
        return
    seen = opened(session_of(case))
    visible = {(one.item.source, one.item.kind) for one in past(seen.session.path) if one.sight == "visible"}
    kept = {source for sources, _ in visible for source in sources}
    for item in seen.view.items:
        if item.origin == "stored":
            # A message that a compaction without a history keeps stands in the view with fewer parts.
            assert item.source[0] in kept or item.source[0].entry in {source.entry for source in kept}


# The provider's figures.


def test_repeated_counts_are_one_reply(tmp_path: Path) -> None:
    build = Rollout().turn("one")
    build.count(100, 10, total_tokens=110).count(100, 10, total_tokens=110).count(150, 20, total_tokens=280)
    usage = opened(build.write(tmp_path)).usage
    assert [(point.context, point.output) for point in usage.points] == [(110, 10), (170, 20)]
    assert usage.current == 170


def test_cached_input_is_in_the_input(tmp_path: Path) -> None:
    usage = opened(Rollout().turn("one").count(226_616, 0, 176_640).write(tmp_path)).usage
    assert (usage.points[0].context, usage.points[0].cached) == (226_616, 176_640)


def test_a_record_and_its_count_are_one_reply(tmp_path: Path) -> None:
    figures = {"input_tokens": 90, "cached_input_tokens": 0, "output_tokens": 10, "total_tokens": 100}
    record = {"thread_id": "x", "turn_id": "t1", "response_id": "r1", "usage": figures}
    record |= {"turn_token_usage": figures, "thread_token_usage": figures}
    build = Rollout().turn("one").add("token_usage_record", record).count(90, 10, total_tokens=100)
    build.add("token_usage_record", record)
    usage = opened(build.write(tmp_path)).usage
    assert [point.context for point in usage.points] == [100]
    assert usage.points[0].model == "gpt-5.5"


def test_codex_own_estimate_is_no_report(tmp_path: Path) -> None:
    build = Rollout().turn("one").count(100, 10).compact([words("one")], window_number=1).count(0, 0, total=40)
    usage = opened(build.write(tmp_path)).usage
    assert len(usage.points) == 1
    assert usage.current is None
    assert "compacted" in usage.stale
    assert [(boundary.by, boundary.tokens_before) for boundary in usage.boundaries] == [("codex", 110)]


def test_what_came_later_is_named(tmp_path: Path) -> None:
    build = Rollout().begin("go").item(call("c")).count(100, 10).item(output("c", "r")).item(words("more"))
    seen = opened(build.write(tmp_path))
    later = [seen.session.entry(source.entry) for source in seen.usage.later]
    assert [entry.kind for entry in later if entry] == [
        "response_item/function_call_output",
        "response_item/message",
    ]


def test_a_rollback_makes_the_figures_stale(tmp_path: Path) -> None:
    build = Rollout().turn("one").turn("two").count(100, 10).event("thread_rolled_back", num_turns=1)
    usage = opened(build.write(tmp_path)).usage
    assert usage.current is None
    assert "taken back" in usage.stale


def test_what_a_fork_inherits_counts_at_its_parent(tmp_path: Path) -> None:
    parent = Rollout().turn("one").count(90, 10, total_tokens=100)
    child = parent.fork().turn("two").count(140, 10, total_tokens=250)
    parent.write(tmp_path)
    usage = opened(child.write(tmp_path)).usage
    assert [(point.context, point.inherited) for point in usage.points] == [(100, True), (150, False)]
    assert usage.current == 150


def test_what_an_older_fork_copied_counts_at_its_parent(tmp_path: Path) -> None:
    build = Rollout(CHILD, paginated=False, forked_from_id="x")
    last = {"input_tokens": 90, "output_tokens": 10, "total_tokens": 100}
    build.add("event_msg", {"type": "token_count", "info": {"last_token_usage": last, "total_token_usage": last}}, MADE)
    build.turn("two").count(140, 10, total_tokens=250)
    points = opened(build.write(tmp_path)).usage.points
    assert [(point.context, point.inherited) for point in points] == [(100, True), (150, False)]
