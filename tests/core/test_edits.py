"""Edits of a proposal: no sequence of them splits a pair, and what a person chose stands in the after-view."""

from __future__ import annotations

import contextlib
from typing import get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.cutting import legal_cuts, ranked, refusal
from core.edit_file import lay_over
from core.edits import move_cut, remove_cut, set_summary, set_what, step_cut
from core.errors import EditRefused, Stale
from core.opening import Opened
from core.planning import Plan, revise
from core.policies import propose
from core.policies.settings import Settings
from core.proposal import Proposal, Summary, What
from core.view import pair_up
from tests.core.pi_sessions import Build, opened, sessions, stamp

WHATS = get_args(What)
SETTINGS = Settings(target=40)
"""A target so small that the policy always wants a cut."""

many = settings(max_examples=1_000, deadline=None, suppress_health_check=list(HealthCheck))


def written(opened: Opened, seen: object, kept: object, settings: Settings) -> Summary:
    """A stand-in for the offline writer: these tests are not about its text."""
    return Summary("offline", "what happened before")


def plan(before: Opened, proposal: Proposal) -> Plan:
    return revise(before, proposal, SETTINGS, stamp(), writer=written)


def edit(data: st.DataObject, before: Opened, proposal: Proposal) -> Proposal:
    """One random edit, legal or not; a refused one leaves the proposal as it was."""
    unit = data.draw(st.sampled_from(before.units))
    kind = data.draw(st.sampled_from(["what", "result", "move", "step", "remove", "summary"]))
    with contextlib.suppress(EditRefused):
        if kind == "what":
            return set_what(before, proposal, unit.id, data.draw(st.sampled_from(WHATS)))
        if kind == "result":
            results = before.options(unit).results
            source = data.draw(st.sampled_from(results)) if results else None
            what = data.draw(st.sampled_from(["keep", "limit", "point"]))
            return set_what(before, proposal, unit.id, what, (source,) if source else ())
        if kind == "move":
            return move_cut(before, proposal, unit.id)
        if kind == "step":
            return step_cut(before, proposal, data.draw(st.sampled_from([-2, -1, 1, 2])))
        if kind == "remove":
            return remove_cut(before, proposal)
        return set_summary(proposal, "in my own words")
    return proposal


@given(data=st.data())
@many
def test_no_sequence_of_edits_splits_a_pair(data: st.DataObject) -> None:
    version = data.draw(st.sampled_from(["1.6.0", "0.73.1"]))
    before = opened(data.draw(sessions(edits=version == "1.6.0")), version)
    if not before.units:
        return
    proposal = propose(before, SETTINGS)
    for _ in range(data.draw(st.integers(1, 6))):
        proposal = edit(data, before, proposal)
    made = plan(before, proposal)
    after = made.after
    assert made.commits_as == ("append" if proposal.dispositions else "none"), made.why
    known, now = pair_up(before.view.items), pair_up(after.view.items)
    loose_before = {before.view.items[at].call_id for at in known.orphans + known.unanswered}
    assert {after.view.items[at].call_id for at in now.orphans + now.unanswered} <= loose_before
    checks = {check.id: check for check in made.checks}
    assert all(checks[name].ok for name in checks.keys() & {"pairs-whole", "kept-unchanged", "gone", "shortened"})


@given(data=sessions())
@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
def test_a_legal_cut_parts_no_unit_and_an_illegal_one_has_a_reason(data: bytes) -> None:
    seen = opened(data)
    cuts = legal_cuts(seen.units, seen.view.items)
    legal = {cut.position for cut in cuts}
    for position in range(len(seen.units) + 1):
        assert bool(refusal(seen.units, seen.view.items, position)) == (position not in legal)
    for cut in cuts:
        border = seen.units[cut.position].first
        assert all(max(unit.items) < border for unit in seen.units[: cut.position])
    if cuts:
        ranks = ranked(cuts, cuts[-1].position)
        assert ranks[cuts[-1].position] == 1
        assert sorted(ranks.values()) == list(range(1, len(cuts) + 1))


def conversation(turns: int = 6) -> Build:
    """Turns of a user's message, a read with a long result, and an answer."""
    build = Build()
    for number in range(turns):
        build.user(f"request {number}: do step {number}")
        call = build.call(path=f"file{number}.py")
        build.assistant([call])
        build.result(call["id"], f"line {number}\n" * 400)
        build.reply(f"step {number} is done")
    return build


@pytest.fixture
def before() -> Opened:
    return opened(conversation().bytes())


def test_a_moved_cut_derives_only_what_lies_between(before: Opened) -> None:
    start = propose(before, Settings(target=4_000))
    assert start.cut is not None
    dropped = set_what(before, start, before.units[0].id, "drop")
    moved = step_cut(before, dropped, -2)
    assert moved.cut is not None and moved.cut.first_kept != start.cut.first_kept
    assert moved.of(before.units[0].id)[0].what == "drop"
    assert step_cut(before, moved, 2).dispositions == dropped.dispositions


def test_nothing_is_summarised_once_the_cut_is_removed(before: Opened) -> None:
    without = remove_cut(before, propose(before, Settings(target=4_000)))
    assert without.cut is None
    assert all(disposition.what != "summarize" for disposition in without.dispositions)


def test_a_unit_summarised_by_hand_brings_a_cut_and_a_summary(before: Opened) -> None:
    chosen = set_what(before, Proposal("handoff"), before.units[1].id, "summarize")
    made = plan(before, chosen)
    assert made.proposal.cut is not None and made.proposal.cut.first_kept == before.units[2].id
    assert made.proposal.summary is not None
    assert set_what(before, chosen, before.units[1].id, "keep").cut is None


def test_refused_edits_say_why(before: Opened) -> None:
    with pytest.raises(EditRefused, match="kept whole"):
        set_what(before, Proposal("handoff"), before.units[0].id, "point")
    with pytest.raises(EditRefused, match="no unit"):
        set_what(before, Proposal("handoff"), "nobody", "drop")
    with pytest.raises(EditRefused, match="nothing lies before"):
        move_cut(before, Proposal("handoff"), before.units[0].id)
    with pytest.raises(EditRefused, match="no legal cut further"):
        step_cut(before, Proposal("handoff"), -1)
    with pytest.raises(EditRefused, match="nothing is summarised"):
        set_summary(Proposal("handoff"), "text")


def test_an_edit_file_gives_what_the_same_edits_by_hand_give(before: Opened) -> None:
    own = propose(before, Settings(target=4_000))
    by_hand = step_cut(before, own, -2)
    by_hand = set_what(before, by_hand, before.units[1].id, "keep")
    by_hand = set_what(before, by_hand, before.units[2].id, "drop")
    by_hand = set_summary(by_hand, "my own summary")
    assert by_hand.cut is not None
    file = {
        "session": {"fingerprint": before.session.fingerprint},
        "cut": {"first_kept": by_hand.cut.first_kept},
        "dispositions": [
            {"unit": before.units[1].id, "what": "keep"},
            {"unit": before.units[2].id, "what": "drop"},
        ],
        "summary": {"text": "my own summary"},
    }
    assert lay_over(before, own, file).dispositions == by_hand.dispositions
    assert plan(before, lay_over(before, own, file)).after.view.items == plan(before, by_hand).after.view.items


def test_a_whole_plan_laid_over_changes_nothing(before: Opened) -> None:
    own = plan(before, propose(before, Settings(target=4_000)))
    again = plan(before, lay_over(before, own.proposal, own.to_json()))
    assert [item.text for item in again.after.view.items] == [item.text for item in own.after.view.items]


def test_a_plan_given_back_unedited_is_no_edit(before: Opened) -> None:
    own = plan(before, propose(before, Settings(target=4_000)))
    again = plan(before, lay_over(before, own.proposal, own.to_json()))
    assert again.proposal == own.proposal and not again.proposal.edited


def test_in_a_plan_given_back_with_another_cut_only_the_cut_is_an_edit(before: Opened) -> None:
    own = plan(before, propose(before, Settings(target=4_000)))
    moved = step_cut(before, own.proposal, -2)
    assert moved.cut is not None
    data = own.to_json() | {"cut": {"first_kept": moved.cut.first_kept}}
    assert lay_over(before, own.proposal, data).dispositions == moved.dispositions


def test_dropping_the_users_words_by_hand_is_said(before: Opened) -> None:
    made = plan(before, set_what(before, propose(before, Settings(target=4_000)), before.units[0].id, "drop"))
    said = next(check for check in made.checks if check.id == "user-words")
    assert said.ok and "the first among them" in said.message


def test_a_stale_or_shapeless_edit_file_is_refused(before: Opened) -> None:
    own = propose(before, SETTINGS)
    with pytest.raises(Stale, match="plan"):
        lay_over(before, own, {"session": {"fingerprint": "other"}})
    session = {"fingerprint": before.session.fingerprint}
    for edits in (
        [],
        {},
        {"session": session, "cuts": {}},
        {"session": session, "dispositions": 3},
        {"session": session, "dispositions": [{"unit": 1}]},
    ):
        with pytest.raises(EditRefused):
            lay_over(before, own, edits)


def test_an_image_may_move_where_what_parted_its_run_of_results_leaves() -> None:
    story = Build()
    story.user("look")
    first, second = story.call(), story.call()
    story.assistant([first, second], stopReason="toolUse")
    picture = {"type": "image", "data": "cGljdHVyZSAw", "mimeType": "image/png"}
    story.result(first["id"], [picture], failed=True)
    between = story.reply("a word in between")
    story.result(second["id"], "late")
    story.reply("done")
    before = opened(story.bytes())
    made = plan(before, set_what(before, Proposal("handoff"), between, "drop"))
    assert made.patch is not None
    assert [check.id for check in made.checks if not check.ok] == ["target"]
