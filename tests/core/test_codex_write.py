"""Codex's writer: what the model sees afterwards is the proposal, whatever was proposed; nothing else is touched."""

from __future__ import annotations

import itertools
import json
import random
from pathlib import Path
from typing import Any

import pytest
import zstandard

from core.agents.codex import AGENT
from core.agents.codex.records import SUMMARY_PREFIX
from core.agents.protocol import Stamp
from core.compressed import stored
from core.errors import CommitRefused, SeamlineError
from core.files import Disk, Overlay
from core.opening import Opened, open_session
from core.patch import Append, Create, Kept, Patch, Replace
from core.proposal import Disposition, Proposal, Summary, What
from core.view import Item, Source, Unit, pair_up
from tests.core.codex_sessions import CHILD, THREAD, Rollout, call, name_of, opened, output, texts, words

CAPTURED = Path(__file__).parent.parent / "data" / "conformance"
SUMMARY = 'What came before: "x" \\ 保持 😀'
HIDDEN = "gAAAA+/=" * 40
THINKING = {"type": "reasoning", "summary": [], "encrypted_content": HIDDEN, "content": None}
STATE = {"full": True, "state": {"environments": {"local": {"cwd": "/srv/demo"}}, "apps": False}}
PERMISSIONS = words("<permissions instructions>all</permissions instructions>", "developer")
ENVIRONMENT = words("<environment_context>\n/srv/demo\n</environment_context>")
PIXEL = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5Erk"
    "Jggg=="
)


def stamp(seed: int = 0) -> Stamp:
    numbers = itertools.count(seed * 1000 + 1)
    return Stamp(1_796_000_000.5 + seed, lambda: f"{next(numbers):032x}")


def cases() -> list[Path]:
    """A session of every kind that the client was seen with; of a lineage, its last file."""
    found: list[Path] = []
    for case in sorted([*(CAPTURED / "codex").iterdir(), *(CAPTURED / "codex-odd").iterdir()]):
        path = next(iter(sorted(case.glob("session*"))), None)
        if path is not None:
            found.append(sorted(path.iterdir())[-1] if path.is_dir() else path)
    return found


def proposal(what: dict[str, What], *more: Disposition) -> Proposal:
    rows = [Disposition(unit, one, "test") for unit, one in what.items()] + list(more)
    summarised = any(row.what == "summarize" for row in rows)
    return Proposal("handoff", tuple(rows), None, Summary("offline", SUMMARY, {"a": 1}) if summarised else None)


def committed(before: Opened, proposed: Proposal, seed: int = 0) -> Opened:
    return read_back(before, AGENT.encode(before.session, before.view, proposed, stamp(seed)))


def read_back(before: Opened, patch: Patch) -> Opened:
    return open_session(patch.session, before.overrides, Overlay(stored(before.session.files), patch))


def appended(patch: Patch) -> list[dict[str, Any]]:
    (change,) = patch.changes
    assert isinstance(change, Append)
    return [json.loads(line) for line in change.data.splitlines() if line]


# What the model should get, from the view and the proposal alone.


def content(item: Item) -> tuple[Any, ...]:
    return (item.role, item.kind, item.text, item.call_id, item.name, repr(item.arguments), item.sha256, item.opaque)


def expected(before: Opened, proposed: Proposal) -> list[tuple[Any, ...]]:
    fate = {row.unit: row.what for row in proposed.dispositions if row.what in ("summarize", "drop")}
    texts_of = {row.source[0]: row for row in proposed.dispositions if row.source}
    owner = {at: unit.id for unit in before.units for at in unit.items}
    pointed = {_key(one) for one, row in texts_of.items() if row.what == "point"}
    out: list[tuple[Any, ...]] = []
    summarised = False
    for at, item in enumerate(before.view.items):
        what = fate.get(owner[at])
        if what == "summarize" and not summarised:
            summarised = True
            out.append(content(Item("user", "text", f"{SUMMARY_PREFIX}\n{SUMMARY}")))
        if what is not None:
            continue
        source = item.source[0] if item.source else None
        if item.kind == "tool_result" and item.origin == "stored" and source in texts_of:
            out.append((*content(item)[:2], texts_of[source].text, *content(item)[3:]))
        elif not (item.role == "tool" and item.kind != "tool_result" and source and _key(source) in pointed):
            out.append(content(item))
    return out


def _key(source: Source) -> tuple[str, int]:
    """The stored item that a part belongs to."""
    return source.entry, source.part // 1000


def any_proposal(seen: Opened, seed: int) -> Proposal:
    """Any set of units kept, dropped, summarised or shortened, as a person may have edited it."""
    choose = random.Random(seed)
    rows: list[Disposition] = []
    for unit in seen.units:
        options = seen.options(unit)
        what = choose.choice(["keep", "keep", "drop", "summarize"])
        if what == "keep" and options.results and choose.random() < 0.5:
            for one in options.results:
                rows.append(Disposition(unit.id, choose.choice(["limit", "point"]), "r", (one,), f"[{one.part}]"))
        elif what != "keep" and what in options.allowed:
            rows.append(Disposition(unit.id, what, "r"))
    if any(row.what == "summarize" for row in rows):
        listed = {row.unit for row in rows}
        earlier = [unit for unit in seen.units if seen.options(unit).conditions.get("keep")]
        rows += [Disposition(unit.id, "summarize", "r") for unit in earlier if unit.id not in listed]
    return Proposal("handoff", tuple(rows), None, Summary("offline", SUMMARY))


@pytest.mark.parametrize("path", cases(), ids=lambda path: path.parent.name)
def test_the_after_view_is_what_the_proposal_says(path: Path) -> None:
    try:
        first = open_session(path)
    except SeamlineError:
        pytest.skip("Codex refuses it")
    for seed in range(2):
        before = first
        for number in range(2):  # a second commit on top of the first
            proposed = any_proposal(before, seed + number)
            if not proposed.dispositions:
                continue
            try:
                after = committed(before, proposed, number)
            except CommitRefused as refused:
                assert "nested too deep" in str(refused)
                continue
            assert [content(item) for item in after.view.items] == expected(before, proposed)
            assert pair_up(after.view.items).whole or not pair_up(before.view.items).whole
            assert not [one for one in after.session.damage[len(before.session.damage) :] if one.kind != "broken-line"]
            assert _model(after) == _model(before)
            before = after


def _model(seen: Opened) -> str | None:
    return seen.resume.model.value if seen.resume.model is not None else None


# What is written, record by record.


def told() -> Rollout:
    """A session whose model was told its circumstances, with thinking, two calls in one go and a picture."""
    build = Rollout(context_window={"window_id": "w0"}, base_instructions={"text": "x" * 400})
    build.item(PERMISSIONS).item(ENVIRONMENT).add("world_state", STATE)
    build.turn("one", THINKING, call("a"), call("b"), output("a", "A" * 300), output("b", "B" * 300))
    build.add("world_state", {"full": False, "state": {"apps": None, "environments": {"local": {"cwd": "/new"}}}})
    picture = [{"type": "input_text", "text": "C" * 300}, {"type": "input_image", "image_url": PIXEL}]
    build.turn("two", call("c"), output("c", picture), words("done", "assistant"))
    return build.count(9000, 20, total=9020, total_tokens=20_000)


def unit_with(seen: Opened, text: str) -> Unit:
    return next(one for one in seen.units if any(text in seen.view.items[at].text for at in one.items))


def test_a_commit_is_a_checkpoint_with_what_codex_takes_for_told(tmp_path: Path) -> None:
    seen = opened(told().write(tmp_path))
    patch = AGENT.encode(seen.session, seen.view, proposal({seen.units[2].id: "summarize"}), stamp())
    checkpoint, state, turn, count = appended(patch)
    assert [one["type"] for one in (checkpoint, state, turn, count)] == [
        "compacted", "world_state", "turn_context", "event_msg",
    ]  # fmt: skip
    numbers = [one["ordinal"] for one in (checkpoint, state, turn, count)]
    assert numbers == list(range(numbers[0], numbers[0] + 4)) and numbers[0] == len(seen.session.entries)
    payload = checkpoint["payload"]
    assert (payload["window_number"], payload["first_window_id"], payload["previous_window_id"]) == (1, "w0", "w0")
    assert payload["window_id"][14] == "7" and payload["message"] == f"{SUMMARY_PREFIX}\n{SUMMARY}"
    assert payload["seamline"]["state"] == {"a": 1} and payload["seamline"]["summarized"] == [seen.units[2].id]
    assert state["payload"] == {"full": True, "state": {"environments": {"local": {"cwd": "/new"}}}}
    assert turn["payload"]["turn_id"] == "t2"
    info = count["payload"]["info"]
    last = info["last_token_usage"]
    assert info["total_token_usage"] == {"total_tokens": 20_000} and info["last_usage_includes_reasoning"] is True
    assert last["input_tokens"] == last["output_tokens"] == 0 and 100 < last["total_tokens"] < 3000


def test_a_second_commit_opens_the_next_window(tmp_path: Path) -> None:
    before = opened(told().write(tmp_path))
    first = AGENT.encode(before.session, before.view, proposal({before.units[2].id: "drop"}), stamp())
    after = read_back(before, first)
    one, two = (
        appended(AGENT.encode(seen.session, seen.view, proposal({seen.units[-1].id: "drop"}), stamp(2)))[0]["payload"]
        for seen in (before, after)
    )
    assert (one["window_number"], two["window_number"]) == (1, 2)
    assert two["first_window_id"] == "w0" and two["previous_window_id"] == appended(first)[0]["payload"]["window_id"]


def test_what_stays_is_byte_for_byte_what_was_stored(tmp_path: Path) -> None:
    build = told()
    exact = b'{"type":"reasoning",  "id":"rs_1","summary":[],"encrypted_content":"a\\/b\\u00e9","zz":1e400}'
    build.lines.append(
        b'{"timestamp":"2026-11-30T21:30:00.000Z","ordinal":99,"type":"response_item","payload":%s}' % exact
    )
    seen = opened(build.write(tmp_path))
    patch = AGENT.encode(seen.session, seen.view, proposal({seen.units[2].id: "drop"}), stamp())
    (change,) = patch.changes
    assert isinstance(change, Append) and change.data.count(exact) == 1
    assert change.data.count(HIDDEN.encode()) == 1  # behind the dropped message, kept whole
    dropped = proposal({unit_with(seen, "A" * 300).id: "drop"})
    (change,) = AGENT.encode(seen.session, seen.view, dropped, stamp()).changes
    assert isinstance(change, Append) and HIDDEN.encode() not in change.data


def test_results_are_shortened_and_a_picture_goes_with_a_pointer_only(tmp_path: Path) -> None:
    seen = opened(told().write(tmp_path))
    pair, single = unit_with(seen, "A" * 300), unit_with(seen, "C" * 300)
    a, b = seen.options(pair).results
    (c,) = seen.options(single).results
    rows = [Disposition(pair.id, "limit", "t", (a,), "short"), Disposition(pair.id, "point", "t", (b,), "gone")]
    limited = committed(seen, proposal({}, *rows, Disposition(single.id, "limit", "t", (c,), "cut")))
    results = [item.text for item in limited.view.items if item.kind == "tool_result"]
    assert results == ["short", "gone", "cut"]
    assert sum(item.kind == "image" for item in limited.view.items) == 1
    pointed = committed(seen, proposal({}, Disposition(single.id, "point", "t", (c,), "see file")))
    assert not any(item.kind == "image" for item in pointed.view.items)


def test_without_its_context_codex_is_left_to_tell_everything_again(tmp_path: Path) -> None:
    seen = opened(told().write(tmp_path))
    context = seen.units[0]
    options = seen.options(context)
    assert "drop" in options.allowed and "keep or drop" in options.refused["summarize"]
    patch = AGENT.encode(seen.session, seen.view, proposal({context.id: "drop"}), stamp())
    assert [one["type"] for one in appended(patch)] == ["compacted", "event_msg"]
    assert any("initial context again" in warning for warning in read_back(seen, patch).view.warnings)
    kept = AGENT.encode(seen.session, seen.view, proposal({seen.units[2].id: "drop"}), stamp())
    assert not any("initial context again" in warning for warning in read_back(seen, kept).view.warnings)


def test_stored_tools_stay_while_they_are_told_and_go_where_codex_gives_them_again(tmp_path: Path) -> None:
    tools = {"type": "additional_tools", "role": "developer", "tools": [{"type": "function", "name": "exec_command"}]}
    build = Rollout().item(tools).item(words("You are Codex.", "developer"))
    build.add("world_state", STATE).turn("one").turn("two")
    for with_context, count in ((True, 1), (False, 0)):
        seen = opened((build if with_context else Rollout().item(tools).turn("one").turn("two")).write(tmp_path))
        patch = AGENT.encode(seen.session, seen.view, proposal({seen.units[0].id: "drop"}), stamp())
        history = appended(patch)[0]["payload"]["replacement_history"]
        assert sum(one["type"] == "additional_tools" for one in history) == count


def test_half_characters_in_a_summary_do_not_kill_the_checkpoint(tmp_path: Path) -> None:
    seen = opened(told().write(tmp_path))
    proposed = Proposal(
        "handoff", (Disposition(seen.units[2].id, "summarize", "t"),), None, Summary("person", "half \ud83d of it")
    )
    patch = AGENT.encode(seen.session, seen.view, proposed, stamp())
    (change,) = patch.changes
    assert isinstance(change, Append) and b"\\ud83d" not in change.data
    assert any("half \ufffd of it" in text for text in texts(read_back(seen, patch)))


def test_a_file_of_the_older_kind_gets_no_numbers_and_its_checkpoint_survives_earlier_roll_backs(
    tmp_path: Path,
) -> None:
    build = (
        Rollout(paginated=False).item(words("loose")).turn("one").turn("two").event("thread_rolled_back", num_turns=5)
    )
    seen = opened(build.item(words("three")).write(tmp_path))
    patch = AGENT.encode(seen.session, seen.view, proposal({seen.units[0].id: "summarize"}), stamp())
    rows = appended(patch)
    assert not any("ordinal" in row for row in rows) and "window_number" not in rows[1]["payload"]
    assert [row["payload"].get("type", row["type"]) for row in rows] == ["task_started", "compacted", "task_complete"]
    assert texts(read_back(seen, patch)) == [f"{SUMMARY_PREFIX}\n{SUMMARY}"]


def test_a_view_that_ends_earlier_is_refused_in_place_and_forked(tmp_path: Path) -> None:
    build = told()
    path = build.write(tmp_path)
    leaf = opened(path).session.entries[10].id
    seen = open_session(path, leaf=leaf)
    with pytest.raises(CommitRefused, match="use --as fork"):
        AGENT.encode(seen.session, seen.view, proposal({seen.units[0].id: "drop"}), stamp())
    fork = read_back(seen, AGENT.fork(seen.session, seen.view, Proposal("handoff"), stamp()))
    assert [content(item) for item in fork.view.items] == [content(item) for item in seen.view.items]


def test_a_commit_takes_the_lock_of_its_thread(tmp_path: Path) -> None:
    folder = tmp_path / "sessions" / "2026" / "11" / "30"
    folder.mkdir(parents=True)
    for place, locks in ((folder, (tmp_path / "thread-writer-locks" / f"{THREAD}.lock",)), (tmp_path, ())):
        seen = opened(told().write(place))
        assert AGENT.encode(seen.session, seen.view, proposal({seen.units[2].id: "drop"}), stamp()).locks == locks


# Appends that break off.


def harmless(seen: Opened, old: Opened, new: Opened) -> str:
    """Which of the two views it is; that nothing is damaged but a last line that Codex skips."""
    shown = [content(item) for item in seen.view.items]
    known = len(old.session.damage)
    assert {one.kind for one in seen.session.damage[known:]} <= {"torn-tail", "no-final-newline", "broken-line"}
    if shown == [content(item) for item in old.view.items]:
        return "old"
    assert shown == [content(item) for item in new.view.items]
    return "new"


@pytest.mark.parametrize("kind", ["paginated", "legacy", "legacy-rolled-back", "no-final-newline", "fork"])
def test_every_beginning_of_an_append_is_the_old_view_or_the_new_one(tmp_path: Path, kind: str) -> None:
    build = Rollout(paginated=not kind.startswith("legacy")).item(PERMISSIONS).add("world_state", STATE)
    build.turn("one", call("a"), output("a", "A")).turn("two").count(900, 20)
    if kind == "legacy-rolled-back":
        build.turn("three").event("thread_rolled_back", num_turns=1)
    path = build.write(tmp_path)
    if kind == "no-final-newline":
        path.write_bytes(build.bytes()[:-1])
    if kind == "fork":
        path = build.fork().turn("more").write(tmp_path)
    old = opened(path)
    rows = {unit_with(old, "one").id: "summarize", unit_with(old, "A").id: "drop"}
    patch = AGENT.encode(old.session, old.view, proposal(rows), stamp())  # pyright: ignore[reportArgumentType]
    (change,) = patch.changes
    assert isinstance(change, Append)
    new = read_back(old, patch)
    views = [
        harmless(read_back(old, Patch((Append(path, change.at, change.data[:length]),), path, "append")), old, new)
        for length in range(len(change.data) + 1)
    ]
    turning = views.index("new")
    assert set(views[turning:]) == {"new"} and 0 < turning < len(views) - 1


# Compressed sessions and forks.


def test_a_compressed_session_gets_a_frame_more_by_copy_and_rename(tmp_path: Path) -> None:
    path = tmp_path / name_of(THREAD, ".jsonl.zst")
    path.write_bytes(zstandard.ZstdCompressor().compress(told().bytes()))
    seen = opened(path)
    patch = AGENT.encode(seen.session, seen.view, proposal({seen.units[2].id: "summarize"}), stamp())
    (change,) = patch.changes
    assert isinstance(change, Replace) and change.pieces[0] == Kept(0, path.stat().st_size) and patch.kind == "replace"
    assert [content(item) for item in read_back(seen, patch).view.items] == expected(
        seen, proposal({seen.units[2].id: "summarize"})
    )


@pytest.mark.parametrize("ending", [".jsonl", ".jsonl.zst"])
@pytest.mark.parametrize("paginated", [True, False])
def test_a_fork_is_a_session_of_its_own_with_the_same_view(tmp_path: Path, paginated: bool, ending: str) -> None:
    build = Rollout(paginated=paginated, session_id=THREAD, context_window={"window_id": "w0"})
    build.turn("one", THINKING, call("a"), output("a", "A")).turn("two").turn("three")
    path = tmp_path / name_of(THREAD, ending)
    data = build.bytes()
    path.write_bytes(zstandard.ZstdCompressor().compress(data) if ending.endswith("zst") else data)
    seen = open_session(path)
    for proposed in (Proposal("handoff"), proposal({seen.units[0].id: "summarize", seen.units[1].id: "drop"})):
        patch = AGENT.fork(seen.session, seen.view, proposed, stamp())
        (change,) = patch.changes
        assert isinstance(change, Create) and patch.kind == "fork" and patch.session.parent == tmp_path
        fork = read_back(seen, patch)
        assert fork.session.identity != THREAD and fork.session.identity in patch.session.name
        assert fork.session.parent == THREAD and fork.session.detail.start["session_id"] == fork.session.identity
        assert [content(item) for item in fork.view.items] == expected(seen, proposed)
        if paginated:
            assert change.size < 4000  # its parent's lines are not copied
            assert fork.session.detail.start["history_base"]["end_byte_offset"] == len(data)
        assert path.read_bytes() and not fork.session.detail.refusal


def test_a_fork_of_a_fork_at_an_inherited_entry_leaves_the_parent_there(tmp_path: Path) -> None:
    parent = Rollout().turn("one").turn("two")
    parent.write(tmp_path)
    child = parent.fork().turn("three").write(tmp_path)
    entries = open_session(child).session.entries
    inherited = next(one for one in entries if one.path is not None and one.role == "assistant")
    seen = open_session(child, leaf=inherited.id)
    fork = read_back(seen, AGENT.fork(seen.session, seen.view, Proposal("handoff"), stamp()))
    assert texts(fork) == ["one", "re one"]
    assert fork.session.detail.start["history_base"]["thread_id"] == THREAD
    whole = read_back(
        open_session(child), AGENT.fork(open_session(child).session, seen.view, Proposal("handoff"), stamp())
    )
    assert texts(whole)[-2:] == ["three", "re three"] and whole.session.parent == CHILD


def test_history_tells_what_our_commit_took(tmp_path: Path) -> None:
    seen = opened(told().write(tmp_path))
    unit = unit_with(seen, "A" * 300)
    after = committed(seen, proposal({unit.id: "summarize"}))
    past = list(AGENT.history(after.session, after.resume))
    assert {one.sight for one in past if one.item.text == "A" * 300} == {"summarized"}
    assert [one.by for one in AGENT.usage(after.session).boundaries] == ["seamline"]
    assert AGENT.detect(Disk(), after.session.path)
