"""The parts of the client harness that need no client: a judge that can't say no would be worth nothing."""

from __future__ import annotations

import json
import urllib.request
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.clients import edits
from tests.clients.agents import AGENTS, HERE, kit
from tests.clients.client import OK, PROMPT, Call, Reply, Request
from tests.clients.differences import differences
from tests.clients.mock import Mock
from tests.clients.pi.home import models_of, moved
from tests.clients.pi.old_formats import OLD_FORMATS, as_version_1
from tests.clients.pi.requests import items_of
from tests.clients.stored import contents, mark, put_back, saved, state_of
from tests.clients.subjects import Subject, captured, samples
from tests.clients.table import Row, tally

NAMES = ("client", "ours")


def text(role: str, content: str) -> dict[str, Any]:
    return {"role": role, "type": "text", "text": content}


def test_equal_views_have_no_differences_and_any_change_is_one() -> None:
    call = {"role": "assistant", "type": "tool_call", "call_id": "c", "name": "read", "arguments": {"path": "a"}}
    result = {"role": "tool", "type": "tool_result", "call_id": "c", "text": "x" * 500}
    view = [text("user", "a"), text("user", "b"), call, result]
    assert differences(view, [text("user", "a\nb"), call, result], NAMES) == []
    for other in (
        view[:-1],
        [*view[:-1], {**result, "text": "x" * 499}],
        [*view[:2], {**call, "arguments": {"path": "b"}}, result],
        [*view, text("user", "more")],
        [text("assistant", "a"), *view[1:]],
    ):
        assert differences(view, other, NAMES)
    assert differences([], view, NAMES)[0].startswith("item 0: client: (nothing)")


def ask(mock: Mock, path: str, body: dict[str, Any]) -> str:
    request = urllib.request.Request(
        f"http://127.0.0.1:{mock.port}{path}", json.dumps(body).encode(), {"content-type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=10) as answer:
        return answer.read().decode()


@pytest.mark.parametrize("path", ["/v1/messages", "/v1/chat/completions", "/v1/responses"])
def test_the_mock_answers_every_wire_in_order_and_remembers_what_was_asked(path: str) -> None:
    first = Reply("Reading.", "Look first.", (Call("c1", "read", {"path": "ä.py"}),))
    with Mock([first, OK]) as mock:
        said = [ask(mock, path, {"model": "m", "number": number}) for number in range(3)]
    assert all(part in said[0] for part in ("Reading.", "Look first.", "c1", "read"))
    assert '"ok"' in said[1] and '"ok"' in said[2] and "Reading." not in said[1]
    assert [request.body["number"] for request in mock.requests] == [0, 1, 2]
    assert {request.path for request in mock.requests} == {path}


def test_the_session_s_part_of_a_request_is_what_lies_between_system_prompt_and_our_prompt() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "read", "arguments": '{"path": "a"}'}}
    messages = [
        {"role": "system", "content": "You help."},
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": "Reading.", "reasoning_content": "hm", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "x"},
        {"role": "user", "content": [{"type": "text", "text": PROMPT}]},
    ]
    items = items_of(Request("/v1/chat/completions", {"messages": messages}), PROMPT)
    assert items is not None
    assert [item["type"] for item in items] == ["text", "thinking", "text", "tool_call", "tool_result"]
    assert items[3]["arguments"] == {"path": "a"}
    assert items_of(Request("/v1/chat/completions", {"messages": messages[:-1]}), PROMPT) is None
    assert items_of(Request("/v1/models", {}), PROMPT) is None


def test_models_get_the_wire_of_their_replies_and_the_folder_moves_alone(tmp_path: Path) -> None:
    header = {"type": "session", "version": 3, "id": "s", "cwd": '/home/o"ne', "note": '/home/o"ne'}
    reply = {"role": "assistant", "provider": "p", "model": "m", "api": "openai-responses"}
    change = {"type": "model_change", "provider": "p", "modelId": "other"}
    data = "\n".join(json.dumps(line) for line in (header, {"type": "message", "message": reply}, change)).encode()
    assert models_of(data) == {("p", "m"): "openai-responses", ("p", "other"): "openai-responses"}
    lines = [json.loads(line) for line in moved(data, tmp_path).split(b"\n")]
    assert lines == [header | {"cwd": str(tmp_path)}, {"type": "message", "message": reply}, change]


def test_a_session_of_the_first_version_has_no_ids() -> None:
    lines = [json.loads(line) for line in as_version_1(samples("pi")[0].stored.read_bytes()).splitlines()]
    assert "version" not in lines[0] and not any({"id", "parentId"} & line.keys() for line in lines[1:])


@pytest.mark.parametrize("agent", AGENTS)
def test_there_is_enough_to_try(agent: str) -> None:
    known = kit(agent)
    names = {subject.name for subject in [*samples(agent), *known.generated]}
    small = {subject.name for subject in captured(agent)}
    assert known.edited <= names and known.by_hand <= small and len(names | small) >= 6
    assert known.own(False) is not None and (HERE / AGENTS[agent] / "install.sh").exists()


def test_pi_has_samples_and_generated_sessions_of_every_kind() -> None:
    assert len(samples("pi")) >= 2 and len(kit("pi").generated) >= 10


def test_pi_s_old_formats_are_among_the_captured_sessions() -> None:
    assert set(OLD_FORMATS) <= {subject.name for subject in captured("pi")}


def test_a_session_may_be_a_folder_and_is_put_back_as_it_was(tmp_path: Path) -> None:
    stored = tmp_path / "stored"
    (stored / "inside").mkdir(parents=True)
    (stored / "inside" / "log.jsonl").write_bytes(b"1")
    session = Subject("named", stored).put(tmp_path)
    mark(session, 0o640, 1_600_000_000_123_456_789)
    before = state_of(session)
    assert [name for name, *_ in before] == ["inside/log.jsonl"]
    copy = saved(session, tmp_path / "saved")
    (session / "inside" / "log.jsonl").write_bytes(b"2")
    (session / "more").write_bytes(b"3")
    assert contents(state_of(session)) != contents(before)
    put_back(session, copy)
    assert state_of(session) == before


def test_a_packed_file_keeps_its_endings(tmp_path: Path) -> None:
    (tmp_path / "session.jsonl.zst").write_bytes(b"packed")
    (tmp_path / "out").mkdir()
    assert Subject("case", tmp_path / "session.jsonl.zst").put(tmp_path / "out").name == "case.jsonl.zst"


def source(entry: str) -> list[dict[str, Any]]:
    return [{"entry": entry, "part": 0}]


def exchange(unit: str, *calls: str) -> list[dict[str, Any]]:
    call = {"role": "assistant", "type": "tool_call", "unit": unit, "source": source(unit)}
    result = {"role": "tool", "type": "tool_result", "origin": "stored", "unit": unit}
    asked = [call | {"call_id": c} for c in calls]
    results = [result | {"call_id": c, "text": c * 500, "source": source(c)} for c in calls]
    return [*asked, *results]


ITEMS = [*exchange("a", "1"), *exchange("b", "2"), *exchange("c", "3", "4"), *exchange("d", "5"), *exchange("e", "6")]
PLAN = {
    "session": {"fingerprint": "f"},
    "dispositions": [{"unit": unit, "what": "summarize"} for unit in "abc"],
    "cut": {"first_kept": "d"},
    "summary": {"text": "S"},
}


def test_edits_are_built_from_what_the_plan_says() -> None:
    one = next(edits.keep_one_and_drop_one(PLAN, ITEMS))
    assert Counter(one.expected.values()) == {"keep": 1, "drop": 1}
    assert [edit.first_kept for edit in edits.cut_two_back(PLAN, ITEMS)] == ["b", "a"]
    assert list(edits.cut_two_on({**PLAN, "cut": None}, ITEMS)) == []
    single = next(edits.single_results(PLAN, ITEMS))
    assert [row["source"][0]["entry"] for row in single.file["dispositions"][1:]] == ["3", "4"]


def test_an_edit_that_was_not_followed_is_noticed() -> None:
    edit = next(edits.keep_one_and_drop_one(PLAN, ITEMS))
    kept, dropped = edit.expected
    followed = [row | {"what": "drop"} if row["unit"] == dropped else row for row in PLAN["dispositions"]]
    followed = [row for row in followed if row["unit"] != kept]
    assert edits.fulfilled(edit, {**PLAN, "dispositions": followed}) == []
    assert len(edits.fulfilled(edit, PLAN)) == 2
    back = next(edits.cut_two_back(PLAN, ITEMS))
    assert edits.fulfilled(back, PLAN) and not edits.fulfilled(back, {**PLAN, "cut": {"first_kept": "b"}})


def test_the_tally_asks_for_every_disposition_of_every_client_and_counts_no_failed_row() -> None:
    every = Counter(("keep", "limit", "point", "summarize", "drop"))
    rows = [Row("pi 1", "s", "w", "append", every), Row("pi 2", "s", "w", "append", every, problems=["no"])]
    lines, missing = tally(rows, 1)
    assert len(lines) == 2 and "1 failed" in lines[1]
    assert len(missing) == 5 and all(line.startswith("pi 2: ") for line in missing)
