"""What is written into a pi session: read back, it is what the proposal says; cut short, it splits no pair."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from core.files import Overlay
from core.opening import Opened
from core.patch import Append, Create, Patch
from core.proposal import Disposition, Proposal, Summary
from core.view import Item, pair_up
from tests.core.pi_sessions import PATH, opened, sessions, stamp

VERSIONS = ("1.6.0", "0.73.1")
SUMMARY = "What was done."
WRAPPED = (
    "The conversation history before this point was compacted into the following summary:"
    f"\n\n<summary>\n{SUMMARY}\n</summary>"
)

many = settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


# ---- the reference: what the model should get, from the view and the proposal alone


def content(item: Item) -> tuple[Any, ...]:
    return (item.role, item.kind, item.text, item.call_id, item.name, repr(item.arguments), item.opaque, item.signed)


def expected(before: Opened, proposal: Proposal) -> tuple[list[tuple[Any, ...]], list[str]]:
    """The after-view: everything but pictures in order, and the pictures.

    Left out is what pi makes up itself: fillers for missing results, and the lines above pictures that a wire moves
    behind a run of results (so pictures stand elsewhere when runs grow together).
    """
    gone = {d.unit for d in proposal.dispositions if d.what in ("summarize", "drop")}
    texts = {d.source[0].entry: d for d in proposal.dispositions if d.what in ("limit", "point")}
    summarised = any(d.what == "summarize" for d in proposal.dispositions)
    rest = [content(Item("user", "text", WRAPPED))] if summarised else []
    pictures: list[str] = []
    unit_of = {position: unit for unit in before.units for position in unit.items}
    for position, item in enumerate(before.view.items):
        if unit_of[position].id in gone or item.origin != "stored":
            continue
        change = texts.get(item.source[0].entry)
        if item.kind == "image":
            if change is None or change.what == "limit":
                pictures.append(item.sha256)
        elif change is not None and item.kind == "tool_result":
            rest.append((*content(item)[:2], change.text, *content(item)[3:]))
        else:
            rest.append(content(item))
    return rest, sorted(pictures)


def actual(after: Opened) -> tuple[list[tuple[Any, ...]], list[str]]:
    stored = [item for item in after.view.items if item.origin == "stored"]
    rest = [content(item) for item in stored if item.kind != "image"]
    return rest, sorted(item.sha256 for item in stored if item.kind == "image")


def loose_results(seen: Opened) -> list[tuple[str, str]]:
    """Results that stand without a call before them, pi's own fillers left out."""
    items = seen.view.items
    orphans = [items[position] for position in pair_up(items).orphans]
    known = {item.call_id for item in items if item.kind == "tool_call"}
    return sorted((item.call_id, item.text) for item in orphans if item.call_id not in known)


def unanswered(seen: Opened) -> list[str]:
    return [seen.view.items[position].call_id for position in pair_up(seen.view.items).unanswered]


def model_of(seen: Opened) -> tuple[str | None, ...]:
    known = (seen.resume.provider, seen.resume.model, seen.resume.wire)
    return tuple(one.value if one is not None else None for one in known)


# ---- random proposals


@st.composite
def proposals(draw: DrawFn, seen: Opened, summary: bool) -> Proposal:
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
    earlier = next((unit for unit in seen.units if unit.kind == "summary"), None)
    if summarised and earlier is not None and not any(d.unit == earlier.id for d in dispositions):
        dispositions.insert(0, Disposition(earlier.id, "summarize", "random"))
    return Proposal("handoff", tuple(dispositions), None, Summary("offline", SUMMARY) if summarised else None)


def commit(before: Opened, proposal: Proposal, seed: int = 0) -> Patch:
    return before.agent.encode(before.session, before.view, proposal, stamp(seed))


def read_back(before: Opened, patch: Patch) -> Opened:
    return opened(Overlay(before.session.files, patch), before.resume.client_version.value, patch.session)


@pytest.mark.parametrize("version", VERSIONS)
@given(data=st.data())
@many
def test_the_after_view_is_what_the_proposal_says(version: str, data: st.DataObject) -> None:
    before = opened(data.draw(sessions()), version)
    for seed in range(2):
        proposal = data.draw(proposals(before, data.draw(st.booleans())))
        if not proposal.dispositions:
            return
        after = read_back(before, commit(before, proposal, seed))
        assert actual(after) == expected(before, proposal)
        assert not unanswered(after)
        assert set(loose_results(after)) <= set(loose_results(before))
        assert model_of(after) == model_of(before)
        before = after


@pytest.mark.parametrize("version", VERSIONS)
@given(data=st.data())
@settings(many, max_examples=100)
def test_a_fork_holds_the_same_view(version: str, data: st.DataObject) -> None:
    before = opened(data.draw(sessions()), version)
    proposal = data.draw(proposals(before, data.draw(st.booleans())))
    patch = before.agent.fork(before.session, before.view, proposal, stamp())
    after = read_back(before, patch)
    assert [type(change) for change in patch.changes] == [Create]
    assert patch.session.parent == PATH.parent
    assert after.session.detail.header["parentSession"] == str(PATH)
    assert actual(after) == expected(before, proposal)


@pytest.mark.parametrize("version", VERSIONS)
@given(data=st.data())
@settings(many, max_examples=100)
def test_an_append_that_is_cut_short_splits_no_pair(version: str, data: st.DataObject) -> None:
    before = opened(data.draw(sessions()), version)
    proposal = data.draw(proposals(before, data.draw(st.booleans())))
    if not proposal.dispositions:
        return
    append = only_append(commit(before, proposal))
    known = set(loose_results(before))
    lengths = [at + 1 for at, byte in enumerate(append.data) if byte == 10]
    lengths += data.draw(st.lists(st.integers(0, len(append.data)), max_size=4))
    for length in lengths:
        part = Patch((Append(PATH, append.at, append.data[:length]),), PATH, "append")
        seen = read_back(before, part)
        assert not unanswered(seen)
        assert set(loose_results(seen)) <= known


def only_append(patch: Patch) -> Append:
    (change,) = patch.changes
    assert isinstance(change, Append)
    return change
