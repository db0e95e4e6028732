"""grok's sessions: their views against captured requests, damaged files, units, figures, and what lies beside them."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path
from typing import Any

import pytest

from core.agents import AGENTS, agent_named
from core.agents.grok_build import AGENT
from core.agents.grok_build.images import fault_of
from core.agents.grok_build.running import known_running
from core.errors import ClientRefuses, NotASession, SeamlineError
from core.files import Disk
from core.opening import Opened, open_session
from core.resume import Overrides
from core.session import Session
from core.view import pair_up
from tests.core.model_view import comparable

CAPTURED = Path(__file__).parent.parent / "data" / "conformance"
CASES = sorted(CAPTURED.glob("grok-build*/*/expected.json"))
HEAD: list[Any] = [{"type": "system", "content": "s"}]


def place(folder: Path) -> Path:
    found = AGENT.bundle(Disk(), folder)
    assert found is not None
    return found


def opened(name: str) -> Opened:
    return open_session(place(CAPTURED / "grok-build" / name / "session"))


def user(text: str, **more: Any) -> dict[str, Any]:
    return {"type": "user", "content": [{"type": "text", "text": text}], **more}


def reply(text: str, *calls: str, **more: Any) -> dict[str, Any]:
    made = [{"id": call, "name": "grep", "arguments": "{}"} for call in calls]
    return {"type": "assistant", "content": text, "tool_calls": made, **more}


def result(call: str, text: str) -> dict[str, Any]:
    return {"type": "tool_result", "tool_call_id": call, "content": text}


def write(folder: Path, lines: list[Any], updates: list[Any] | None = None, **summary: Any) -> Path:
    """A session with these lines, after the summary of a captured one."""
    shutil.copytree(CAPTURED / "grok-build" / "plain_turns" / "session", folder, dirs_exist_ok=True)
    told = json.loads((folder / "summary.json").read_text()) | summary
    (folder / "summary.json").write_text(json.dumps(told))
    _lines(folder / "chat_history.jsonl", [*HEAD, *lines] if lines else [])
    if updates is not None:
        _lines(folder / "updates.jsonl", updates)
    return folder / "chat_history.jsonl"


def _lines(path: Path, lines: list[Any]) -> None:
    path.write_bytes(
        b"".join((line if isinstance(line, bytes) else json.dumps(line).encode()) + b"\n" for line in lines)
    )


def texts(session: Opened) -> list[str]:
    return [item.text for item in session.view.items]


@pytest.mark.parametrize("flags", [True, False], ids=["flags", "plain"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.parent.name)
def test_view_is_the_captured_request(case: Path, flags: bool) -> None:
    expected = json.loads(case.read_text("utf-8"))
    overrides = Overrides("1.0.41", None, expected.get("backend"), expected.get("context_window"))
    if "error" in expected:
        with pytest.raises(ClientRefuses):
            open_session(place(case.parent / "session"), overrides if flags else None)
        return
    view = open_session(place(case.parent / "session"), overrides if flags else None).view
    assert comparable(item.to_json() for item in view.items) == comparable(expected["items"])


def test_the_cases_are_there() -> None:
    assert len(CASES) >= 39


def test_only_grok_takes_its_sessions_and_no_other() -> None:
    disk = Disk()
    for case in CASES:
        path = place(case.parent / "session")
        others = [name for name in AGENTS if name != "grok-build" and agent_named(name).detect(disk, path)]
        assert AGENT.detect(disk, path)
        assert others in ([], ["pi"]) and (not others or path.stat().st_size == 0)  # an empty file is a session of pi
    for path in CAPTURED.rglob("session*"):
        if not any(part.startswith("grok-build") for part in path.parts) and path.is_file():
            assert not AGENT.detect(disk, path), path


def test_lines_that_the_client_skips(tmp_path: Path) -> None:
    """Captured from 1.0.41, all in one session."""
    lines = [
        user("float", prompt_index=1.0), user("large", prompt_index=2**64), user("reason", synthetic_reason=None),
        user("negative", cwd_generation=-1), reply("effort", reasoning_effort="zzz"),
        reply("null") | {"tool_calls": None},
        reply("two names", model_fingerprint="x", system_fingerprint="y"), b'{"type":"assistant","content":"\\ud800"}',
        b'{"type":"assistant","content":"\xff"}', b"\xef\xbb\xbf" + json.dumps(reply("mark")).encode(),
        b'{"type":"assistant","content":"deep","x":' + b"[" * 127 + b"]" * 127 + b"}",
        {"type": "reasoning", "summary": []}, {"type": "reasoning", "id": "1", "summary": [{"text": "no type"}]},
    ]  # fmt: skip
    kept = [
        user("null index", prompt_index=None), user("odd stop", prior_turn_interrupt="x"),
        reply("High", reasoning_effort="High"), b'{"type":"assistant","content":"one","content":"two"}',
        b'\x0c{"type":"assistant","content":"feed"}', {"type": "user", "role": "user", "content": "both"},
    ]  # fmt: skip
    session = open_session(write(tmp_path / "s", [*lines, *kept]))
    assert texts(session) == ["null index", "odd stop", "High", "two", "feed", "both"]
    assert sum(damage.kind == "broken-line" for damage in session.session.damage) == len(lines)


def test_calls_of_one_id_share_a_made_up_result_in_the_place_of_the_last(tmp_path: Path) -> None:
    session = open_session(write(tmp_path / "s", [user("q"), reply("", "a", "b", "a"), user("z")]))
    made = [item.call_id for item in session.view.items if item.origin == "repair"]
    assert made == ["b", "a"]
    assert pair_up(session.view.items).whole


def test_trimmed_results_are_shown_as_such_and_grow_back() -> None:
    session = opened("pruned_above_half")
    trimmed = [item for item in session.view.items if item.trimmed]
    assert {item.text for item in trimmed if len(item.text) < 100} == {"[Tool result omitted — too old]"}
    assert any(len(item.text) == 3015 for item in trimmed)
    assert any("the file keeps them whole" in warning for warning in session.view.warnings)
    path = session.session.path
    assert not any(item.trimmed for item in open_session(path, Overrides(window=500_000)).view.items)
    past = list(AGENT.history(session.session, session.resume))
    assert sum(seen.sight == "pruned" for seen in past) == len(trimmed)
    assert all(len(seen.item.text) > 100 for seen in past if seen.sight == "pruned")


def test_a_session_near_the_limit_says_that_it_would_compact() -> None:
    assert any(
        "compact before the first reply" in warning for warning in opened("limit_compacts_at_once").view.warnings
    )
    assert any("in the background" in warning for warning in opened("near_limit_80").view.warnings)


def test_window_and_model_come_from_the_session_with_their_source() -> None:
    resume = opened("pruned_above_half").resume
    assert resume.window is not None and resume.window.value == 16_000 and "signals.json" in resume.window.source
    plain = opened("plain_turns").resume
    assert plain.window is not None and plain.window.value == 500_000 and "default" in plain.window.source
    assert plain.model is not None and plain.model.value == "grok-4.6"


def test_in_chat_completions_reasoning_without_an_answer_is_lost() -> None:
    path = opened("reasoning_kinds").session.path
    items = open_session(path, Overrides(wire="chat_completions")).view.items
    assert [item.text for item in items if item.kind == "thinking"] == ["look at the file first", "both\ninner text"]
    web = open_session(opened("web_search").session.path, Overrides(wire="chat_completions")).view.items
    assert "[backend web_search] search: flock rename atomic" in [item.text for item in web]


def test_units_hold_every_item_once_and_never_half_of_a_pair() -> None:
    for case in CASES:
        if "error" in json.loads(case.read_text("utf-8")):
            continue
        session = open_session(place(case.parent / "session"))
        places = sorted(at for unit in session.units for at in unit.items)
        assert places == list(range(len(session.view.items))), case
        assert len({unit.id for unit in session.units}) == len(session.units)
        of = {at: unit.id for unit in session.units for at in unit.items}
        items = session.view.items
        for call, answer in pair_up(items).pairs:
            assert of[call] == of[answer] or items[answer].origin == "stored", case
        for unit in session.units:
            options = session.options(unit)
            assert options.allowed | options.refused.keys() == {"keep", "limit", "point", "summarize", "drop"}


def test_the_head_is_kept_and_only_typed_prompts_begin_turns() -> None:
    session = opened("synthetic_messages")
    kinds = [unit.kind for unit in session.units]
    assert kinds.count("user") == 2 and kinds[0] == "custom"
    assert session.options(session.units[0]).allowed == {"keep"}


def test_the_past_tells_what_a_compaction_took_out() -> None:
    session = opened("compaction_manual")
    past = list(AGENT.history(session.session, session.resume))
    gone = [seen for seen in past if seen.sight == "summarized"]
    assert "Read both files." in [seen.item.text for seen in gone]
    summary = session.session.entry(gone[0].left_at or "")
    assert summary is not None and summary.kind == "user"
    assert [seen.item for seen in past if seen.sight == "visible"] == list(session.view.items)


def test_figures_of_a_turn_count_once_and_a_sum_over_requests_is_no_context() -> None:
    usage = AGENT.usage(opened("parallel_calls_reasoning").session)
    assert [point.output for point in usage.points] == [14, 7]
    assert usage.points[0].context < 6070  # the sum of two requests
    assert usage.current == 3150 and not usage.stale
    compacted = AGENT.usage(opened("compaction_manual").session)
    assert [boundary.tokens_before for boundary in compacted.boundaries] == [2916]
    assert AGENT.usage(opened("plain_turns").session).stale


def test_a_fork_does_not_pay_again_for_its_parent() -> None:
    points = AGENT.usage(opened("fork").session).points
    assert [point.inherited for point in points] == [True] * (len(points) - 1) + [False]
    assert len(points) > 2


def test_sub_agents_and_forks_are_children(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    group = tmp_path / "sessions" / "%2Fhome%2Fdev%2Fshop"
    for case in ("subagent_parent", "subagent_child", "fork", "compaction_twice", "rebuilt_from_updates"):
        shutil.copytree(CAPTURED / "grok-build" / case / "session", group / case)
    names = {
        found.path.parent.name for found in AGENT.children(Disk(), group / "subagent_parent" / "chat_history.jsonl")
    }
    assert names == {"subagent_child"}
    forks = {
        found.path.parent.name for found in AGENT.children(Disk(), group / "compaction_twice" / "chat_history.jsonl")
    }
    assert forks == {"fork"}
    monkeypatch.setenv("GROK_HOME", str(tmp_path))
    found = {one.path.parent.name: one for one in AGENT.find()}
    assert found.keys() == {"subagent_parent", "fork", "compaction_twice", "rebuilt_from_updates"}
    assert found["fork"].cwd == "/home/dev/shop"


def test_a_copy_in_the_folder_is_no_session_of_its_own(tmp_path: Path) -> None:
    path = write(tmp_path / "s", [user("q")])
    copy = Path(shutil.copy(path, f"{path}.corrupt"))
    assert AGENT.detect(Disk(), path) and not AGENT.detect(Disk(), copy)


def test_a_registered_process_is_known_to_run(tmp_path: Path) -> None:
    folder = tmp_path / "sessions" / "group" / "one"
    path = write(folder, [user("q")])
    (tmp_path / "processes" / "7").mkdir(parents=True)
    identity = json.loads((folder / "summary.json").read_text())["info"]["id"]
    assert known_running(path, tmp_path / "processes") is None
    (tmp_path / "active_sessions.json").write_text(json.dumps([{"session_id": identity, "pid": 7, "cwd": "/x"}]))
    assert "process 7" in (known_running(path, tmp_path / "processes") or "")
    (tmp_path / "active_sessions.json").write_text(json.dumps([{"session_id": identity, "pid": 8, "cwd": "/x"}]))
    assert known_running(path, tmp_path / "processes") is None


def test_images_are_read_and_the_unsendable_ones_known() -> None:
    session = opened("images")
    shown = [item for item in session.view.items if item.kind == "image"]
    assert len(shown) == 2
    for item in shown:
        data = AGENT.image(session.session, item.source)
        assert data is not None and len(data) == item.image_bytes and not fault_of(data)
        assert fault_of(data[:-5]) and fault_of(b"GIF89a" + data)


def test_a_leaf_ends_the_view_earlier() -> None:
    session = opened("plain_turns")
    leaf = session.session.entries[3].id
    assert len(open_session(session.session.path, leaf=leaf).view.items) == 3
    with pytest.raises(SeamlineError, match="no entry"):
        open_session(session.session.path, leaf="none")


def assert_partition(session: Session) -> None:
    """Every byte belongs to one entry, with its line end, or to one damaged place."""
    size, at = session.files.size(session.path), 0
    places = {"broken-line", "torn-tail", "blank-line"}
    spans = [(entry.offset, entry.length) for entry in session.entries if entry.path is None]
    spans += [(damage.offset, damage.length) for damage in session.damage if damage.kind in places]
    for offset, length in sorted(spans):
        gap = session.files.read(session.path, at, offset - at)
        assert gap in (b"", b"\n", b"\r\n"), (at, offset)
        at = offset + length
    assert session.files.read(session.path, at, size - at) in (b"", b"\n", b"\r\n")


def mutated(data: bytes, chance: random.Random) -> bytes:
    lines = data.split(b"\n")
    at, other = chance.randrange(len(lines)), chance.randrange(len(lines))
    kind = chance.choice(["flip", "cut", "double", "remove", "swap"])
    if kind == "flip":
        flipped = bytearray(data)
        for _ in range(chance.randrange(1, 20)):
            flipped[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        return bytes(flipped)
    if kind == "cut":
        return data[: chance.randrange(len(data))]
    if kind == "double":
        lines.insert(other, lines[at])
    elif kind == "remove":
        del lines[at]
    else:
        lines[at], lines[other] = lines[other], lines[at]
    return b"\n".join(lines)


@pytest.mark.parametrize(
    "name", ["orphans_duplicates", "images_invalid", "old_format_0", "web_search", "rebuilt_by_hand"]
)
def test_damaged_files_never_break_the_reader(name: str, tmp_path: Path) -> None:
    chance = random.Random(name)
    folder = tmp_path / "s"
    shutil.copytree(CAPTURED / "grok-build" / name / "session", folder)
    targets = [path for path in sorted(folder.iterdir()) if path.stat().st_size]
    for _ in range(60):
        target = chance.choice(targets)
        before = target.read_bytes()
        target.write_bytes(mutated(before, chance))
        try:
            session = AGENT.open(Disk(), place(folder))
            assert_partition(session)
            resume = AGENT.resume(session, Overrides())
            list(AGENT.history(session, resume))
            AGENT.usage(session)
            AGENT.units(AGENT.view(session, resume))
        except (ClientRefuses, NotASession):
            pass
        except AssertionError:
            if AGENT.bundle(Disk(), folder) is not None:
                raise
        target.write_bytes(before)
