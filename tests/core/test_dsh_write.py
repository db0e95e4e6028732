"""What is written into a dsh log: read back, it is what the proposal says; cut short, it is not there at all."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from core.agents.dsh.estimating import estimate
from core.agents.dsh.finding import folder_name
from core.agents.dsh.write import CLOSING, PREAMBLE
from core.compressed import stored
from core.cutting import legal_cuts, refusal
from core.errors import CommitRefused
from core.files import Overlay
from core.jsonl import decode
from core.opening import Opened, open_session
from core.patch import Append, Create, Patch, Replace
from core.planning import plan_session
from core.policies.settings import Settings
from core.proposal import Disposition, Proposal, Summary
from core.view import Item, pair_up
from tests.core.dsh_random import PATH, PLAIN, builds, log_of, opened, stamp
from tests.core.dsh_sessions import Build, call, frames, text, usual

CHECKSUM = 4
"""Bytes."""

SUMMARY = "What was done: 一.\n"

many = settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


def content(item: Item) -> tuple[Any, ...]:
    return (item.role, item.kind, item.text, item.call_id, item.name, repr(item.arguments), item.is_error)


def expected(before: Opened, proposal: Proposal) -> tuple[list[tuple[Any, ...]], list[str]]:
    """The after-view from the view and the proposal alone: everything but pictures in order, and the pictures.

    The summary stands where the first run of what leaves stood that has something summarised in it.
    """
    what = {d.unit: d.what for d in proposal.dispositions if d.what in ("summarize", "drop")}
    texts = {d.source[0].entry: d for d in proposal.dispositions if d.what in ("limit", "point")}
    unit_of = {position: unit for unit in before.units for position in unit.items}
    summary = [content(Item("user", "text", PREAMBLE + SUMMARY + CLOSING))] if proposal.summary else []
    rest: list[tuple[Any, ...]] = []
    pictures: list[str] = []
    run: list[str] = []
    for position, item in enumerate(before.view.items):
        fate = what.get(unit_of[position].id)
        if item.kind == "image":
            change = texts.get(item.source[0].entry)
            pictures += [item.sha256] if fate is None and (change is None or change.what == "limit") else []
        elif fate is not None:
            run.append(fate)
        else:
            rest += summary if "summarize" in run else []
            summary, run = ([] if "summarize" in run else summary), []
            change = texts.get(item.source[0].entry) if item.kind == "tool_result" else None
            rest.append((*content(item)[:2], change.text, *content(item)[3:]) if change else content(item))
    return [*rest, *summary], sorted(pictures)


def actual(after: Opened) -> tuple[list[tuple[Any, ...]], list[str]]:
    items = after.view.items
    rest = [content(item) for item in items if item.kind != "image"]
    return rest, sorted(item.sha256 for item in items if item.kind == "image")


@st.composite
def proposals(draw: DrawFn, seen: Opened, summary: bool) -> Proposal:
    """Any set of units kept, dropped, summarised or shortened, as a person may have edited it."""
    dispositions: list[Disposition] = []
    whole = ["keep", "keep", "drop", "summarize"] if summary else ["keep", "keep", "drop"]
    earlier = any(unit.kind == "summary" for unit in seen.units)
    for unit in seen.units:
        options = seen.options(unit)
        what = draw(st.sampled_from(whole))
        if unit.kind == "summary" and summary:
            what = "summarize"
        if what == "keep" and options.results:
            for source in options.results:
                shorter = draw(st.sampled_from(["keep", "limit", "point"]))
                if shorter in ("limit", "point"):
                    words = f"[{shorter}: {source.entry}]"
                    dispositions.append(Disposition(unit.id, shorter, "random", (source,), words))
        elif what in ("drop", "summarize"):
            dispositions.append(Disposition(unit.id, what, "random"))
    summarised = any(d.what == "summarize" for d in dispositions)
    assert summarised or not (summary and earlier)
    return Proposal("handoff", tuple(dispositions), None, Summary("offline", SUMMARY) if summarised else None)


def commit(before: Opened, proposal: Proposal, seed: int = 0) -> Patch:
    return before.agent.encode(before.session, before.view, proposal, stamp(seed))


def laid_over(before: Opened, patch: Patch) -> Overlay:
    return Overlay(stored(before.session.files), patch)


def read_back(before: Opened, patch: Patch) -> Opened:
    return opened(laid_over(before, patch), patch.session)


def written(patch: Patch) -> list[dict[str, Any]]:
    """The events of an append."""
    (change,) = patch.changes
    assert isinstance(change, Append)
    lines = zstandard.ZstdDecompressor().decompress(change.data).split(b"\n")
    assert lines[-1] == b""
    return [decode(line) for line in lines[:-1]]


@given(data=st.data())
@many
def test_the_after_view_is_what_the_proposal_says(data: st.DataObject) -> None:
    before = opened(log_of(data.draw(builds())))
    for seed in range(3):
        proposal = data.draw(proposals(before, data.draw(st.booleans())))
        if not proposal.dispositions:
            return
        after = read_back(before, commit(before, proposal, seed))
        assert actual(after) == expected(before, proposal)
        assert not after.session.damage
        assert pair_up(after.view.items).whole
        before = after


@given(data=st.data())
@settings(many, max_examples=40)
def test_a_fork_holds_the_same_view_and_names_its_parent(data: st.DataObject) -> None:
    before = opened(log_of(data.draw(builds())))
    proposal = data.draw(proposals(before, data.draw(st.booleans())))
    patch = before.agent.fork(before.session, before.view, proposal, stamp())
    after = read_back(before, patch)
    assert [type(change) for change in patch.changes] == [Create]
    assert patch.session.parents[1] == PATH.parents[1] and patch.session.name == PATH.name
    assert after.session.identity == patch.session.parent.name != before.session.identity
    assert after.session.parent == before.session.identity and after.session.cwd == before.session.cwd
    assert after.session.detail.seeded == before.session.detail.next_seq
    assert actual(after) == expected(before, proposal)


@given(data=st.data())
@settings(many, max_examples=40)
def test_a_fork_of_the_past_holds_the_view_at_that_entry(data: st.DataObject) -> None:
    log = log_of(data.draw(builds()))
    whole = opened(log)
    leaf = data.draw(st.sampled_from([entry.id for entry in whole.session.entries]))
    past = opened(log, leaf=leaf)
    after = read_back(past, past.agent.fork(past.session, past.view, Proposal("handoff"), stamp()))
    assert [item.to_json() for item in after.view.items] == [item.to_json() for item in past.view.items]
    if leaf != whole.session.leaf and past.units:
        drop = Proposal("handoff", (Disposition(past.units[0].id, "drop", "test"),))
        with pytest.raises(CommitRefused, match="only ever appends: use --as fork"):
            commit(past, drop)


def some_of_everything() -> tuple[Opened, Proposal]:
    """A session and a proposal with every disposition: point, limit, drop, summarise, keep."""
    made = usual()
    made.event("turn/start", {"turn": 2})
    for number, words in enumerate(["one", "two", "three", "four"]):
        made.user(words)
        made.reply(text(f"reading for {words}"), call(f"d{number}"), step=number + 1)
        made.result(f"d{number}", f"result {number} " * 50)
    made.reply(text("done"), step=5)
    made.event("turn/end", {"turn": 2, "reason": {"kind": "completed"}})
    before = opened(log_of(made))
    kinds = [unit.kind for unit in before.units]
    assert kinds == ["user", "exchange", "assistant", *["user", "exchange"] * 4, "assistant"]
    shorter = {4: ("point", "[see a.py]"), 6: ("limit", "result 1 … result 1")}
    old = {0: "summarize", 1: "drop", 2: "summarize"}
    dispositions = [Disposition(before.units[at].id, what, "old") for at, what in old.items()]  # type: ignore[arg-type]
    for at, (what, words) in shorter.items():
        unit = before.units[at]
        dispositions.append(Disposition(unit.id, what, "long", before.options(unit).results, words))  # type: ignore[arg-type]
    dispositions += [Disposition(before.units[8].id, "drop", "done"), Disposition(before.units[9].id, "summarize", "")]
    return before, Proposal("handoff", tuple(dispositions), None, Summary("offline", SUMMARY, {"goal": "it"}))


def test_events_are_numbered_paired_and_priced_as_dsh_does_it() -> None:
    before, proposal = some_of_everything()
    events = written(commit(before, proposal))
    assert [event["type"] for event in events] == [
        "seamline/commit",
        "turn/start",
        *("compaction/prune", "tool/result") * 2,
        "step/start",
        *("compaction/prune", "assistant/message"),
        "step/end",
        "turn/end",
        *("compaction/start", "compaction/summary", "user/message", "compaction/end"),
    ]
    first = before.session.detail.next_seq
    assert [event["seq"] for event in events] == list(range(first, first + len(events)))
    assert {event["time"] for event in events} == {1_796_000_000_250}
    assert events[1]["data"] == {"turn": 3}
    seqs = before.session.detail.seqs
    for price, replacing in pairwise(events):
        if price["type"] not in ("compaction/prune", "compaction/summary"):
            continue
        shadowed, operation = price["data"]["shadowedSeqs"], replacing["surfaceOp"]
        assert price["data"]["shadowedRange"] == {"start": operation["start"], "end": operation["end"]}
        assert (shadowed[0], shadowed[-1]) == (operation["start"], operation["end"])
        assert replacing["sourceEventSeqs"][-len(shadowed) :] == shadowed
        assert set(shadowed) <= set(seqs.values()) and price["data"]["shadowedTokenCount"] > 0
    summary, checkpoint = events[-3], events[-2]
    assert summary["data"]["summary"] == [{"type": "text", "text": SUMMARY}]
    assert [block["text"] for block in checkpoint["data"]["content"]] == [PREAMBLE, SUMMARY, CLOSING]
    assert checkpoint["data"]["source"]["plugin"] == "compact"
    assert checkpoint["sourceEventSeqs"][:2] == [events[-4]["seq"], summary["seq"]]
    assert len({event["data"].get("compactionId") for event in (events[0], *events[-4:-2], events[-1])}) == 1


def test_a_pruned_result_differs_from_the_old_one_in_what_it_holds_alone() -> None:
    before, proposal = some_of_everything()
    pointed = next(event for event in written(commit(before, proposal)) if event["type"] == "tool/result")
    entry = before.session.entry(str(pointed["surfaceOp"]["start"]))
    assert entry is not None
    old = decode(before.session.raw(entry))
    held = pointed["data"]["message"]["content"][0].pop("content")
    del old["data"]["message"]["content"][0]["content"]
    assert held == [{"type": "text", "text": "[see a.py]"}] and pointed["data"] == old["data"]


def views_of_every_beginning(before: Opened, append: Append) -> Iterator[tuple[int, Opened]]:
    for length in range(len(append.data) + 1):
        part = Patch((Append(append.path, append.at, append.data[:length]),), append.path, "append")
        yield length, read_back(before, part)


def test_every_beginning_of_an_append_gives_the_old_view_or_the_new_one() -> None:
    before, proposal = some_of_everything()
    patch = commit(before, proposal)
    (append,) = patch.changes
    assert isinstance(append, Append)
    old, new = before.view.items, read_back(before, patch).view.items
    assert old != new
    for length, seen in views_of_every_beginning(before, append):
        # The checksum at the end is all that may be missing: dsh takes whole blocks of a frame that breaks off.
        assert seen.view.items == (new if length >= len(append.data) - CHECKSUM else old)


def test_the_frame_is_as_dsh_writes_one() -> None:
    before, proposal = some_of_everything()
    (change,) = commit(before, proposal).changes
    assert isinstance(change, Append)
    told = zstandard.get_frame_parameters(change.data)
    assert told.has_checksum and told.content_size == len(zstandard.ZstdDecompressor().decompress(change.data))


def test_what_needs_more_than_one_block_replaces_the_file() -> None:
    before = opened(log_of(usual()))
    words = "".join(f"{number:x} " for number in range(40_000))
    everything = tuple(Disposition(unit.id, "summarize", "all") for unit in before.units)
    patch = commit(before, Proposal("handoff", everything, None, Summary("person", words)))
    assert patch.kind == "replace" and isinstance(patch.changes[0], Replace)
    after = read_back(before, patch)
    assert [item.text for item in after.view.items] == [PREAMBLE + words + CLOSING]
    size = stored(before.session.files).size(PATH)
    assert laid_over(before, patch).read(PATH, 0, size) == stored(before.session.files).read(PATH, 0, size)


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_a_log_that_is_not_compressed_is_replaced_with_its_own_line_end(end: bytes) -> None:
    before = opened(b"".join(usual().lines()).replace(b"\n", end), PLAIN)
    drop = Proposal("handoff", (Disposition(before.units[0].id, "drop", "test"),))
    patch = commit(before, drop)
    assert patch.kind == "replace"
    seen = laid_over(before, patch)
    whole = seen.read(PLAIN, 0, seen.size(PLAIN))
    assert whole.count(b"\n") == whole.count(end) == len(usual().lines()) + 7
    assert actual(read_back(before, patch)) == expected(before, drop)
    made = before.agent.fork(before.session, before.view, drop, stamp())
    assert made.session.name == PLAIN.name
    assert actual(read_back(before, made)) == expected(before, drop)


def dropping(seen: Opened) -> Proposal:
    return Proposal("handoff", (Disposition(seen.units[0].id, "drop", "test"),))


def test_a_torn_append_is_refused_but_can_be_forked() -> None:
    whole = log_of(usual())
    torn = opened(whole[: len(whole) * 9 // 10])
    assert any(one.kind == "torn-frame" for one in torn.session.damage)
    with pytest.raises(CommitRefused, match="breaks off: resume it once in dsh, which mends it"):
        commit(torn, dropping(torn))
    copy = torn.agent.fork(torn.session, torn.view, Proposal("handoff"), stamp())
    after = read_back(torn, copy)
    assert [content(item) for item in after.view.items] == [content(item) for item in torn.view.items]
    assert not after.session.damage


def test_an_open_turn_is_refused_and_a_plain_fork_keeps_what_dsh_will_add() -> None:
    made = Build()
    made.event("turn/start", {"turn": 1})
    made.user("look")
    made.reply(call("c1"))
    before = opened(log_of(made))
    with pytest.raises(CommitRefused, match="its last turn has no end"):
        commit(before, dropping(before))
    with pytest.raises(CommitRefused, match="ends inside a turn"):
        before.agent.fork(before.session, before.view, dropping(before), stamp())
    after = read_back(before, before.agent.fork(before.session, before.view, Proposal("handoff"), stamp()))
    assert after.view.items == before.view.items


def test_what_waits_in_the_inbox_waits_in_the_fork_too() -> None:
    made = usual()
    message = {"id": "w1", "role": "user", "content": [text("and then?")], "source": {"kind": "user"}}
    made.event("agent/inbox/spliced", {"target": "next-turn", "start": 0, "inserted": [message]})
    before = opened(log_of(made))
    waiting = before.units[-1]
    options = before.options(waiting)
    assert options.allowed == {"keep"} and "inbox" in options.refused["drop"]
    after = read_back(before, before.agent.fork(before.session, before.view, dropping(before), stamp()))
    assert [item.text for item in after.view.items if item.mark == "waiting"] == ["and then?"]


def test_a_silent_reply_leaves_with_those_on_both_its_sides() -> None:
    made = usual()
    made.event("turn/start", {"turn": 2})
    made.user("go on")
    silent = made.reply(step=1)
    made.user("please")
    made.event("turn/end", {"turn": 2, "reason": {"kind": "completed"}})
    before = opened(log_of(made))
    gone = tuple(Disposition(unit.id, "drop", "test") for unit in before.units[-2:])
    events = written(commit(before, Proposal("handoff", gone)))
    (price,) = (event for event in events if event["type"] == "compaction/prune")
    assert silent in price["data"]["shadowedSeqs"] and len(price["data"]["shadowedSeqs"]) == 3


def test_an_earlier_checkpoint_is_summarised_anew_or_dropped_with_a_new_one() -> None:
    before, proposal = some_of_everything()
    after = read_back(before, commit(before, proposal))
    assert [one.by for one in after.usage.boundaries] == ["seamline"]
    earlier = next(unit for unit in after.units if unit.kind == "summary")
    last = Disposition(after.units[-1].id, "summarize", "test")
    with pytest.raises(CommitRefused, match="can be kept only while no new summary is made"):
        commit(after, Proposal("handoff", (last,), None, Summary("offline", SUMMARY)))
    anew = Proposal("handoff", (Disposition(earlier.id, "drop", "old"), last), None, Summary("offline", SUMMARY))
    assert actual(read_back(after, commit(after, anew))) == expected(after, anew)


def test_history_tells_what_was_dropped_from_what_was_summarised() -> None:
    before, proposal = some_of_everything()
    after = read_back(before, commit(before, proposal))
    sights = {
        seen.item.source[0].entry: seen.sight
        for seen in after.agent.history(after.session, after.resume)
        if seen.sight not in ("visible", "pruned")
    }
    what = {d.unit: d.what for d in proposal.dispositions}
    wanted = {
        entry: "dropped" if what[unit.id] == "drop" else "summarized"
        for unit in before.units
        if what.get(unit.id) in ("drop", "summarize")
        for entry in unit.entries
    }
    assert sights == wanted and set(wanted.values()) == {"dropped", "summarized"}


def test_what_dsh_gives_anew_is_marked_and_its_absence_is_told() -> None:
    made = usual()
    source = {"kind": "plugin", "plugin": "@deepseek-ai/dsh-system-prompt", "form": "snapshot"}
    made.user("Current runtime context.", source=source)
    made.user("Rules for this folder.", source={"kind": "agent-instructions", "baseline": True})
    before = opened(log_of(made))
    snapshot, rules = before.units[-2:]
    for unit in (snapshot, rules):
        assert set(before.options(unit).grows_back) == {"drop", "summarize"}
    assert not before.options(before.units[0]).grows_back
    assert not any("runtime context" in words for words in before.view.warnings)
    gone = Proposal("handoff", (Disposition(snapshot.id, "drop", "test"),))
    assert any("behind the next prompt" in words for words in read_back(before, commit(before, gone)).view.warnings)


def test_a_result_without_its_call_can_leave() -> None:
    made = Build()
    made.event("turn/start", {"turn": 1})
    made.user("look")
    made.result("lost", "of no call")
    made.event("turn/end", {"turn": 1, "reason": {"kind": "completed"}})
    before = opened(log_of(made))
    assert before.units[-1].kind == "orphan"
    gone = Proposal("handoff", (Disposition(before.units[-1].id, "drop", "test"),))
    assert [item.text for item in read_back(before, commit(before, gone)).view.items] == ["look"]


def test_a_session_outside_dshs_folders_is_forked_below_its_own(tmp_path: Path) -> None:
    path = usual().write(tmp_path)
    before = open_session(path)
    patch = before.agent.fork(before.session, before.view, Proposal("handoff"), stamp())
    assert patch.session.parents[1] == tmp_path
    assert folder_name("..") == "~002E~002E" and folder_name("a/ä😀") == "a~002F~00E4~D83D~DE00"


def test_the_estimate_is_that_of_dshs_meter() -> None:
    blocks = [text("abcde"), {"type": "tool-result", "content": [text("🎉")]}, {"type": "image", "n": 1}]
    assert estimate({"role": "user", "content": blocks}) == (2 + 4) + 4 + (1 + 4) + (6 + 4) + 4
    assert estimate({"role": "assistant", "content": []}) == 0
    assert estimate({"role": "user", "content": []}) == 4


def test_a_header_alone_can_be_forked() -> None:
    before = opened(frames([Build().lines()[0]]))
    after = read_back(before, before.agent.fork(before.session, before.view, Proposal("handoff"), stamp()))
    assert after.session.parent == "session-made" and not after.session.damage


def test_no_cut_leaves_an_earlier_checkpoint_behind_it() -> None:
    before, proposal = some_of_everything()
    first = proposal.dispositions[0].unit
    later = tuple(one for one in proposal.dispositions if one.unit != first)
    after = read_back(before, commit(before, Proposal("handoff", later, None, proposal.summary)))
    place = next(at for at, unit in enumerate(after.units) if unit.kind == "summary")
    assert place > 0
    assert min(cut.position for cut in legal_cuts(after.units, after.view.items)) == place + 1
    assert "an earlier summary" in refusal(after.units, after.view.items, place)
    made = read_back(before, commit(before, Proposal("handoff", later, None, proposal.summary)))
    plan = plan_session(made, "dsh", Settings(target=1, keep_recent=1), stamp(1))
    assert plan.commits_as == "append" and all(d.what == "summarize" for d in plan.proposal.dispositions)
