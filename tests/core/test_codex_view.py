"""The view of Codex sessions against requests that the real client sent, and against damaged files."""

from __future__ import annotations

import base64
import hashlib
import json
import time
import zlib
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.agents import AGENTS, agent_named, detect
from core.agents.codex import AGENT
from core.agents.codex.reading import PLACES
from core.agents.codex.rebuilding import PARTS_OF_AN_ITEM
from core.agents.codex.records import payload
from core.agents.codex.truncating import CATALOGUE, OTHERS, cut_output
from core.compressed import Unpacked, is_compressed
from core.errors import ClientRefuses, NotASession
from core.files import Disk
from core.resume import Overrides
from core.session import Session
from tests.core.codex_sessions import Rollout, call, opened, output, texts, words
from tests.core.model_view import comparable

CAPTURED = Path(__file__).parent.parent / "data" / "conformance"
CASES = sorted(CAPTURED.glob("codex*/*/expected.json"))
"""What the real client sent: `codex` tells one thing each, `codex-odd` holds odd records, rollbacks and forks."""


def name_of(path: Path) -> str:
    return path.parent.name


def session_of(case: Path) -> Path:
    found = next(path for path in case.parent.iterdir() if path.name.startswith("session"))
    return (AGENT.bundle(Disk(), found) or next(found.iterdir())) if found.is_dir() else found


SESSIONS = [session_of(case) for case in CASES]


def test_the_cases_are_there() -> None:
    assert len(CASES) >= 200


@pytest.mark.parametrize("case", CASES, ids=name_of)
@pytest.mark.parametrize("with_flags", [True, False], ids=["flags", "session"])
def test_view_is_what_the_client_sent(case: Path, with_flags: bool) -> None:
    expected = json.loads(case.read_text("utf-8"))
    overrides = Overrides()
    if with_flags:
        overrides = Overrides(client_version=expected["client_version"], model=expected["model"])
    if "error" in expected:
        with pytest.raises(ClientRefuses) as refusal:
            opened(session_of(case), overrides)
        assert "\n" not in str(refusal.value)
    else:
        shown = (item.to_json() for item in opened(session_of(case), overrides).view.items)
        assert comparable(shown) == comparable(expected["items"])


@pytest.mark.parametrize("path", SESSIONS, ids=lambda path: path.parent.name)
def test_one_agent_knows_each_session(path: Path) -> None:
    assert [name for name in AGENTS if agent_named(name).detect(Disk(), path)] == ["codex"]


def test_no_session_of_others_is_taken() -> None:
    others = [path for path in CAPTURED.rglob("*.json*") if "codex" not in path.parts[-4] + path.parts[-3]]
    assert len(others) > 100
    assert not [path for path in others if AGENT.detect(Disk(), path)]


def assert_partition(session: Session, data: bytes) -> None:
    """Every byte of the content is an entry's, with its line end, or a damage's."""
    spans: list[tuple[int, int]] = []
    for entry in session.entries:
        if entry.path is not None:
            continue
        end = entry.offset + entry.length
        end += 2 if data[end : end + 2] == b"\r\n" else data[end : end + 1] == b"\n"
        spans.append((entry.offset, end))
    spans += [(damage.offset, damage.offset + damage.length) for damage in session.damage if damage.kind in PLACES]
    at = 0
    for start, end in sorted(spans):
        assert start == at
        at = end
    assert at == len(data)


def content_of(path: Path) -> bytes:
    files = Unpacked(Disk())
    return files.read(path, 0, files.size(path))


@pytest.mark.parametrize("path", SESSIONS, ids=lambda path: path.parent.name)
def test_every_byte_belongs_to_one_entry_or_one_damage(path: Path) -> None:
    session = AGENT.open(Disk(), path)
    assert_partition(session, content_of(path))
    assert len({entry.id for entry in session.entries}) == len(session.entries)


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_every_item_names_its_place(case: Path) -> None:
    if "error" in json.loads(case.read_text("utf-8")):
        return
    seen = opened(session_of(case))
    for item in seen.view.items:
        assert item.source
        for source in item.source:
            assert seen.session.entry(source.entry) is not None
        if item.sha256:
            data = AGENT.image(seen.session, item.source)
            assert data is not None
            assert (hashlib.sha256(data).hexdigest(), len(data)) == (item.sha256, item.image_bytes)
        if item.kind == "text" and item.role == "assistant":
            assert item.text == stored_text(seen.session, item.source[0].entry, item.source[0].part)


def stored_text(session: Session, entry_id: str, part: int) -> str:
    entry = session.entry(entry_id)
    assert entry is not None
    item = payload(session, entry)
    if entry.kind == "compacted":
        number, part = divmod(part, PARTS_OF_AN_ITEM)
        item = item["replacement_history"][number]
    return item["content"][part]["text"]


# Mutated files: bit flips, cuts, and lines removed, doubled or exchanged.

SMALL = [path for path in SESSIONS if path.stat().st_size < 30_000 and not is_compressed(Disk(), path)]

ODD_LINES = [
    b"",
    b"\r",
    b"\xef\xbb\xbf",
    b"null",
    b"[]",
    b"\0\0\0",
    b"[" * 3000 + b"]" * 3000,
    b'{"type":"compacted","payload":{}}',
    b'{"timestamp":"x","type":"compacted","payload":{"message":"m","replacement_history":[{"type":"zz"},{"type":"message",'
    b'"role":"user","content":[{"type":"input_image","image_url":"data:,"}]}],"window_number":1}}',
    b'{"timestamp":"x","type":"compacted","payload":{"message":""}}',
    b'{"timestamp":"x","type":"event_msg","payload":{"type":"thread_rolled_back","num_turns":4294967295}}',
    b'{"timestamp":"x","type":"event_msg","payload":{"type":"token_count","info":{"last_token_usage":5}}}',
    b'{"timestamp":"x","type":"token_usage_record","payload":{"usage":{"input_tokens":"x"}}}',
    b'{"timestamp":"x","type":"response_item","payload":{"type":"function_call_output","call_id":"c","output":[]}}',
    b'{"timestamp":"x","type":"session_meta","payload":{"history_base":{"thread_id":"x"}}}',
]


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


def look_at_all(path: Path) -> None:
    """Ask everything of a session that may be refused."""
    session = AGENT.open(Disk(), path)
    resume = AGENT.resume(session, Overrides())
    AGENT.usage(session)
    json.dumps([seen.item.to_json() for seen in AGENT.history(session, resume)])
    AGENT.system(session, resume)
    try:
        view = AGENT.view(session, resume)
    except ClientRefuses as error:
        assert "\n" not in str(error)
        return
    json.dumps(view.to_json())
    for unit in AGENT.units(view):
        AGENT.options(view, unit)
    for item in view.items:
        if item.kind == "image":
            AGENT.image(session, item.source)


@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=mutated(), packed=st.booleans())
def test_damaged_files_are_read_or_refused(data: bytes, packed: bool, tmp_path: Path) -> None:
    path = tmp_path / ("session.jsonl.zst" if packed else "session.jsonl")
    path.write_bytes(zstandard.ZstdCompressor().compress(data) if packed else data)
    begun = time.process_time()
    assert_partition(AGENT.open(Disk(), path), data)
    try:
        assert detect(Disk(), path) is not None
    except NotASession as error:
        assert "\n" not in str(error)
    look_at_all(path)
    assert time.process_time() - begun < 5


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    data=st.data(), kind=st.sampled_from(["cut", "flip"]), at=st.integers(0, 10_000), other=st.sampled_from(SESSIONS)
)
def test_damaged_packed_files_are_read_as_far_as_they_go(
    data: st.DataObject, kind: str, at: int, other: Path, tmp_path: Path
) -> None:
    packed = bytearray(zstandard.ZstdCompressor(write_checksum=True).compress(content_of(other)[:200_000]))
    if kind == "cut":
        packed = packed[: 4 + at % (len(packed) - 4)]
    else:
        packed[4 + at % (len(packed) - 4)] ^= 1 << data.draw(st.integers(0, 7))
    path = tmp_path / "session.jsonl.zst"
    path.write_bytes(packed)
    session = AGENT.open(Disk(), path)
    assert_partition(session, content_of(path))
    look_at_all(path)


# What no captured case shows.


def test_a_broken_off_packed_file_is_refused(tmp_path: Path) -> None:
    packed = zstandard.ZstdCompressor().compress(Rollout().turn("one").bytes())
    path = tmp_path / "session.jsonl.zst"
    path.write_bytes(packed[:-5])
    with pytest.raises(ClientRefuses, match="breaks off"):
        opened(path)
    assert [damage.kind for damage in AGENT.open(Disk(), path).damage][-1] == "broken-compression"


def test_a_fork_goes_on_from_its_parents_and_no_later(tmp_path: Path) -> None:
    parent = Rollout().turn("one")
    child = parent.fork().turn("two")
    grandchild = child.fork("01a22e38-a16c-7960-9507-c9cdb17eed03").turn("three")
    parent.turn("late").write(tmp_path)
    child.turn("later").write(tmp_path)
    seen = opened(grandchild.write(tmp_path))
    assert texts(seen) == ["one", "re one", "two", "re two", "three", "re three"]
    assert AGENT.bundle(Disk(), tmp_path) == seen.session.path
    inherited = [entry for entry in seen.session.entries if entry.path is not None]
    assert {entry.path.name for entry in inherited if entry.path} == {path.name for path in tmp_path.iterdir()} - {
        seen.session.path.name
    }
    for entry in seen.session.entries:
        assert json.loads(seen.session.raw(entry))["type"] == entry.kind.split("/")[0]


def test_a_fork_finds_its_parent_by_the_day_in_its_id(tmp_path: Path) -> None:
    first, second = tmp_path / "sessions/2026/11/30", tmp_path / "sessions/2026/12/05"
    first.mkdir(parents=True)
    second.mkdir(parents=True)
    parent = Rollout().turn("one")
    parent.write(first)
    assert texts(opened(parent.fork().turn("two").write(second)))[:2] == ["one", "re one"]


def test_a_fork_of_itself_is_refused(tmp_path: Path) -> None:
    child = Rollout(history_base={"thread_id": "01a22e38-86c0-7532-a7b6-30d07a50dd01", "end_byte_offset": 5})
    with pytest.raises(ClientRefuses, match="missing source rollout"):
        opened(child.turn("x").write(tmp_path))


def test_a_day_of_strangers_is_no_bundle(tmp_path: Path) -> None:
    Rollout().turn("one").write(tmp_path)
    Rollout("01a22e38-916c-7960-9507-c9cdb17eed02").turn("two").write(tmp_path)
    assert AGENT.bundle(Disk(), tmp_path) is None


def test_a_leaf_ends_the_view(tmp_path: Path) -> None:
    path = Rollout().turn("one").turn("two").write(tmp_path)
    session = AGENT.open(Disk(), path)
    leaf = [entry.id for entry in session.entries if entry.role == "assistant"][0]
    session = AGENT.open(Disk(), path, leaf)
    view = AGENT.view(session, AGENT.resume(session, Overrides()))
    assert [item.text for item in view.items] == ["one", "re one"]


@pytest.mark.parametrize(
    ("text", "policy", "room", "mark"),
    [
        ("a" * 48_001, CATALOGUE, 24_000, "…1 tokens truncated…"),
        ("a" * 48_005, CATALOGUE, 24_000, "…2 tokens truncated…"),
        ("a" * 12_007, OTHERS, 6_000, "…7 chars truncated…"),
    ],
)
def test_outputs_are_cut_in_the_middle(text: str, policy: Any, room: int, mark: str) -> None:
    assert cut_output(text, policy) == "a" * room + mark + "a" * room
    assert cut_output(text[: policy.bytes], policy) == text[: policy.bytes]


def test_no_character_is_cut_in_two() -> None:
    kept = cut_output("a" + "中" * 20_000, OTHERS)
    assert kept.startswith("a中中")
    assert kept.endswith("中")
    assert len(kept.encode()) <= OTHERS.bytes + len("…20000 chars truncated…".encode())


def test_one_budget_for_all_texts_of_an_output() -> None:
    parts = [{"type": "input_text", "text": text} for text in ("a" * 11_999, "b" * 30, "c")]
    kept = [part["text"] for part in cut_output(parts, OTHERS)]
    assert kept == ["a" * 11_999, "…29 chars truncated…b", "[omitted 1 text items ...]"]


def test_the_model_decides_how_much_of_an_output_is_shown(tmp_path: Path) -> None:
    path = Rollout().turn("go", call("c"), output("c", "x" * 40_000)).write(tmp_path)
    assert len(texts(opened(path))[-1]) == 40_000
    assert "28000 chars truncated" in texts(opened(path, Overrides(model="local")))[-1]


def test_resume_says_where_each_value_comes_from(tmp_path: Path) -> None:
    path = Rollout().turn("one").write(tmp_path)
    resume = opened(path).resume
    assert resume.provider is not None and resume.provider.value == "openai"
    assert resume.model is not None and (resume.model.value, resume.model.source) == (
        "gpt-5.5",
        "session, line 3 (turn context)",
    )
    assert resume.window is not None and resume.window.value == 272_000
    asked = opened(path, Overrides(client_version="0.150.0", model="openai/gpt-6.1-sol", window=9)).resume
    assert asked.model is not None and (asked.model.value, asked.model.source) == ("gpt-6.1-sol", "command line")
    assert asked.window is not None and asked.window.value == 9
    assert opened(Rollout().write(tmp_path)).resume.model is not None


def test_a_window_of_its_own_is_taken_from_the_session(tmp_path: Path) -> None:
    build = Rollout().begin("one", "local-model").event("task_started", turn_id="t9", model_context_window=30_000)
    window = opened(build.write(tmp_path)).resume.window
    assert window is not None
    assert window.value == 30_000
    assert "line 5" in window.source


def test_system_prompt_and_tools_are_no_part_of_the_view(tmp_path: Path) -> None:
    tools = {"type": "additional_tools", "role": "developer", "tools": [{"type": "function", "name": "exec"}]}
    build = Rollout(base_instructions={"text": "Be brief."})
    build.item(tools).item(words("Be brief.", "developer")).item(words("permissions", "developer")).turn("one")
    seen = opened(build.write(tmp_path))
    assert texts(seen) == ["permissions", "one", "re one"]
    system = AGENT.system(seen.session, seen.resume)
    assert [(item.name, item.role) for item in system] == [("", "system"), ("exec", "system")]
    assert system[0].text == "Be brief."


def test_pictures_that_are_shrunk_are_told(tmp_path: Path) -> None:
    head = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + (4000).to_bytes(4, "big") + (10).to_bytes(4, "big") + b"\x08\x02\0\0\0"
    data = head + b"\0\0\0\0" + b"\0\0\0\x20IDAT" + zlib.compress(b"\0" * 99)
    part = {"type": "input_image", "image_url": "data:image/png;base64," + base64.b64encode(data).decode()}
    message = {"type": "message", "role": "user", "content": [part]}
    seen = opened(Rollout().item(message).write(tmp_path))
    assert [item.kind for item in seen.view.items] == ["image"]
    assert any("smaller" in warning for warning in seen.view.warnings)


def test_a_compaction_at_once_is_foreseen(tmp_path: Path) -> None:
    build = Rollout().turn("one").count(250_000, 10)
    assert any("would compact" in warning for warning in opened(build.write(tmp_path)).view.warnings)
    build.count(20_000, 10)
    assert not any("would compact" in warning for warning in opened(build.write(tmp_path)).view.warnings)
