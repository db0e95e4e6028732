"""The view of Claude Code's sessions against requests that the real client sent, and against damaged files."""

from __future__ import annotations

import hashlib
import json
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.agents import detect
from core.agents.claude_code import AGENT
from core.agents.claude_code.reading import PLACES
from core.errors import ClientRefuses, NotASession, SeamlineError
from core.files import Disk
from core.opening import open_session
from core.resume import Overrides
from core.session import Session
from core.view import pair_up
from tests.core.claude_sessions import SESSION, Build, call, own, thought, told
from tests.core.model_view import comparable

CAPTURED = Path(__file__).parent.parent / "data" / "conformance"
CASES = sorted(CAPTURED.glob("claude-code*/*/expected.json"))
"""What 2.1.332 sent: `claude-code` tells one thing each, `claude-code-odd` holds odd lines, and lines in odd places."""


def session_of(case: Path) -> Path:
    plain = case.with_name("session.jsonl")
    return plain if plain.exists() else next(case.with_name("session").glob("*.jsonl"))


SESSIONS = sorted(map(session_of, CASES))


def name_of(path: Path) -> str:
    return path.parent.name if path.name in ("expected.json", "session.jsonl") else path.parent.parent.name


EMPTY = [case for case in CASES if session_of(case).stat().st_size == 0]


@pytest.mark.parametrize("case", [case for case in CASES if case not in EMPTY], ids=name_of)
@pytest.mark.parametrize("with_flags", [True, False], ids=["flags", "session"])
def test_view_is_what_the_client_sent(case: Path, with_flags: bool) -> None:
    expected = json.loads(case.read_text("utf-8"))
    model = expected.get("model") if with_flags else None
    overrides = Overrides(client_version=expected["client_version"], model=model)
    if "error" in expected:
        with pytest.raises(ClientRefuses) as refusal:
            open_session(session_of(case), overrides)
        assert "\n" not in str(refusal.value)
    else:
        view = open_session(session_of(case), overrides).view
        assert comparable(item.to_json() for item in view.items) == comparable(expected["items"])


def test_the_cases_are_there() -> None:
    assert len(CASES) >= 220
    assert len(EMPTY) == 1


@pytest.mark.parametrize("case", EMPTY, ids=name_of)
def test_an_empty_file_holds_no_session(case: Path) -> None:
    session = AGENT.open(Disk(), session_of(case))
    with pytest.raises(ClientRefuses, match="No conversation found"):
        AGENT.view(session, AGENT.resume(session, Overrides()))


def test_only_this_agent_takes_its_sessions_and_no_others() -> None:
    disk = Disk()
    for path in CAPTURED.glob("*/*/session*"):
        files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
        for file in files:
            mine = path.parent.parent.name.startswith("claude-code") and file.suffix == ".jsonl"
            if file.stat().st_size:
                assert AGENT.detect(disk, file) == mine, file
                assert not mine or detect(disk, file).name == "claude-code"


def spans(session: Session, data: bytes) -> list[tuple[int, int]]:
    """The places that entries (with their line ends) and damage take up, in order."""
    whole: list[tuple[int, int]] = []
    for entry in session.entries:
        end = entry.offset + entry.length
        if data[end : end + 2] == b"\r\n":
            end += 2
        elif data[end : end + 1] == b"\n":
            end += 1
        whole.append((entry.offset, end))
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
    stored = path.read_bytes().replace(b"\r", b"").split(b"\n")
    assert all(session.raw(entry) in stored or entry.offset == 3 for entry in session.entries)


@pytest.mark.parametrize("case", [case for case in CASES if case not in EMPTY], ids=name_of)
def test_every_stored_item_names_its_place(case: Path) -> None:
    try:
        opened = open_session(session_of(case), Overrides(client_version="2.1.332"))
    except ClientRefuses:
        return
    for item in opened.view.items:
        assert item.source
        assert all(opened.session.entry(source.entry) is not None for source in item.source)
        if item.kind == "image":
            data = opened.agent.image(opened.session, item.source)
            assert data is not None
            assert (hashlib.sha256(data).hexdigest(), len(data)) == (item.sha256, item.image_bytes)
    covered = [at for unit in opened.units for at in unit.items]
    assert sorted(covered) == list(range(len(opened.view.items)))
    unit_of = {at: unit for unit in opened.units for at in unit.items}
    assert all(unit_of[call] is unit_of[result] for call, result in pair_up(opened.view.items).pairs)
    visible = {s.entry for seen in opened.agent.history(opened.session, opened.resume) for s in seen.item.source}
    assert {item.source[0].entry for item in opened.view.items if item.origin == "stored"} <= visible


# Mutated files: bit flips, cuts, and lines removed, doubled or exchanged.

SMALL = [path for path in SESSIONS if 0 < path.stat().st_size < 30_000]

ODD_LINES = [
    b"",
    b"\r",
    b"\xef\xbb\xbf",
    b"null",
    b"[]",
    b"{}",
    b"\0\0\0",
    b"[" * 3000 + b"]" * 3000,
    b'{"type":"user","uuid":"x1","parentUuid":"x1","sessionId":"s"}',
    b'{"type":"user","uuid":7,"parentUuid":[],"isSidechain":"no","message":{"role":"user","content":5}}',
    b'{"type":"assistant","uuid":"x2","parentUuid":"x3","sessionId":"s","message":{"id":[],"content":[{"type":{}}]}}',
    b'{"type":"assistant","uuid":"x3","parentUuid":"x2","sessionId":"s","message":{"content":[{"type":"tool_use"}]}}',
    b'{"type":"attachment","uuid":"x4","parentUuid":"x2","sessionId":"s","rendered":[{"content":7},{"content":"hi"}]}',
    b'{"type":"system","subtype":"compact_boundary","uuid":"x5","isSidechain":false,"compactMetadata":{"preservedMessages":'
    b'{"uuids":["x2","x3","x2",5],"anchorUuid":"x2"}}}',
    b'{"type":"user","uuid":"x6","sessionId":"s","message":{"content":[{"type":"image"},{"type":"tool_result"},9]}}',
    b'{"type":"last-prompt","leafUuid":"x2"}',
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
                lines.insert(draw(st.integers(0, len(lines))), lines[at])
            case "swap":
                other = draw(st.integers(0, len(lines) - 1))
                lines[at], lines[other] = lines[other], lines[at]
            case _:
                lines.insert(at, draw(st.sampled_from(ODD_LINES)))
        data = bytearray(b"\n".join(lines))
    return bytes(data)


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=mutated())
def test_damaged_files_are_read_or_refused(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    path.write_bytes(data)
    begun = time.process_time()
    session = AGENT.open(Disk(), path)
    assert_partition(session, data)
    try:
        resume = AGENT.resume(session, Overrides())
        view = AGENT.view(session, resume)
    except (ClientRefuses, NotASession) as error:
        assert "\n" not in str(error)
    else:
        json.dumps(view.to_json())
        assert pair_up([*view.items, *view.fresh]).unanswered == ()
        AGENT.system(session, resume)
        AGENT.usage(session)
        list(AGENT.history(session, resume))
        for unit in AGENT.units(view):
            AGENT.options(view, unit)
        for item in view.items:
            if item.kind == "image":
                AGENT.image(session, item.source)
    assert time.process_time() - begun < 5


# What no captured case shows, or shows too large.


@pytest.mark.parametrize("padding, back", [((5 << 20) - 6000, True), (5 << 20, False)], ids=["below", "above"])
def test_a_large_file_is_read_from_its_last_boundary_on(tmp_path: Path, padding: int, back: bool) -> None:
    build = Build().turns(1, 2)
    build.user("pad", toolUseResult="y" * padding)
    build.reply("end")
    build.boundary("B")
    build.summary("S")
    build.leaf("end")
    seen = build.open(tmp_path)
    assert told(seen) == (["q1", "a1", "q2", "a2", "pad", "end"] if back else ["SUMMARY S"])
    kinds = {damage.kind for damage in seen.session.damage}
    assert kinds == ({"stale-leaf"} if back else {"large-file", "stale-leaf"})


def test_a_leaf_can_be_chosen(tmp_path: Path) -> None:
    build = Build().turns(1, 2)
    build.user("other", parent="a1")
    build.reply("branch")
    build.write(tmp_path / "s.jsonl")
    assert told(open_session(tmp_path / "s.jsonl")) == ["q1", "a1", "other", "branch"]
    assert told(open_session(tmp_path / "s.jsonl", leaf=own("a2"))) == ["q1", "a1", "q2", "a2"]
    with pytest.raises(SeamlineError, match="no entry 'nowhere'"):
        open_session(tmp_path / "s.jsonl", leaf="nowhere")


def test_a_leaf_before_the_boundary_shows_the_history_of_then(tmp_path: Path) -> None:
    build = Build().turns(1, 2, 3)
    build.boundary("B", ["a3"], "S")
    build.summary("S")
    path = build.write(tmp_path / "s.jsonl")
    assert told(open_session(path)) == ["SUMMARY S", "a3"]
    assert told(open_session(path, leaf=own("a2"))) == ["q1", "a1", "q2", "a2"]


def test_the_model_decides_whose_thinking_is_sent(tmp_path: Path) -> None:
    build = Build()
    build.user("q")
    build.reply("t1", thought("mine"), {"type": "text", "text": "one"})
    build.user("n")
    build.reply("t2", thought("other's"), {"type": "text", "text": "two"}, model="claude-haiku-4-5")
    assert told(build.open(tmp_path)) == ["q", "mine", "one", "n", "two"]
    seen = build.open(tmp_path, model=None)
    assert told(seen) == ["q", "one", "n", "other's", "two"]
    assert seen.resume.model is not None and seen.resume.model.value == "claude-haiku-4-5"
    assert seen.resume.window is not None and seen.resume.window.value == 200_000
    assert told(build.open(tmp_path, model="anthropic/claude-opus-5-5"))[1] == "mine"


def test_what_is_made_up_is_fresh(tmp_path: Path) -> None:
    build = Build()
    build.user("q")
    build.reply("c", call("1"))
    seen = build.open(tmp_path)
    assert told(seen) == ["q", "tool_call toolu_1"]
    assert [(item.role, item.kind, item.call_id, item.origin) for item in seen.view.fresh] == [
        ("tool", "tool_result", "toolu_1", "repair"),
        ("assistant", "text", "", "repair"),
    ]


def test_a_sub_agents_own_file_is_shown(tmp_path: Path) -> None:
    build = Build()
    build.user("task", isSidechain=True, agentId="abc")
    build.reply("report", isSidechain=True, agentId="abc")
    path = build.write(tmp_path / "agent-abc.jsonl")
    seen = open_session(path)
    assert told(seen) == ["task", "report"]
    assert seen.session.identity == "abc"
    assert "sub-agent" in seen.view.warnings[0]
    with pytest.raises(ClientRefuses):
        open_session(build.write(tmp_path / f"{SESSION}.jsonl"))


def test_other_versions_are_shown_with_a_warning(tmp_path: Path) -> None:
    build = Build().turns(1)
    path = build.write(tmp_path / "s.jsonl")
    warnings = open_session(path, Overrides(client_version="1.0.77")).view.warnings
    assert any("1.0.77 is not modelled exactly" in words for words in warnings)
    assert open_session(path, Overrides(client_version="2.1.332")).view.warnings == ()
