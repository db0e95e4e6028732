"""A pi session's past: what the model still sees, what left the view and with which record; the provider's figures."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.files import Overlay
from core.opening import Opened
from core.proposal import Disposition, Proposal, Summary
from core.view import Seen
from tests.core.pi_sessions import Build, opened, sessions, stamp
from tests.core.test_pi_write import proposals, read_back


def history(seen: Opened) -> list[Seen]:
    return list(seen.agent.history(seen.session, seen.resume))


def sights(seen: Opened) -> list[tuple[str, str, str | None]]:
    return [(one.item.text or one.item.kind, one.sight, one.left_at) for one in history(seen)]


@pytest.mark.parametrize("version", ["1.6.0", "0.73.1"])
@given(data=st.data())
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_what_is_visible_is_the_view(version: str, data: st.DataObject) -> None:
    seen = opened(data.draw(sessions()), version)
    if data.draw(st.booleans()):
        proposal = data.draw(proposals(seen, True))
        if proposal.dispositions:
            seen = read_back(seen, seen.agent.encode(seen.session, seen.view, proposal, stamp()))
    in_view = {
        (item.source[0], item.kind, item.text, item.call_id, item.sha256)
        for item in seen.view.items
        if item.origin == "stored" and len({source.entry for source in item.source}) == 1
    }
    visible = {
        (one.item.source[0], one.item.kind, one.item.text, one.item.call_id, one.item.sha256)
        for one in history(seen)
        if one.sight == "visible"
    }
    moved = "(image attached after the tool results)"
    assert {known for known in visible if moved not in known[2]} == {
        known for known in in_view if moved not in known[2]
    }
    left = {one.left_at for one in history(seen) if one.sight in ("summarized", "pruned", "dropped")}
    assert left <= {entry.id for entry in seen.session.entries}


def test_each_item_says_with_what_it_left() -> None:
    build = Build()
    build.user("one")
    build.reply("two")
    build.user("three")
    build.reply("four")
    first = build.add("compaction", summary="FIRST", firstKeptEntryId="e0000002", tokensBefore=1)
    edit = build.add("context_edit", targetId="e0000003", replacement={"content": "short"})
    omit = build.add("context_edit", targetId="e0000002", replacement=None)
    build.user("five")
    build.message("bashExecution", None, command="ls", output="a", exitCode=0, excludeFromContext=True)
    build.assistant([{"type": "text", "text": "broken off"}], stopReason="aborted")
    seen = opened(build.bytes())
    assert sights(seen)[:4] == [
        ("one", "summarized", first),
        ("two", "summarized", first),
        ("three", "dropped", omit),
        ("four", "pruned", edit),
    ]
    assert [(sight, at) for _, sight, at in sights(seen)[4:]] == [
        ("visible", None),
        ("visible", None),
        ("never", None),
        ("never", None),
    ]
    second = build.add("compaction", summary="SECOND", firstKeptEntryId="e0000007", tokensBefore=1)
    later = sights(opened(build.bytes()))
    assert later[:4] == sights(seen)[:4]
    assert later[4][1:] == ("summarized", second)
    assert [at for text, _, at in later if "SECOND" in text] == [None]


def test_an_edit_of_what_has_left_already_changes_nothing() -> None:
    build = Build()
    build.user("one")
    build.user("two")
    compaction = build.add("compaction", summary="FIRST", firstKeptEntryId="e0000001", tokensBefore=1)
    build.add("context_edit", targetId="e0000000", replacement=None)
    assert sights(opened(build.bytes()))[0] == ("one", "summarized", compaction)


def test_a_compaction_may_bring_back_what_an_earlier_one_took() -> None:
    build = Build()
    build.user("one")
    build.user("two")
    build.add("compaction", "c1", summary="FIRST", firstKeptEntryId="c1", tokensBefore=1)
    build.user("three")
    build.add("compaction", "c2", summary="SECOND", firstKeptEntryId="e0000001", tokensBefore=1)
    found = {text: (sight, at) for text, sight, at in sights(opened(build.bytes()))}
    assert found["one"] == ("summarized", "c1")
    assert found["two"] == found["three"] == ("visible", None)


@pytest.mark.parametrize("version", ["1.6.0", "0.73.1"])
def test_our_own_commits_tell_dropped_from_summarised(version: str) -> None:
    build = Build()
    for text in ("one", "two", "three", "four"):
        build.user(text)
    seen = opened(build.bytes(), version)
    dispositions = (
        Disposition("e0000000", "drop", ""),
        Disposition("e0000001", "summarize", ""),
        Disposition("e0000003", "summarize", ""),
    )
    proposal = Proposal("handoff", dispositions, None, Summary("offline", "SUMMARY"))
    patch = seen.agent.encode(seen.session, seen.view, proposal, stamp())
    after = opened(Overlay(seen.session.files, patch), version)
    found = [(text, sight) for text, sight, _ in sights(after) if "SUMMARY" not in text]
    assert sorted(found) == [("four", "summarized"), ("one", "dropped"), ("three", "visible"), ("two", "summarized")]
    assert [boundary.by for boundary in after.usage.boundaries] == ["seamline"]


def test_a_copy_stands_for_what_it_copies() -> None:
    build = Build()
    build.user("one")
    build.assistant([build.call()])
    build.result("call_1", "long")
    build.user("two")
    build.add("compaction", summary="EARLIER", firstKeptEntryId="e0000001", tokensBefore=1)
    seen = opened(build.bytes(), "0.73.1")
    source = seen.options(seen.units[1]).results
    dispositions = (Disposition("e0000001", "point", "", source, "[short]"), Disposition("e0000003", "drop", ""))
    patch = seen.agent.encode(seen.session, seen.view, Proposal("handoff", dispositions), stamp())
    after = opened(Overlay(seen.session.files, patch), "0.73.1")
    told = [(text.split("\n")[0][:5], sight) for text, sight, _ in sights(after)]
    assert told == [
        ("one", "summarized"),
        ("long", "pruned"),
        ("two", "dropped"),
        ("The c", "visible"),
        ("tool_", "visible"),
        ("[shor", "visible"),
    ]


def test_results_are_named_as_their_call_is() -> None:
    build = Build()
    build.user("one")
    build.assistant([build.call(call_id="call|with:signs")], ("mock", "other-model"), api="openai-completions")
    build.result("call|with:signs", "r")
    build.reply("two")
    seen = opened(build.bytes())
    in_view = [item.call_id for item in seen.view.items if item.call_id]
    assert [one.item.call_id for one in history(seen) if one.item.call_id] == in_view == ["call_with_signs"] * 2


def figures(total: int, **fields: int) -> dict[str, int]:
    return {"input": 10, "output": 5, "cacheRead": 100, "cacheWrite": 1, "totalTokens": total, **fields}


def test_usage_is_one_point_for_each_reply_that_counts() -> None:
    build = Build()
    build.user("one")
    build.assistant([{"type": "text", "text": "a"}], usage=figures(120))
    build.assistant([{"type": "text", "text": "b"}], usage=figures(0))
    build.assistant([{"type": "text", "text": "c"}], usage=figures(999), stopReason="error")
    build.assistant([{"type": "text", "text": "d"}], usage=dict.fromkeys(figures(0), 0))
    build.assistant([{"type": "text", "text": "e"}], usage=None)
    build.message("user", [{"type": "text", "text": "two"}, {"type": "text", "text": "three"}])
    usage = opened(build.bytes(), "0.73.1").usage
    assert [(point.entry, point.context, point.cached, point.output) for point in usage.points] == [
        ("e0000001", 120, 100, 5),
        ("e0000002", 116, 100, 5),
    ]
    assert (usage.current, usage.stale) == (116, "")
    assert [(source.entry, source.part) for source in usage.later if source.entry == "e0000006"] == [
        ("e0000006", 0),
        ("e0000006", 1),
    ]


def test_a_figure_from_before_a_compaction_or_an_edit_is_stale() -> None:
    build = Build()
    build.user("one")
    build.reply("two")
    build.add("context_edit", targetId="e0000000", replacement={"content": "1"})
    edited = opened(build.bytes()).usage
    assert edited.current is None and "edited" in edited.stale
    build.add("compaction", summary="S", firstKeptEntryId="e0000000", tokensBefore=777)
    compacted = opened(build.bytes()).usage
    assert compacted.current is None and "compacted" in compacted.stale and compacted.later == ()
    assert [(boundary.by, boundary.tokens_before) for boundary in compacted.boundaries] == [("pi", 777)]
    build.reply("three")
    build.records[-1]["message"]["timestamp"] = 1_900_000_000_000
    assert opened(build.bytes()).usage.current == 54
    build.records[-1]["message"]["timestamp"] = 1_000
    assert "not newer" in opened(build.bytes()).usage.stale
    assert "no reply" in opened(Build().bytes()).usage.stale
