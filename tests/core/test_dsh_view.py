"""The view of dsh's sessions against requests that the real client sent, and against damaged logs."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.agents import AGENTS, agent_named, bundle, detect
from core.agents.dsh import AGENT
from core.agents.dsh.reading import PLACES
from core.errors import ClientRefuses, NotASession, SeamlineError
from core.files import Disk
from core.findings import check_session
from core.opening import Opened, open_session
from core.resume import Overrides
from core.session import Session
from tests.core.dsh_sessions import MODEL, Build, call, frames, text, usual
from tests.core.model_view import comparable

CASES = sorted((Path(__file__).parent.parent / "data" / "conformance" / "dsh").glob("*/expected.json"))
"""What 0.1.0-rc.8 sent."""


def session_of(case: Path) -> Path:
    plain = case.with_name("session.jsonl.zstd")
    found = plain if plain.exists() else bundle(Disk(), case.with_name("session"))
    assert found is not None
    return found


def name_of(case: Path) -> str:
    return case.parent.name


def texts(opened: Opened) -> list[str]:
    return [item.text for item in opened.view.items]


@pytest.mark.parametrize("case", CASES, ids=name_of)
@pytest.mark.parametrize("with_flags", [True, False], ids=["flags", "session"])
def test_view_is_what_the_client_sent(case: Path, with_flags: bool) -> None:
    expected = json.loads(case.read_text("utf-8"))
    overrides = Overrides(client_version=expected["client_version"]) if with_flags else Overrides()
    if "error" not in expected:
        view = open_session(session_of(case), overrides).view
        assert comparable(item.to_json() for item in view.items) == comparable(expected["items"])
        return
    with pytest.raises(ClientRefuses) as refusal:
        open_session(session_of(case), overrides)
    reason = expected["error"].rpartition(" | ")[2].partition(" (raw log: ")[0]
    assert reason in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_the_cases_are_there() -> None:
    assert len(CASES) >= 28


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_each_log_is_known_by_one_agent_and_in_parts_that_fit(case: Path) -> None:
    path, disk = session_of(case), Disk()
    assert [name for name in AGENTS if agent_named(name).detect(disk, path)] == ["dsh"]
    session = AGENT.open(disk, path)
    assert_partition(session)
    resume = AGENT.resume(session, Overrides())
    seen = list(AGENT.history(session, resume))
    try:
        view = AGENT.view(session, resume)
    except ClientRefuses:
        return
    assert [one.item for one in seen if one.sight == "visible"] == list(view.items)
    units = AGENT.units(view)
    assert sorted(position for unit in units for position in unit.items) == list(range(len(view.items)))
    assert len({unit.id for unit in units}) == len(units)
    for unit in units:
        options = AGENT.options(view, unit)
        assert {"keep", "limit", "point", "summarize", "drop"} == options.allowed | options.refused.keys()


def assert_partition(session: Session) -> None:
    """Every byte of the content belongs to one entry, with its line end, or to one damage."""
    size, at = session.files.size(session.path), 0
    places = [(one.offset, one.length, False) for one in session.damage if one.kind in PLACES]
    places += [(one.offset, one.length, True) for one in session.entries]
    for offset, length, is_entry in sorted(places):
        assert offset == at
        at += length
        if is_entry and at < size:
            end = session.files.read(session.path, at, 2)
            at += 2 if end == b"\r\n" else 1
    assert at == size


def test_a_plain_log_is_known_by_one_agent(tmp_path: Path) -> None:
    path = usual().write(tmp_path, packed=False)
    assert [name for name in AGENTS if agent_named(name).detect(Disk(), path)] == ["dsh"]
    assert texts(open_session(path))[-1] == "There is a.py"


def test_pictures_lie_beside_the_log() -> None:
    opened = open_session(session_of(next(case for case in CASES if name_of(case) == "images")))
    pictures = [item for item in opened.view.items if item.kind == "image"]
    assert len(pictures) == 2
    for item in pictures:
        content = AGENT.image(opened.session, item.source)
        assert content is not None
        assert hashlib.sha256(content).hexdigest() == item.sha256


def test_a_gap_is_reported_and_the_rest_can_be_read(tmp_path: Path) -> None:
    made = usual()
    rows = made.lines()
    path = tmp_path / "session.jsonl.zstd"
    path.write_bytes(frames([rows[0], b"".join(rows[1:3] + rows[4:])]))
    with pytest.raises(ClientRefuses, match=r"seq gap in committed region at line 3 \(expected 2, got 3\)"):
        open_session(path)
    checked = check_session(path)
    gap = next(finding for finding in checked.findings if finding.kind == "sequence-gap")
    assert gap.line == 4
    assert "refused" in [finding.kind for finding in checked.findings]
    assert [entry.id for entry in checked.session.entries][-1] == str(made.seq - 1)


def test_a_gap_behind_the_last_turn_of_a_plain_log_cuts_what_follows(tmp_path: Path) -> None:
    made = usual()
    made.seq += 1
    made.user("lost")
    opened = open_session(made.write(tmp_path, packed=False))
    assert "lost" not in texts(opened)
    assert texts(opened)[-1] == "There is a.py"
    assert [damage.kind for damage in opened.session.damage] == ["sequence-gap"]


@pytest.mark.parametrize("share", [0.2, 0.5, 0.8, 0.97])
def test_of_a_torn_log_the_beginning_is_shown(tmp_path: Path, share: float) -> None:
    made = usual()
    rows = made.lines()
    content = frames([rows[0], *rows[1:]])
    header = len(frames([rows[0]]))
    path = tmp_path / "session.jsonl.zstd"
    path.write_bytes(content[: header + int((len(content) - header) * share)])
    opened = open_session(path)
    assert [damage.kind for damage in opened.session.damage] == ["torn-frame"]
    assert len(opened.session.entries) < len(rows)
    assert_partition(opened.session)


def test_a_damaged_frame_is_refused_and_the_other_frames_are_read(tmp_path: Path) -> None:
    rows = usual().lines()
    whole = [frames([row]) for row in rows]
    broken = bytearray(whole[3])
    broken[-1] ^= 0xFF
    whole[3] = bytes(broken)
    path = tmp_path / "session.jsonl.zstd"
    path.write_bytes(b"".join(whole))
    start = sum(map(len, whole[:3]))
    with pytest.raises(ClientRefuses, match=f"frame at byte {start} failed validation"):
        open_session(path)
    session = AGENT.open(Disk(), path)
    assert session.entries[-1].kind == "turn/end"
    assert_partition(session)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"own": 1}, "invalid event envelope"),
        ({"time": 1.5}, "invalid event envelope"),
        ({"surfaceOp": None}, "carries an invalid surfaceOp"),
        ({"surfaceOp": {"op": "replace", "start": 6, "end": 99}}, "end seq 99 not found in surface"),
        ({"sourceEventSeqs": []}, "must not be empty except on assistant/message"),
        ({"sourceEventSeqs": [3, 3]}, "must not contain duplicates"),
        ({"sourceEventSeqs": [900]}, "must reference earlier events"),
        ({"data": {"role": "user", "content": [], "source": {"kind": "user"}}}, "lacks an identified message"),
        ({"type": "mode/set"}, "unsupported legacy mode/set event"),
    ],
)
def test_what_dsh_refuses_is_refused_with_its_words(tmp_path: Path, change: dict[str, object], reason: str) -> None:
    made = usual()
    made.user("more")
    made.rows[-1] |= change
    with pytest.raises(ClientRefuses, match=reason):
        open_session(made.write(tmp_path))


def test_ranges_count_positions_not_numbers(tmp_path: Path) -> None:
    made = Build()
    first, second, third = made.user("one"), made.user("two"), made.user("three")
    middle = made.user("two again", {"op": "replace", "start": second, "end": second}, sourceEventSeqs=[second])
    replaced = {"op": "replace", "start": middle, "end": third}
    checkpoint = {"kind": "plugin", "plugin": "compact", "compactionId": "c"}
    made.user("the rest", replaced, sourceEventSeqs=[middle, third], source=checkpoint)
    opened = open_session(made.write(tmp_path))
    assert texts(opened) == ["one", "the rest"]
    assert [one.item.text for one in AGENT.history(opened.session, opened.resume)] == [
        "one", "two", "two again", "three", "the rest",
    ]  # fmt: skip
    assert [one.sight for one in AGENT.history(opened.session, opened.resume)] == [
        "visible", "dropped", "summarized", "summarized", "visible",
    ]  # fmt: skip
    assert opened.units[1].kind == "summary"
    assert first == 0


def test_a_pruned_result_may_differ_only_in_its_content(tmp_path: Path) -> None:
    made = usual()
    old = 7
    made.result("c1", "short", operation={"op": "replace", "start": old, "end": old}, sourceEventSeqs=[old])
    opened = open_session(made.write(tmp_path))
    assert "short" in texts(opened)
    assert opened.usage.current is None
    assert opened.usage.stale
    made.rows[-1]["data"]["message"]["id"] = "new"
    with pytest.raises(ClientRefuses, match="may change only content"):
        open_session(made.write(tmp_path))


def test_the_first_request_takes_one_prompt_from_the_inbox(tmp_path: Path) -> None:
    made = usual()
    waiting = [
        {"id": f"w{n}", "role": "user", "content": [text(f"wait {n}")], "source": {"kind": "user"}} for n in "ab"
    ]
    made.event("agent/inbox/spliced", {"target": "next-turn", "start": 0, "inserted": waiting})
    steering = {"id": "s", "role": "user", "content": [text("steer")], "source": {"kind": "user"}}
    made.event("agent/inbox/spliced", {"target": "next-step", "start": 0, "inserted": [steering]})
    opened = open_session(made.write(tmp_path))
    assert texts(opened)[-2:] == ["steer", "wait a"]
    assert any("1 more prompts wait" in warning for warning in opened.view.warnings)
    assert opened.options(opened.units[-1]).allowed == {"keep"}
    made.event("agent/inbox/spliced", {"target": "next-turn", "start": 9, "inserted": []})
    with pytest.raises(ClientRefuses, match="invalid persisted inbox splice"):
        open_session(made.write(tmp_path))


def test_figures_are_counted_once_and_without_what_a_fork_inherits(tmp_path: Path) -> None:
    made = usual()
    made.header["seedLength"] = made.seq
    made.user("again")
    made.event("assistant/chunk", {"turn": 2, "step": 1, "chunk": {"type": "usage", "usage": {"inputTokens": 150}}})
    made.reply(text("done"), usage={"inputTokens": 150, "outputTokens": 9})
    made.rows[-1]["data"]["turn"] = 2
    made.user("last")
    opened = open_session(made.write(tmp_path))
    assert [(point.context, point.inherited) for point in opened.usage.points] == [
        (128, True), (144, True), (159, False),
    ]  # fmt: skip
    assert opened.usage.current == 159
    assert [source.entry for source in opened.usage.later] == [str(made.seq - 1)]
    assert opened.resume.model is not None
    assert opened.resume.model.value == MODEL["model"]


def test_an_earlier_event_can_be_the_leaf(tmp_path: Path) -> None:
    path = usual().write(tmp_path)
    opened = open_session(path, leaf="6")
    assert [item.kind for item in opened.view.items] == ["text", "text", "tool_call", "tool_result"]
    assert opened.view.items[-1].origin == "repair"
    assert "before the Harness recorded it as started" in opened.view.items[-1].text
    with pytest.raises(SeamlineError, match="no entry '99'"):
        open_session(path, leaf="99")


def test_children_and_the_folder_of_a_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DSH_HOME", str(tmp_path))
    paths: list[Path] = []
    for name in ("parent", "child"):
        made = usual()
        made.header |= {"id": name} | ({"parentSession": "parent", "origin": "subagent"} if name == "child" else {})
        folder = tmp_path / "sessions" / "--home-dev-shop--" / name
        folder.mkdir(parents=True)
        paths.append(made.write(folder))
    assert sorted(found.path for found in AGENT.find()) == sorted(paths)
    assert [found.path for found in AGENT.children(Disk(), paths[0])] == [paths[1]]
    assert list(AGENT.children(Disk(), paths[1])) == []
    assert AGENT.bundle(Disk(), paths[0].parent) == paths[0]
    assert AGENT.bundle(Disk(), tmp_path) is None


def test_a_dsh_in_the_folder_of_the_session_is_told(tmp_path: Path) -> None:
    path = usual().write(tmp_path)
    process = tmp_path / "proc" / "17"
    process.mkdir(parents=True)
    (process / "cmdline").write_bytes(b"node\0/usr/lib/node_modules/@deepseek-ai/dsh/lib/bin.js\0")
    (process / "cwd").symlink_to("/home/dev/shop")
    from core.agents.dsh.running import known_running

    assert "process 17" in str(known_running(path, tmp_path / "proc"))
    (process / "cmdline").write_bytes(b"node\0server.js\0")
    assert known_running(path, tmp_path / "proc") is None


def test_a_web_server_over_the_home_is_told_if_it_ran_when_the_log_was_written(tmp_path: Path) -> None:
    from core.agents.dsh.running import known_running

    folder = tmp_path / "home" / "sessions" / "--home-dev-shop--" / "session-made"
    folder.mkdir(parents=True)
    path = usual().write(folder)
    processes = tmp_path / "proc"
    process = processes / "17"
    process.mkdir(parents=True)
    (process / "cmdline").write_bytes(b"node\0/opt/bin/dsh\0web\0--port\x008080\0")
    (process / "cwd").symlink_to("/elsewhere")
    (process / "environ").write_bytes(f"A=b\0DSH_HOME={tmp_path / 'home'}\0".encode())
    (processes / "stat").write_text("btime 1000\n")
    (process / "stat").write_text("17 (a) b) S " + "0 " * 18 + f"{100 * os.sysconf('SC_CLK_TCK')} 0\n")
    os.utime(path, (1200, 1200))
    assert "serves this session" in str(known_running(path, processes))
    os.utime(path, (1050, 1050))
    assert known_running(path, processes) is None
    os.utime(path, (1200, 1200))
    (process / "environ").write_bytes(b"HOME=/home/other\0")
    assert known_running(path, processes) is None


BASES = [
    session_of(case) for case in CASES if name_of(case) in {"legacy_shapes", "queued_prompt", "torn_frame_some_lines"}
]


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """A log with something wrong: in its compressed bytes, or in its rows."""
    content = bytearray(draw(st.sampled_from(BASES)).read_bytes())
    if draw(st.booleans()):
        at = draw(st.integers(0, len(content) - 1))
        kind = draw(st.sampled_from(["flip", "cut", "insert", "remove"]))
        if kind == "flip":
            content[at] ^= 1 << draw(st.integers(0, 7))
        elif kind == "cut":
            del content[at:]
        else:
            content[at : at + (9 if kind == "remove" else 0)] = b"" if kind == "remove" else b"\x28\xb5"
        return bytes(content)
    rows = [*usual().lines()]
    first, second = (draw(st.integers(0, len(rows) - 1)) for _ in range(2))
    kind = draw(st.sampled_from(["swap", "double", "remove", "byte"]))
    if kind == "swap":
        rows[first], rows[second] = rows[second], rows[first]
    elif kind == "double":
        rows.insert(first, rows[second])
    elif kind == "remove":
        del rows[first]
    else:
        row = bytearray(rows[first])
        row[draw(st.integers(0, len(row) - 1))] = draw(st.integers(0, 255))
        rows[first] = bytes(row)
    return frames([rows[0], b"".join(rows[1:])]) if draw(st.booleans()) else b"".join(rows)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=damaged())
def test_damage_never_raises_and_no_byte_is_lost(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "session.jsonl.zstd"
    path.write_bytes(content)
    begun = time.perf_counter()
    with contextlib.suppress(NotASession):
        detect(Disk(), path)
    session = AGENT.open(Disk(), path)
    assert_partition(session)
    resume = AGENT.resume(session, Overrides())
    try:
        view = AGENT.view(session, resume)
    except ClientRefuses as refusal:
        assert "\n" not in str(refusal)
    else:
        assert len(AGENT.units(view)) <= len(view.items)
    list(AGENT.history(session, resume))
    AGENT.usage(session)
    AGENT.system(session, resume)
    assert time.perf_counter() - begun < 10


def test_calls_of_an_open_turn_are_answered_once(tmp_path: Path) -> None:
    made = Build()
    made.event("turn/start", {"turn": 1})
    made.reply(call("c1"), call("c2"))
    made.event("tool/call", {"turn": 1, "step": 1, "callId": "c2"})
    opened = open_session(made.write(tmp_path))
    assert [(item.call_id, item.origin) for item in opened.view.items[-2:]] == [("c1", "repair"), ("c2", "repair")]
    assert "Its outcome is unknown" in opened.view.items[-1].text
    assert opened.units[0].kind == "exchange"
    assert len(opened.units) == 1
    made.event("step/end", {"turn": 1, "step": 1})
    assert len(open_session(made.write(tmp_path)).view.items) == 2
