"""How the items of a pi view are grouped, and what may happen to each group."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.opening import Opened
from core.view import Unit
from tests.core.pi_sessions import PICTURES, Build, opened, sessions


def units_of(build: Build, version: str = "1.6.0") -> tuple[Opened, tuple[Unit, ...]]:
    seen = opened(build.bytes(), version)
    return seen, seen.units


def picture() -> dict[str, str]:
    return {"type": "image", "data": PICTURES[0], "mimeType": "image/png"}


@pytest.mark.parametrize("version", ["1.6.0", "0.73.1"])
@given(data=st.data())
@settings(max_examples=150, deadline=None)
def test_every_item_is_in_one_unit_and_no_pair_in_two(version: str, data: st.DataObject) -> None:
    seen = opened(data.draw(sessions()), version)
    positions = [position for unit in seen.units for position in unit.items]
    assert sorted(positions) == list(range(len(seen.view.items)))
    assert [unit.first for unit in seen.units] == sorted(unit.first for unit in seen.units)
    assert all(list(unit.items) == sorted(unit.items) for unit in seen.units)
    entries = [entry for unit in seen.units for entry in unit.entries]
    assert len(entries) == len(set(entries))
    order = {entry.id: entry.index for entry in seen.session.entries}
    for unit in seen.units:
        assert unit.id == unit.entries[0]
        assert [order[entry] for entry in unit.entries] == sorted(order[entry] for entry in unit.entries)
        assert unit.starts_turn == (unit.kind == "user")
    unit_of = {position: unit for unit in seen.units for position in unit.items}
    calls: dict[str, Unit] = {}
    for position, item in enumerate(seen.view.items):
        if item.kind == "tool_call":
            calls[item.call_id] = unit_of[position]
        elif item.kind == "tool_result":
            expected = calls.get(item.call_id)
            assert (unit_of[position].kind == "orphan") if expected is None else (unit_of[position] is expected)


def test_kinds_and_turns() -> None:
    build = Build()
    build.add("custom_message", customType="note", content="before", display=True)
    build.user("one")
    build.message("bashExecution", None, command="ls", output="a", exitCode=0)
    build.add("branch_summary", fromId="e0000000", summary="was elsewhere")
    build.assistant([{"type": "text", "text": "x"}, build.call()])
    build.result("call_1", "r")
    build.reply("done")
    build.add("compaction", summary="S", firstKeptEntryId="e0000000", tokensBefore=1)
    seen, units = units_of(build)
    kinds = ["summary", "custom", "user", "shell", "branch_summary", "exchange", "assistant"]
    assert [unit.kind for unit in units] == kinds
    assert [unit.id for unit in units if unit.starts_turn] == ["e0000001"]
    assert [turn.number for turn in seen.turns] == [0, 1]


def test_late_and_repaired_results_belong_to_their_call() -> None:
    build = Build()
    build.user("one")
    build.assistant([build.call(), build.call(), build.call(call_id="call_1")])
    build.result("call_2", "second")
    build.user("two")
    build.result("call_1", "late")
    build.reply("three")
    seen, units = units_of(build)
    exchange = units[1]
    assert (exchange.kind, exchange.entries) == ("exchange", ("e0000001", "e0000002", "e0000004"))
    results = [seen.view.items[position] for position in exchange.items if seen.view.items[position].role == "tool"]
    assert [result.text for result in results] == ["second", "No result provided", "No result provided", "late"]
    assert [source.entry for source in seen.options(exchange).results] == ["e0000002", "e0000004"]


def test_an_id_that_is_used_again_belongs_to_the_call_before() -> None:
    build = Build()
    for text in ("one", "two"):
        build.user(text)
        build.assistant([build.call(call_id="call_x")])
        build.result("call_x", f"result {text}")
    _, units = units_of(build)
    assert [unit.entries for unit in units if unit.kind == "exchange"] == [
        ("e0000001", "e0000002"),
        ("e0000004", "e0000005"),
    ]


def test_pictures_behind_a_run_of_results_stay_with_their_calls() -> None:
    build = Build("openai-completions")
    build.user("one")
    build.assistant([build.call()], stopReason="toolUse")
    build.user("two")
    build.assistant([build.call()], stopReason="toolUse")
    build.result("call_2", [{"type": "text", "text": "b"}, picture()])
    build.result("call_1", [{"type": "text", "text": "a"}, picture()])
    build.reply("three")
    seen, units = units_of(build)
    items = seen.view.items
    first, second = (unit for unit in units if unit.kind == "exchange")
    assert [items[position].source[0].entry for position in first.items if items[position].kind == "image"] == [
        "e0000005"
    ]
    assert [items[position].source[0].entry for position in second.items if items[position].kind == "image"] == [
        "e0000004"
    ]
    caption = next(position for position, item in enumerate(items) if item.text.startswith("Attached image(s)"))
    assert caption in second.items


def test_options_name_the_alternative() -> None:
    build = Build()
    build.user("one")
    build.assistant([build.call()], stopReason="aborted")
    build.result("call_1", "orphan")
    build.message("bashExecution", None, command="ls", output="a", exitCode=0)
    build.assistant([build.call()])
    build.assistant([build.call(), build.call()])
    build.result("call_3", "there")
    build.result("call_4", [picture()], failed=True)
    build.add("compaction", summary="S", firstKeptEntryId="e0000000", tokensBefore=1)
    seen, units = units_of(build)
    by_kind = {unit.kind: seen.options(unit) for unit in units}
    for kind in ("summary", "user", "orphan", "shell"):
        assert by_kind[kind].allowed == {"keep", "summarize", "drop"}
        assert set(by_kind[kind].refused) == {"limit", "point"}
        assert all("summarise" in words for words in by_kind[kind].refused.values())
    assert "new summary" in by_kind["summary"].conditions["keep"]
    unanswered, answered = (unit for unit in units if unit.kind == "exchange")
    assert seen.options(unanswered).results == ()
    assert "limit" in seen.options(unanswered).refused
    assert [source.entry for source in seen.options(answered).results] == ["e0000006"]
    assert {"limit", "point"} < seen.options(answered).allowed
