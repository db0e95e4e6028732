"""The parts of Codex's harness that need no client: what of a request is the session's own, and where rollouts lie."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.clients.client import PROMPT
from tests.clients.codex.home import STAND_IN, model_of, place, start_of
from tests.clients.codex.requests import Stored, items_of
from tests.clients.subjects import samples
from tests.core.codex_sessions import THREAD, Rollout, call, output, words

BOX = "/tmp/box"
CONTEXT = words("<environment_context>/srv</environment_context>")


def seen(stored: bytes, *items: dict[str, Any], tools: bool = True) -> list[str] | None:
    body = {"input": [*items, words(PROMPT)], "tools": [{"name": "exec_command"}] if tools else None}
    found = items_of(body, PROMPT, Stored([stored]), BOX)
    return None if found is None else [str(item.get("text", item["type"])) for item in found]


def test_what_stands_in_the_session_is_its_own_and_what_is_made_afresh_is_not() -> None:
    session = Rollout().item(CONTEXT).turn("go", call("c"), output("c", "x")).bytes()
    system, fresh = words("You are Codex.", "developer"), words(f"<permissions instructions>{BOX}", "developer")
    own = (CONTEXT, words("go"), call("c"), output("c", "x"))
    texts = ["<environment_context>/srv</environment_context>", "go", "tool_call", "x"]
    assert seen(session, system, *own) == texts
    assert seen(session, system, *own, fresh, words("new context")) == texts
    assert seen(session, *own, tools=False) == texts
    assert items_of({"input": list(own)}, PROMPT, Stored([session]), BOX) is None


def test_a_context_that_a_checkpoint_took_away_counts_as_fresh_when_it_comes_again() -> None:
    build = Rollout().item(CONTEXT).turn("go").compact([words("go")])
    assert seen(build.bytes(), words("go"), CONTEXT, tools=False) == ["go"]
    kept = build.compact([words("go"), CONTEXT])
    assert seen(kept.bytes(), words("go"), CONTEXT, tools=False) == [
        "go",
        "<environment_context>/srv</environment_context>",
    ]


def test_tools_and_system_prompt_that_travel_as_items_are_no_part_of_the_view() -> None:
    tools = {"type": "additional_tools", "role": "developer", "tools": []}
    assert seen(b"", tools, words("You are Codex.", "developer"), call("c"), tools=False) == ["tool_call"]


def test_a_rollout_is_placed_by_its_day_and_taken_along_with_its_kin(tmp_path: Path) -> None:
    session = Rollout().turn("one").write(tmp_path, "session.jsonl")
    first = place(session, tmp_path / "first")
    assert first.relative_to(tmp_path / "first").parts[:4] == ("sessions", "2026", "11", "30")
    assert THREAD in first.name and STAND_IN in first.read_bytes()
    beside = first.with_name(first.name.replace("49-46", "50-00"))
    beside.write_bytes(b"")
    again = place(first, tmp_path / "again")
    assert again.read_bytes() == first.read_bytes() and again.with_name(beside.name).exists()
    assert model_of(again) == "gpt-5.5" and start_of(again)["id"] == THREAD


def test_a_sample_is_one_folder_with_one_rollout(tmp_path: Path) -> None:
    for sample in samples("codex"):
        assert place(sample.put(tmp_path), tmp_path / sample.name / "home").name.startswith("rollout-")
