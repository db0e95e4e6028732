"""The view of pi sessions against requests that the real clients sent, and against damaged files."""

from __future__ import annotations

import base64
import hashlib
import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.agents import detect
from core.agents.pi import AGENT
from core.agents.pi.javascript import sent_json
from core.agents.pi.reading import PLACES
from core.agents.pi.records import record
from core.agents.pi.wires.common import short_hash
from core.errors import ClientRefuses, NotASession
from core.files import Disk
from core.opening import open_session
from core.resume import Overrides
from core.session import Session
from core.view import View
from tests.core.model_view import comparable

CAPTURED = Path(__file__).parent.parent / "data" / "conformance"
CASES = sorted(CAPTURED.glob("pi*/*/expected*.json"))
"""What the real clients sent: `pi` and `pi-0.73.1` tell one thing each, `pi-odd` holds records of odd types and places,
`pi-random` sessions put together at random."""

SESSIONS = sorted({expected.with_name("session.jsonl") for expected in CASES})


def name_of(path: Path) -> str:
    return "-".join((*path.parts[-3:-1], path.stem.removeprefix("expected").strip("-"))).removesuffix("-")


def expected_of(case: Path) -> dict[str, Any]:
    return json.loads(case.read_text("utf-8"))


def view_of(path: Path, overrides: Overrides | None = None) -> View:
    return open_session(path, overrides).view


def shown(view: View) -> list[dict[str, Any]]:
    return comparable(item.to_json() for item in view.items)


@pytest.mark.parametrize("case", CASES, ids=name_of)
@pytest.mark.parametrize("with_flags", [True, False], ids=["flags", "session"])
def test_view_is_what_the_client_sent(case: Path, with_flags: bool) -> None:
    expected = expected_of(case)
    version = expected["client_version"]
    overrides = Overrides(client_version=version)
    if with_flags:
        overrides = Overrides(client_version=version, model=expected.get("model"), wire=expected.get("wire"))
    session = case.with_name("session.jsonl")
    if "error" in expected:
        with pytest.raises(ClientRefuses) as refusal:
            view_of(session, overrides)
        assert "\n" not in str(refusal.value)
    else:
        assert shown(view_of(session, overrides)) == comparable(expected["items"])


def test_the_cases_are_there() -> None:
    assert len(CASES) >= 250


def spans(session: Session, data: bytes) -> list[tuple[int, int]]:
    """The places that entries (with their line ends) and damage take up, in order."""
    ends = [(entry.offset, entry.offset + entry.length) for entry in session.entries]
    whole = []
    for start, stop in ends:
        end = stop
        if data[end : end + 2] == b"\r\n":
            end += 2
        elif data[end : end + 1] == b"\n":
            end += 1
        whole.append((start, end))
    whole += [(damage.offset, damage.offset + damage.length) for damage in session.damage if damage.kind in PLACES]
    return sorted(whole)


def assert_partition(session: Session, data: bytes) -> None:
    at = 0
    for start, end in spans(session, data):
        assert start == at
        at = end
    assert at == len(data)


@pytest.mark.parametrize("path", SESSIONS, ids=name_of)
def test_every_byte_belongs_to_one_entry_or_one_damage(path: Path) -> None:
    session = AGENT.open(Disk(), path)
    assert_partition(session, path.read_bytes())
    for entry in session.entries:
        assert session.raw(entry) in path.read_bytes().replace(b"\r", b"").split(b"\n") or entry.offset == 3


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_every_stored_item_names_its_place(case: Path) -> None:
    expected = expected_of(case)
    if "error" in expected:
        return
    opened = open_session(case.with_name("session.jsonl"), Overrides(client_version=expected["client_version"]))
    for item in opened.view.items:
        assert item.origin == "repair" or item.source
        for source in item.source:
            assert opened.session.entry(source.entry) is not None
        if item.kind == "image":
            data = opened.agent.image(opened.session, item.source)
            assert data is not None
            assert (hashlib.sha256(data).hexdigest(), len(data)) == (item.sha256, item.image_bytes)
        if item.kind == "text" and not item.mark and len(item.source) == 1:
            place = item.source[0]
            entry = opened.session.entry(place.entry)
            assert entry is not None
            stored = record(opened.session, entry)["message"]["content"]
            part = stored if isinstance(stored, str) else stored[place.part]
            text = part if isinstance(part, str) else part.get("text", part.get("thinking"))
            assert "".join(c for c in text if not "\ud800" <= c <= "\udfff") == item.text


# Mutated files: bit flips, cuts, and lines removed, doubled or exchanged.

SMALL = [path for path in SESSIONS if path.stat().st_size < 60_000]


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    data = bytearray(draw(st.sampled_from(SMALL)).read_bytes())
    for _ in range(draw(st.integers(1, 6))):
        lines = bytes(data).split(b"\n")
        at = draw(st.integers(0, len(lines) - 1))
        match draw(st.sampled_from(["flip", "cut", "remove", "double", "swap", "insert"])):
            case "flip" if data:
                data[draw(st.integers(0, len(data) - 1))] ^= 1 << draw(st.integers(0, 7))
                continue
            case "cut":
                data = data[: draw(st.integers(0, len(data)))]
                continue
            case "remove":
                del lines[at]
            case "double":
                lines.insert(at, lines[at])
            case "swap":
                other = draw(st.integers(0, len(lines) - 1))
                lines[at], lines[other] = lines[other], lines[at]
            case _:
                lines.insert(at, draw(st.sampled_from(ODD_LINES)))
        data = bytearray(b"\n".join(lines))
    return bytes(data)


ODD_LINES = [
    b"",
    b"\r",
    b"\xef\xbb\xbf",
    b"null",
    b"[]",
    b"0",
    b'{"type":"session"}',
    b"{}",
    b"\0\0\0",
    b"[" * 3000 + b"]" * 3000,
    b'{"type":"message","id":"e0000001","parentId":"e0000004"}',
    b'{"type":"message","id":7,"parentId":7,"message":{"role":"user","content":5}}',
    b'{"type":"context_edit","id":"x1","parentId":"e0000002","targetId":"e0000002"}',
    b'{"type":"compaction","id":"x2","parentId":"e0000003","firstKeptEntryId":{}}',
    b'{"type":"message","id":"x3","parentId":"e0000003","message":{"role":"assistant","content":[{"type":"toolCall"}]}}',
    b'{"type":"message","id":"x4","parentId":"e0000003","message":{"role":"toolResult","content":[{"type":"image"}]}}',
]


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=mutated(), version=st.sampled_from(["1.6.0", "0.73.1"]))
def test_damaged_files_are_read_or_refused(data: bytes, version: str, tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    path.write_bytes(data)
    begun = time.process_time()
    session = AGENT.open(Disk(), path)
    assert_partition(session, data)
    try:
        opened = open_session(path, Overrides(client_version=version))
        json.dumps(opened.view.to_json())
        opened.agent.system(opened.session, opened.resume)
        for item in opened.view.items:
            if item.kind == "image":
                opened.agent.image(opened.session, item.source)
    except (ClientRefuses, NotASession) as error:
        assert "\n" not in str(error)
    assert time.process_time() - begun < 5


# What no captured case shows.

HEADER = {"type": "session", "version": 3, "id": "s", "timestamp": "2026-05-28T20:26:40.000Z", "cwd": "/srv/demo"}
USAGE = {"input": 1, "output": 1, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 2}


def user(content: Any) -> dict[str, Any]:
    return {"type": "message", "message": {"role": "user", "content": content}}


def reply(*parts: dict[str, Any], api: str = "anthropic-messages", model: str = "m-1", **more: Any) -> dict[str, Any]:
    fields = {"provider": "p", "model": model, "api": api, "usage": USAGE, "stopReason": "stop", **more}
    return {"type": "message", "message": {"role": "assistant", "content": list(parts), **fields}}


def result(call_id: str, *parts: dict[str, Any]) -> dict[str, Any]:
    message = {"role": "toolResult", "toolCallId": call_id, "toolName": "bash", "content": list(parts)}
    return {"type": "message", "message": message}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def call(call_id: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "toolCall", "id": call_id, "name": "bash", "arguments": arguments}


def write(path: Path, *records: dict[str, Any], header: dict[str, Any] | None = HEADER) -> Path:
    """A session of these records, chained where they do not say otherwise."""
    lines = [] if header is None else [header]
    parent = None
    for number, value in enumerate(records, 1):
        chained = {"id": f"e{number}", "parentId": parent, "timestamp": "2026-05-28T20:26:41.000Z", **value}
        parent = chained["id"]
        lines.append(chained)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "session.jsonl"


def test_a_call_without_result_gets_one_made_up_that_names_the_call(path: Path) -> None:
    view = view_of(write(path, user("go"), reply(text("a"), call("c1")), user("stop")))
    made_up = [item for item in view.items if item.origin == "repair"]
    assert [(item.kind, item.text, item.call_id, item.is_error) for item in made_up] == [
        ("tool_result", "No result provided", "c1", True)
    ]
    assert made_up[0].source[0].entry == "e2"
    assert any("c1" in warning for warning in view.warnings)


def test_an_edited_result_names_its_target_first_and_the_edit_second(path: Path) -> None:
    edit = {"type": "context_edit", "targetId": "e3", "replacement": {"content": "short"}}
    view = view_of(write(path, user("go"), reply(call("c1")), result("c1", text("long")), edit))
    edited = next(item for item in view.items if item.kind == "tool_result")
    assert (edited.text, [source.entry for source in edited.source]) == ("short", ["e3", "e4"])


def test_an_older_client_does_not_know_edits(path: Path) -> None:
    edit = {"type": "context_edit", "targetId": "e1", "replacement": None}
    write(path, user("go"), reply(text("a")), edit)
    assert [item.text for item in view_of(path).items] == ["a"]
    assert [item.text for item in view_of(path, Overrides(client_version="0.73.1")).items] == ["go", "a"]
    assert [item.text for item in view_of(path, Overrides(client_version="0.87.0")).items] == ["a"]


def test_an_edit_without_replacement_is_refused_only_where_it_is_followed(path: Path) -> None:
    write(path, user("go"), reply(text("a")), {"type": "context_edit", "targetId": "e1"})
    with pytest.raises(ClientRefuses, match="line 4"):
        view_of(path)
    assert len(view_of(path, Overrides(client_version="0.73.1")).items) == 2


def test_null_contents_are_empty_for_the_new_client_and_refused_by_the_old_one(path: Path) -> None:
    write(path, user("go"), reply(text("a")), user(None))
    assert len(view_of(path).items) == 2
    with pytest.raises(ClientRefuses, match="null"):
        view_of(path, Overrides(client_version="0.73.1"))


def test_a_reply_that_was_put_off_stays(path: Path) -> None:
    view = view_of(write(path, user("go"), reply(text("a"), stopReason="deferred")))
    assert [item.text for item in view.items] == ["go", "a"]


def test_a_model_without_image_input_gets_one_placeholder_a_run(path: Path) -> None:
    from dataclasses import replace

    image = {"type": "image", "data": base64.b64encode(b"png").decode(), "mimeType": "image/png"}
    content = [image, image, text("between"), image]
    write(path, user(content), reply(call("c1")), result("c1", image), user("go on"))
    opened = open_session(path)
    assert [item.kind for item in opened.view.items].count("image") == 4
    blind = opened.agent.view(opened.session, replace(opened.resume, image_input=False))
    placeholder = "(image omitted: model does not support images)"
    assert [item.text for item in blind.items[:3]] == [placeholder, "between", placeholder]
    assert blind.items[4].text == "(tool image omitted: model does not support images)"


def test_wires_keep_and_drop_unsigned_thinking_of_their_own_model(path: Path) -> None:
    thought = {"type": "thinking", "thinking": "hm"}
    seen = {}
    for wire in ("anthropic-messages", "openai-completions", "openai-responses"):
        write(path, user("go"), reply(thought, text("a"), api=wire))
        seen[wire] = [(item.kind, item.text) for item in view_of(path).items[1:]]
    assert seen["anthropic-messages"] == [("text", "hm"), ("text", "a")]
    assert seen["openai-completions"] == seen["openai-responses"] == [("text", "a")]


def test_reasoning_details_go_back_opaque(path: Path) -> None:
    details = json.dumps([{"type": "reasoning.encrypted", "data": "x", "id": "r1"}])
    thought = {"type": "thinking", "thinking": "hm", "thinkingSignature": details}
    view = view_of(write(path, user("go"), reply(thought, text("a"), api="openai-completions")))
    assert [(item.kind, item.opaque, item.text) for item in view.items[1:]] == [
        ("thinking", True, ""),
        ("text", False, "a"),
    ]


def test_foreign_call_ids_on_the_responses_wire(path: Path) -> None:
    long = "a" * 70 + "|fc_1"
    records = [user("go"), reply(call("x:1__"), call(long)), result("x:1__", text("1")), result(long, text("2"))]
    write(path, *records, {"type": "model_change", "provider": "openai", "modelId": "gpt"})
    ids = [item.call_id for item in view_of(path).items if item.call_id]
    assert ids == ["x_1", "a" * 64] * 2


def test_the_short_hash_is_that_of_the_client() -> None:
    # From the client's own function, for these three texts.
    assert [short_hash(text) for text in ("", "fc_1", "\U0001f600é")] == [
        "k4n83c7h0j2b",
        "lxmq3j1alksqn",
        "lbk9325860g2",
    ]


def test_numbers_arrive_as_doubles() -> None:
    sent = sent_json({"a": 12345678901234567890, "b": [1e400, 2**53, 1.0, True], "c": 10**25})
    assert sent == {"a": 12345678901234567000, "b": [None, 2**53, 1, True], "c": 1e25}


def test_the_wire_is_that_of_the_replies_of_the_model(path: Path) -> None:
    write(
        path,
        user("go"),
        reply(text("a"), api="openai-responses", model="m-1"),
        reply(text("b"), api="anthropic-messages", model="m-2"),
        {"type": "model_change", "provider": "p", "modelId": "m-1"},
    )
    resume = open_session(path).resume
    assert resume.model is not None and resume.wire is not None and resume.provider is not None
    assert (resume.provider.value, resume.model.value, resume.wire.value) == ("p", "m-1", "openai-responses")
    other = open_session(path, Overrides(model="m-2", window=1000)).resume
    assert other.wire is not None and other.window is not None and other.provider is not None
    assert (other.provider.value, other.wire.value, other.window.value) == ("p", "anthropic-messages", 1000)


def test_a_record_without_id_at_the_end_forgets_everything(path: Path) -> None:
    write(path, user("go"), reply(text("a")))
    path.write_text(path.read_text() + "[]\n")
    opened = open_session(path)
    assert (opened.view.items, opened.session.leaf) == ((), None)
    assert any("no id" in warning for warning in opened.view.warnings)


def test_values_that_count_as_nothing_are_skipped_and_null_breaks_the_old_client(path: Path) -> None:
    write(path, user("go"), reply(text("a")))
    path.write_text(path.read_text() + 'null\n0\nfalse\n""\n')
    assert [item.text for item in view_of(path).items] == ["go", "a"]
    with pytest.raises(ClientRefuses, match="null"):
        view_of(path, Overrides(client_version="0.73.1"))


def test_an_empty_file_and_a_pretty_printed_one(path: Path) -> None:
    path.write_bytes(b"")
    assert view_of(path).items == ()
    path.write_text(json.dumps([HEADER, user("go")], indent=2))
    with pytest.raises(ClientRefuses, match="JSON Lines"):
        view_of(path)


def test_other_files_are_no_sessions_of_pi(path: Path) -> None:
    for content in ("hello\n", '{"type":"user","uuid":"1","message":{"role":"user","content":"x"}}\n', "[1,2]\n"):
        path.write_text(content)
        with pytest.raises(NotASession):
            detect(Disk(), path)


def test_an_earlier_leaf_shows_an_earlier_view(path: Path) -> None:
    write(path, user("go"), reply(text("a")), user("more"))
    opened = open_session(path, leaf="e2")
    assert [item.text for item in opened.view.items] == ["go", "a"]
    assert opened.session.leaf == "e2"


def test_stored_system_prompts_are_replayed(path: Path) -> None:
    first = {
        "role": "system",
        "content": "base",
        "sections": {"rules": "old rules", "docs": "docs"},
        "toolsAdded": [{"name": "read", "description": "d"}, {"name": "bash", "description": "d"}],
    }
    later = {"role": "system", "content": "", "sections": {"rules": "new rules", "docs": None}}
    later["toolsRemoved"] = [{"name": "bash"}]
    records = [{"type": "message", "message": first}, user("go"), {"type": "message", "message": later}]
    opened = open_session(write(path, *records))
    items = opened.agent.system(opened.session, opened.resume)
    assert [(item.text, item.source[0].entry) for item in items if not item.name] == [
        ("base", "e1"),
        ("new rules", "e3"),
    ]
    assert [item.name for item in items if item.name] == ["read"]
    assert [item.text for item in opened.view.items] == ["go"]


def test_an_overlay_shows_the_after_view(path: Path) -> None:
    from core.files import Overlay
    from core.patch import Append, Patch

    write(path, user("go"), reply(text("a")), user("more"))
    line = json.dumps({"type": "compaction", "id": "k", "parentId": "e3", "summary": "S", "firstKeptEntryId": "e3"})
    data = line.encode() + b"\n"
    patch = Patch((Append(path, path.stat().st_size, data),), path, "append")
    view = open_session(path, files=Overlay(Disk(), patch)).view
    assert [item.mark for item in view.items] == ["summary", ""]
    assert len(view_of(path).items) == 3
