"""Files of OpenAI and Anthropic messages: their views, layouts, places and damage."""

from __future__ import annotations

import hashlib
import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.agents import AGENTS, agent_named
from core.agents.openai_messages import AGENT
from core.agents.openai_messages.scanning import Scanner
from core.agents.openai_messages.walking import Walker
from core.errors import ClientRefuses, NotASession, SeamlineError
from core.files import READ_SIZE, Disk
from core.opening import Opened, open_session
from core.resume import Overrides
from tests.core.message_files import (
    PIXEL,
    assert_partition,
    read_all,
    reply,
    request,
    result,
    system,
    user,
    write,
)
from tests.core.model_view import comparable

CAPTURED = Path(__file__).parent.parent / "data" / "conformance"
CASES = sorted(CAPTURED.glob("openai-messages/*/expected.json"))


def session_of(case: Path) -> Path:
    return next(path for path in case.parent.iterdir() if path.name.startswith("session"))


SESSIONS = [session_of(case) for case in CASES if "refused" not in case.parent.name]


def name_of(path: Path) -> str:
    return path.parent.name


def texts(opened: Opened) -> list[str]:
    return [item.text for item in opened.view.items]


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_view_is_what_the_definition_of_the_api_says(case: Path) -> None:
    expected = json.loads(case.read_text("utf-8"))
    if "error" in expected:
        with pytest.raises(NotASession):
            open_session(session_of(case))
    else:
        view = open_session(session_of(case)).view
        assert comparable(item.to_json() for item in view.items) == comparable(expected["items"])


def test_the_cases_are_there() -> None:
    assert len(CASES) >= 9


@pytest.mark.parametrize("path", SESSIONS, ids=name_of)
def test_every_byte_belongs_to_one_entry_or_one_damage(path: Path) -> None:
    session = AGENT.open(Disk(), path)
    assert_partition(session, path.read_bytes())
    for entry in session.entries:
        if entry.role and not entry.id.startswith("field"):
            assert json.loads(session.raw(entry))


@pytest.mark.parametrize("path", SESSIONS, ids=name_of)
def test_images_are_found_again(path: Path) -> None:
    opened = open_session(path)
    for item in opened.view.items:
        assert all(opened.session.entry(source.entry) is not None for source in item.source)
        if item.kind == "image":
            data = opened.agent.image(opened.session, item.source)
            assert data is not None
            assert hashlib.sha256(data).hexdigest() == item.sha256


def test_no_other_agent_takes_the_files_and_this_one_takes_no_others() -> None:
    for path in SESSIONS:
        assert [name for name in AGENTS if agent_named(name).detect(Disk(), path)] == ["openai-messages"]
    others = [path for path in CAPTURED.glob("*/*/*") if path.is_file() and path.name != "expected.json"]
    others = [path for path in others if "openai-messages" not in path.parts]
    assert len(others) > 50
    assert not [path for path in others if AGENT.detect(Disk(), path)]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        "[1, 2]",
        '{"input": [1, 2], "output": "x"}',
        '[{"role": "user", "name": "Ann"}]',
        '[{"role": "admin", "content": "x"}]',
        '[{"type": "function", "function": {"name": "read"}}]',
        '{"instruction": "a", "input": "b", "output": "c"}\n' * 3,
        "role: user\ncontent: x\n",
        '{"type":"user","message":{"role":"user","content":"x"},"uuid":"u"}\n',
    ],
)
def test_other_files_are_not_taken(text: str, tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    path.write_text(text, "utf-8")
    assert not AGENT.detect(Disk(), path)


# Mutated files.

ODD = [b"null", b"[]", b"{}", b'"x"', b'{"role":"user"}', b'{"role":"tool","content":[7]}', b"[" * 3000, b'{"role":5}']


def examples() -> list[bytes]:
    log = [request("gpt-4o", [user("a")], reply("b"), {"prompt_tokens": 5}, "r1")] * 2
    lines = "\n".join(map(json.dumps, log)).encode()
    odd = json.dumps([user([{"type": "file"}, 7]), {"type": "mcp_call", "output": {}}, {"type": "reasoning"}]).encode()
    return [*(path.read_bytes() for path in SESSIONS), lines, odd]


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    data = bytearray(draw(st.sampled_from(examples())))
    for _ in range(draw(st.integers(1, 4))):
        if not data:
            break
        at = draw(st.integers(0, len(data) - 1))
        end = min(len(data), at + draw(st.integers(1, 60)))
        match draw(st.sampled_from(["flip", "cut", "remove", "double", "structure", "insert", "swap"])):
            case "flip":
                data[at] ^= 1 << draw(st.integers(0, 7))
            case "cut":
                del data[at:]
            case "remove":
                del data[at:end]
            case "double":
                data[at:at] = data[at:end]
            case "structure":
                data[at] = draw(st.sampled_from(list(b'{}[]",:\\\n')))
            case "insert":
                data[at:at] = draw(st.sampled_from(ODD))
            case _:
                rows = bytes(data).split(b"\n")
                one, other = (draw(st.integers(0, len(rows) - 1)) for _ in range(2))
                rows[one], rows[other] = rows[other], rows[one]
                data = bytearray(b"\n".join(rows))
    return bytes(data)


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=mutated())
def test_damaged_files_are_read_as_far_as_they_go(data: bytes, tmp_path: Path) -> None:
    begun = time.process_time()
    read_all(tmp_path / "session.json", data)
    assert time.process_time() - begun < 5


def test_damage_ends_where_the_next_message_begins(tmp_path: Path) -> None:
    path = tmp_path / "session.json"
    whole = json.dumps([user("a"), reply("b"), user("c"), reply("d")])
    for broken in (whole.replace('"b"}', '"b"='), whole.replace('"content": "b"', '"content": "b')):
        path.write_text(broken, "utf-8")
        opened = open_session(path)
        assert texts(opened) == ["a", "c", "d"]
        assert [damage.kind for damage in opened.session.damage] == ["broken-message"]


def test_a_document_that_breaks_off_keeps_its_whole_messages(tmp_path: Path) -> None:
    path = tmp_path / "session.json"
    path.write_text(json.dumps({"model": "gpt-5", "messages": [user("a"), reply("b"), user("c")]})[:-9], "utf-8")
    opened = open_session(path)
    assert texts(opened) == ["a", "b"]
    assert [damage.kind for damage in opened.session.damage] == ["torn-tail"]
    assert opened.resume.model is not None


def test_unending_values_do_not_take_unending_time(tmp_path: Path) -> None:
    path = tmp_path / "session.json"
    data = b"[" + b'{"role":"user","content":["a"' * 20_000
    begun = time.process_time()
    read_all(path, data)
    assert time.process_time() - begun < 5


@pytest.mark.parametrize("around", [-3, -2, -1, 0, 1, 2])
def test_values_are_found_across_the_borders_of_blocks(around: int, tmp_path: Path) -> None:
    """Quotes, escapes and brackets that stand at the very border of what is read at once."""
    inner = '\\"]}\\\\'
    filler = "x" * (READ_SIZE + around - len('[{"role": "user", "content": "'))
    path = tmp_path / "session.json"
    path.write_text(
        '[{"role": "user", "content": "' + filler + inner + '"}, {"role": "user", "content": "b"}]', "utf-8"
    )
    walker = Walker(Scanner(Disk(), path, 0, path.stat().st_size)).walk()
    assert [piece.kind for piece in walker.pieces] == ["message", "message"]
    assert texts(open_session(path)) == [filler + '"]}\\', "b"]


# Layouts.


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("key", ["messages", "history", "conversation"])
def test_a_list_is_found_under_its_usual_names(key: str, indent: int | None, tmp_path: Path) -> None:
    path = write(tmp_path / "a.json", {"title": "x", key: [user("a"), reply("b")], "more": {"y": [1]}}, indent)
    opened = open_session(path)
    assert texts(opened) == ["a", "b"]
    lines = path.read_text("utf-8").split("\n")
    for entry in opened.session.entries:
        first = opened.session.raw(entry).decode().strip().split("\n")[0]
        assert first in lines[entry.line - 1]


def test_a_log_shows_its_last_request_with_the_reply_to_it(tmp_path: Path) -> None:
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "prompt_tokens_details": {"cached_tokens": 50}}
    head = [system("S"), user("one")]
    log = [
        request("gpt-4o", head, reply("a1"), usage, "r1"),
        request("gpt-4o", [*head, reply("a1"), user("two")], reply("a2"), usage, "r2"),
        request("gpt-4o", [*head, reply("title?")], reply("Title"), usage, "side"),
        request("gpt-4o", [system("S"), user("SUMMARY"), user("two"), user("three")], reply("a3"), usage, "r3"),
    ]
    path = write(tmp_path / "log.jsonl", log)
    opened = open_session(path)
    assert texts(opened) == ["S", "SUMMARY", "two", "three", "a3"]
    assert opened.resume.window is not None
    assert opened.resume.window.value == 128_000
    assert opened.usage.current == 110
    assert [point.model for point in opened.usage.points] == ["gpt-4o"] * 3
    assert [boundary.tokens_before for boundary in opened.usage.boundaries] == [110]
    seen = [(one.sight, one.item.text) for one in opened.agent.history(opened.session, opened.resume)]
    assert seen[:2] == [("dropped", "one"), ("dropped", "a1")]
    assert [sight for sight, _ in seen[2:]] == ["visible"] * 5
    second = open_session(path, leaf="line-2")
    assert texts(second) == ["S", "one", "a1", "two", "a2"]
    assert_partition(second.session, path.read_bytes())


def test_of_several_conversations_one_must_be_chosen(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", [{"messages": [system("S"), user(f"q{n}"), reply("a")]} for n in range(3)])
    with pytest.raises(ClientRefuses, match="3 conversations.*line-1"):
        open_session(path)
    assert texts(open_session(path, leaf="line-2")) == ["S", "q1", "a"]
    with pytest.raises(SeamlineError, match="line-N"):
        open_session(path, leaf="line-9")


def test_a_view_can_end_at_an_earlier_message(tmp_path: Path) -> None:
    path = write(tmp_path / "a.json", [user("a"), reply("b"), user("c")])
    second = open_session(path).session.entries[2].id
    assert texts(open_session(path, leaf=second)) == ["a", "b"]


def test_a_response_to_a_request_with_a_plain_input(tmp_path: Path) -> None:
    message = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "hey"}]}
    search = {"type": "web_search_call", "id": "ws_1", "action": {"type": "search", "query": "q", "url": None}}
    path = write(tmp_path / "a.json", {"model": "gpt-5", "input": "hello", "output": [search, message]})
    opened = open_session(path)
    assert opened.resume.wire is not None
    assert opened.resume.wire.value == "openai-responses"
    items = [(item.role, item.kind, item.text or item.arguments) for item in opened.view.items]
    assert items == [
        ("user", "text", "hello"),
        ("assistant", "tool_call", {"type": "search", "query": "q"}),
        ("assistant", "text", "hey"),
    ]
    assert not opened.view.warnings


def test_an_answer_of_anthropic_is_the_last_message(tmp_path: Path) -> None:
    usage = {"input_tokens": 10, "cache_read_input_tokens": 113_676, "cache_creation_input_tokens": 2_241}
    answer = {"id": "msg_1", "type": "message", "role": "assistant", "content": [{"type": "text", "text": "yo"}]}
    body = {"model": "claude-sonnet-4-5", "system": [{"type": "text", "text": "S"}], "messages": [user("hi")]}
    opened = open_session(write(tmp_path / "a.json", {"request": body, "response": {**answer, "usage": usage}}))
    assert texts(opened) == ["S", "hi", "yo"]
    assert opened.usage.current == 115_927
    assert opened.resume.provider is not None
    assert opened.resume.provider.value == "anthropic"


def test_everything_before_the_last_compaction_of_anthropic_is_ignored(tmp_path: Path) -> None:
    blocks = [{"type": "compaction", "content": "SUM"}, {"type": "text", "text": "go on"}]
    body = {"system": "S", "messages": [user("old"), reply(blocks), user("new")]}
    opened = open_session(write(tmp_path / "a.json", body))
    assert texts(opened) == ["S", "SUM", "go on", "new"]
    assert opened.view.items[1].mark == "summary"
    past = [(one.sight, one.item.text) for one in opened.agent.history(opened.session, opened.resume)]
    assert ("summarized", "old") in past
    assert len(opened.usage.boundaries) == 1


def test_history_on_the_server_is_said_to_be_missing(tmp_path: Path) -> None:
    body = {"input": [user("a"), {"type": "item_reference", "id": "msg_1"}], "previous_response_id": "resp_1"}
    opened = open_session(write(tmp_path / "a.json", body))
    assert sum("server" in warning for warning in opened.view.warnings) == 2


def test_old_function_calls_pair_without_ids(tmp_path: Path) -> None:
    call = {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": '{"x": 1}'}}
    path = write(tmp_path / "a.json", [user("a"), call, {"role": "function", "name": "f", "content": "42"}])
    opened = open_session(path)
    assert [unit.kind for unit in opened.units] == ["user", "exchange"]
    assert opened.view.items[1].arguments == {"x": 1}


def test_parts_that_are_neither_text_nor_image_are_named(tmp_path: Path) -> None:
    file = {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,AAAA"}}
    address = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
    path = write(tmp_path / "a.json", [user([file, address]), reply(None, refusal="no")])
    items = open_session(path).view.items
    assert [(item.kind, item.wire_type, item.text) for item in items] == [
        ("text", "file", "a.pdf, 3 bytes"),
        ("image", "", "https://example.org/a.png"),
        ("text", "", "no"),
    ]


def test_a_large_image_in_a_result_costs_what_an_image_costs(tmp_path: Path) -> None:
    large = "A" * (1 << 21)
    parts: list[Any] = [
        {"type": "text", "text": "see"},
        {"type": "image_url", "image_url": f"data:image/png;base64,{large}"},
    ]
    path = write(tmp_path / "a.json", [user("a"), reply(None, "c1"), result("c1", parts)])
    opened = open_session(path)
    assert [item.kind for item in opened.view.items[2:]] == ["tool_result", "image"]
    assert opened.view_tokens < 2_000
    assert opened.view.items[3].image_bytes == 3 << 19


def test_overrides_win(tmp_path: Path) -> None:
    path = write(tmp_path / "a.json", {"model": "gpt-4o", "messages": [user("a")]})
    known = open_session(path, Overrides(model="claude-sonnet-4-5", wire="anthropic", window=5)).resume
    assert known.model is not None
    assert known.wire is not None
    assert known.window is not None
    assert (known.model.value, known.wire.value, known.window.value) == ("claude-sonnet-4-5", "anthropic-messages", 5)


def test_the_picture_is_one(tmp_path: Path) -> None:
    source = {"type": "base64", "media_type": "image/png", "data": PIXEL}
    path = write(tmp_path / "a.json", [user([{"type": "image", "source": source}])])
    opened = open_session(path)
    data = opened.agent.image(opened.session, opened.view.items[0].source)
    assert data is not None
    assert data.startswith(b"\x89PNG")
