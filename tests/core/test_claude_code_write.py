"""What is written into a Claude Code session: read back, it is what the proposal says; cut short, it harms nothing."""

from __future__ import annotations

from collections import Counter as Multiset
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from core.agents.claude_code.compacting import OPENING
from core.errors import CommitRefused
from core.files import Overlay
from core.opening import Opened
from core.patch import Append, Create, Patch
from core.proposal import Disposition, Proposal, Summary
from core.view import Item, Unit, pair_up
from tests.core.claude_random import PATH, opened, sessions, stamp

SUMMARY = "What was done, {}."

many = settings(
    max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


# ---- the reference: what the model should get, from the view and the proposal alone


def content(item: Item) -> tuple[Any, ...]:
    words = (item.role, item.kind, item.text, item.call_id, item.name, repr(item.arguments), item.sha256)
    return (*words, item.opaque, item.signed, item.is_error, item.mark, item.wire_type)


def expected(before: Opened, proposal: Proposal) -> list[tuple[Any, ...]]:
    """The after-view without the summary, in order."""
    gone = {d.unit for d in proposal.dispositions if d.what in ("summarize", "drop")}
    texts = {d.source[0]: d for d in proposal.dispositions if d.what in ("limit", "point")}
    pointed = {source.entry for source, d in texts.items() if d.what == "point"}
    unit_of = {position: unit for unit in before.units for position in unit.items}
    rest: list[tuple[Any, ...]] = []
    for position, item in enumerate(before.view.items):
        if unit_of[position].id in gone:
            continue
        change = texts.get(item.source[0]) if item.source else None
        if item.kind == "tool_result" and change is not None:
            told = content(item)
            rest.append((*told[:2], change.text, *told[3:]))
        elif item.kind != "image" or item.role != "tool" or item.source[0].entry not in pointed:
            rest.append(content(item))
    return rest


def parted(items: list[tuple[Any, ...]]) -> tuple[list[tuple[Any, ...]], Multiset[tuple[Any, ...]]]:
    """Without the client's standing context, which it gathers at the end of each gap; and that, in any order."""
    return [item for item in items if item[0] != "system"], Multiset(item for item in items if item[0] == "system")


def actual(after: Opened, proposal: Proposal) -> tuple[list[tuple[Any, ...]], list[str]]:
    """All but the new summary; and that."""
    words = proposal.summary.text if proposal.summary is not None else "\0"
    ours = [item.text for item in after.view.items if item.mark == "summary" and words in item.text]
    return [content(item) for item in after.view.items if item.text not in ours], ours


def loose(seen: Opened) -> set[tuple[str, str]]:
    items = seen.view.items
    pairing = pair_up((*items, *seen.view.fresh))
    every = (*items, *seen.view.fresh)
    return {(every[at].kind, every[at].call_id) for at in pairing.orphans + pairing.unanswered}


@st.composite
def proposals(draw: DrawFn, seen: Opened, summary: bool, seed: int = 0) -> Proposal:
    """Any set of units kept, dropped, summarised or shortened, as a person may have edited it."""
    dispositions: list[Disposition] = []
    whole = ["keep", "keep", "drop", "summarize"] if summary else ["keep", "keep", "drop"]
    for unit in seen.units:
        options = seen.options(unit)
        what = draw(st.sampled_from(whole))
        if what == "keep" and options.results and draw(st.booleans()):
            for source in options.results:
                shorter = draw(st.sampled_from(["keep", "limit", "point"]))
                if shorter in ("limit", "point"):
                    text = f"[{shorter}: {source.entry}]"
                    dispositions.append(Disposition(unit.id, shorter, "random", (source,), text))
        elif what in ("drop", "summarize"):
            dispositions.append(Disposition(unit.id, what, "random"))
    summarised = any(d.what == "summarize" for d in dispositions)
    for unit in seen.units:
        if summarised and unit.kind == "summary" and not any(d.unit == unit.id for d in dispositions):
            dispositions.insert(0, Disposition(unit.id, "summarize", "random"))
    return Proposal(
        "handoff", tuple(dispositions), None, Summary("offline", SUMMARY.format(seed)) if summarised else None
    )


def commit(before: Opened, proposal: Proposal, seed: int = 0) -> Patch:
    return before.agent.encode(before.session, before.view, proposal, stamp(seed))


def read_back(before: Opened, patch: Patch) -> Opened:
    return opened(Overlay(before.session.files, patch), patch.session)


def model_of(seen: Opened) -> str:
    return seen.resume.model.value if seen.resume.model is not None else ""


def check(after: Opened, before: Opened, proposal: Proposal) -> None:
    if model_of(after) != model_of(before):
        return  # no reply is left that names the model: the client goes on with its own, which gets context otherwise
    rest, ours = actual(after, proposal)
    assert parted(rest) == parted(expected(before, proposal))
    assert len(ours) == (proposal.summary is not None)
    if ours:
        assert proposal.summary is not None
        assert ours[0].startswith(f"{OPENING}\n\nSummary:\n{proposal.summary.text}\n")
        assert f"read the full transcript at: {PATH}\n" in ours[0]
        assert after.view.items[0].mark == "summary"
    assert loose(after) <= loose(before)


@given(data=st.data())
@many
def test_the_after_view_is_what_the_proposal_says(data: st.DataObject) -> None:
    before = opened(data.draw(sessions()))
    for seed in range(2):
        proposal = data.draw(proposals(before, data.draw(st.booleans()), seed))
        if not proposal.dispositions:
            return
        try:
            patch = commit(before, proposal, seed)
        except CommitRefused as refused:
            assert "nothing would be left" in str(refused) or "no result yet" in str(refused)
            return
        after = read_back(before, patch)
        check(after, before, proposal)
        before = after


@given(data=st.data())
@settings(many, max_examples=100)
def test_a_fork_holds_the_same_view(data: st.DataObject) -> None:
    before = opened(data.draw(sessions()))
    proposal = data.draw(proposals(before, data.draw(st.booleans())))
    try:
        patch = before.agent.fork(before.session, before.view, proposal, stamp())
    except CommitRefused:
        return
    after = read_back(before, patch)
    assert [type(change) for change in patch.changes] == [Create]
    assert patch.session.parent == PATH.parent
    assert after.session.identity == patch.session.stem != before.session.identity
    assert {line.session for line in after.session.detail.stored} == {after.session.identity}
    check(after, before, proposal)


@given(data=st.data())
@settings(many, max_examples=100)
def test_a_fork_begins_at_any_past_entry(data: st.DataObject) -> None:
    whole = opened(data.draw(sessions()))
    leaf = data.draw(st.sampled_from(list(whole.session.detail.lines)))
    before = opened(whole.session.files, leaf=leaf)
    after = read_back(before, before.agent.fork(before.session, before.view, Proposal("handoff"), stamp()))
    assert list(map(content, after.view.items)) == list(map(content, before.view.items))
    assert not [damage for damage in after.session.damage if damage.kind in ("missing-parent", "foreign-session")]


# ---- torn appends


def harmless(seen: Opened, before: Opened, proposal: Proposal) -> None:
    """No pair is parted, and all that a result was not shortened to still stands in full."""
    assert loose(seen) <= loose(before)
    texts = {d.source[0]: d for d in proposal.dispositions if d.what in ("limit", "point")}
    changed = {source.entry for source in texts}
    # A call that has no result yet is sent, with its reply, only while nothing but context stands behind it.
    waiting = {id(before.view.items[at]) for unit in before.units if _in_flight(before, unit) for at in unit.items}
    shown = Multiset((item.kind, item.text, item.call_id, item.sha256) for item in seen.view.items)
    # Those that change come last: an equal picture that stays is no sign of one that went.
    for item in sorted(before.view.items, key=lambda item: bool(item.source and item.source[0].entry in changed)):
        same = (item.kind, item.text, item.call_id, item.sha256)
        if shown[same]:
            shown[same] -= 1
        elif item.kind == "tool_result" and item.source[0] in texts:
            stands = next(
                other.text for other in seen.view.items if other.call_id == item.call_id and other.role == "tool"
            )
            assert stands.startswith(texts[item.source[0]].text or "\0")
        else:
            of_a_result = item.kind == "image" and item.role == "tool" and item.source[0].entry in changed
            assert of_a_result or id(item) in waiting, item


def _in_flight(seen: Opened, unit: Unit) -> bool:
    return any(at in pair_up(seen.view.items).unanswered for at in unit.items)


def torn(before: Opened, append: Append, length: int) -> Opened:
    part = Patch((Append(PATH, append.at, append.data[:length]),), PATH, "append")
    return opened(Overlay(before.session.files, part))


@given(data=st.data())
@settings(many, max_examples=100)
def test_an_append_that_is_cut_short_harms_nothing(data: st.DataObject) -> None:
    before = opened(data.draw(sessions()))
    proposal = data.draw(proposals(before, data.draw(st.booleans())))
    try:
        append = only_append(commit(before, proposal))
    except CommitRefused:
        return
    new = list(map(content, read_back(before, commit(before, proposal)).view.items))
    ends = [at for at, byte in enumerate(append.data) if byte == 10]
    lengths = sorted(
        {*ends, *(end + 1 for end in ends), *data.draw(st.lists(st.integers(0, len(append.data)), max_size=4))}
    )
    for length in lengths:
        seen = torn(before, append, length)
        if list(map(content, seen.view.items)) != new:
            harmless(seen, before, proposal)


def only_append(patch: Patch) -> Append:
    (change,) = patch.changes
    assert isinstance(change, Append)
    return change
