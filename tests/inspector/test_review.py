"""The review: what each key does to the proposal, what is refused and why, undo and redo of edits."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from textual.pilot import Pilot
from textual.widgets import Static, TextArea

from core.commit.liveness import Liveness
from core.edits import cut_position
from core.opening import Opened
from inspector.drafting import unit_at
from inspector.measuring import measure
from inspector.screens.approve import ApproveScreen
from inspector.screens.compare import CompareScreen
from inspector.screens.leave import LeaveScreen
from inspector.screens.review import ReviewScreen
from inspector.screens.summary import SummaryScreen
from inspector.widgets.text_pane import TextPane
from inspector.widgets.timeline_list import TimelineList
from inspector.widgets.timeline_rows import header
from tests.inspector.driving import ENGLISH, Showing, counted_session, on, on_review, until


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Opened:
    return counted_session(Path(shutil.copy(ENGLISH, tmp_path_factory.mktemp("review"))))


@pytest_asyncio.fixture
async def reviewing(opened: Opened) -> AsyncIterator[tuple[Pilot[Any], ReviewScreen]]:
    """The review of the sample, its plan worked out."""
    app = Showing(lambda: ReviewScreen(opened, measure(opened).gauge.marks), "seamline-dark")
    async with app.run_test(size=(120, 40)) as pilot:
        yield pilot, await on_review(pilot)


def notices(pilot: Pilot[Any]) -> list[str]:
    return [notification.message for notification in pilot.app._notifications]


async def test_the_proposal_stands_on_the_timeline_with_class_and_reason(
    reviewing: tuple[Pilot[Any], ReviewScreen],
) -> None:
    _, review = reviewing
    assert review.list.on_cut, "the cut is what a person should see first"
    assert review.plan is not None
    ways = {verdict.what for verdict in review.list.verdicts.values()}
    assert {"summarize", "point"} <= ways
    for verdict in review.list.verdicts.values():
        assert verdict.reason and verdict.klass
    shown = "\n".join(block.text for block in review.blocks())
    assert "rank 1" in shown and review.plan.proposal.summary is not None
    assert review.plan.proposal.summary.text in shown


async def test_totals_of_the_rows_are_those_of_the_after_view(reviewing: tuple[Pilot[Any], ReviewScreen]) -> None:
    _, review = reviewing
    plan = review.plan
    assert plan is not None
    values, verdicts = review.tokens.values, review.list.verdicts
    after = sum(
        verdicts[line.position].after if line.position in verdicts else values[index]
        for index, line in enumerate(review.timeline.lines)
        if line.position is not None
    )
    assert after + plan.summary_tokens == plan.after.view_tokens


async def test_the_cut_moves_over_legal_places_only(reviewing: tuple[Pilot[Any], ReviewScreen]) -> None:
    pilot, review = reviewing
    assert review.draft is not None
    places = [cut_position(review.opened, review.draft.proposal)]
    for key in ("less_than_sign", "ctrl+up", "greater_than_sign", "ctrl+down"):
        await pilot.press(key)
        await on_review(pilot)
        places.append(cut_position(review.opened, review.draft.proposal))
    assert places[0] > places[1] > places[2] < places[3] < places[4] == places[0]
    assert review.list.on_cut


async def test_an_illegal_place_is_refused_with_its_reason(reviewing: tuple[Pilot[Any], ReviewScreen]) -> None:
    pilot, review = reviewing
    assert review.draft is not None
    draft = review.draft
    review.list.select_group(0)
    await pilot.press("x")
    assert review.draft is draft
    assert any("nothing lies before this place" in message for message in notices(pilot))


async def test_the_cut_can_be_set_at_the_selected_row_and_removed(reviewing: tuple[Pilot[Any], ReviewScreen]) -> None:
    pilot, review = reviewing
    assert review.draft is not None
    review.list.select_group(4)
    await pilot.press("x")
    await on_review(pilot)
    cut = review.draft.proposal.cut
    assert cut is not None and "turn 5" in cut.reason
    await pilot.press("X")
    await on_review(pilot)
    assert review.draft.proposal.cut is None
    assert all(verdict.what != "summarize" for verdict in review.list.verdicts.values())
    await pilot.press("e")
    assert any("nothing is summarised" in message for message in notices(pilot))


@pytest.mark.parametrize(("key", "what"), [("d", "drop"), ("s", "summarize"), ("p", "point"), ("l", "limit")])
async def test_one_key_decides_and_u_takes_it_back(
    reviewing: tuple[Pilot[Any], ReviewScreen], key: str, what: str
) -> None:
    pilot, review = reviewing
    items = review.opened.view.items
    big = max((at for at, one in enumerate(items) if one.kind == "tool_result"), key=lambda at: len(items[at].text))
    line = review.timeline.line_at(big)
    assert line is not None
    review.list.select_line(line)
    await pilot.press("k")
    await on_review(pilot)
    assert big not in review.list.verdicts
    await pilot.press(key)
    await on_review(pilot)
    assert review.list.verdicts[big].what == what
    assert review.list.selected == (line, review.timeline.group_of(line)), "the selection stays on its item"
    await pilot.press("u")
    await on_review(pilot)
    assert big not in review.list.verdicts
    await pilot.press("ctrl+r")
    await on_review(pilot)
    assert review.list.verdicts[big].what == what


async def test_a_key_on_a_turns_header_decides_for_the_turn(reviewing: tuple[Pilot[Any], ReviewScreen]) -> None:
    pilot, review = reviewing
    review.list.select_group(2)
    group = review.timeline.groups[2]
    await pilot.press("d")
    await on_review(pilot)
    positions = [review.timeline.lines[index].position for index in range(group.start, group.stop)]
    assert {review.list.verdicts[at].what for at in positions if at is not None} == {"drop"}


async def test_undo_stops_at_the_policys_own_proposal(reviewing: tuple[Pilot[Any], ReviewScreen]) -> None:
    pilot, review = reviewing
    await pilot.press("u")
    assert review.draft is not None and review.draft.at == 0
    assert any("nothing to undo" in message for message in notices(pilot))


async def test_a_bad_summary_fails_its_checks_at_once_and_cannot_be_approved(
    reviewing: tuple[Pilot[Any], ReviewScreen],
) -> None:
    pilot, review = reviewing
    await pilot.press("e")
    screen = await on(pilot, SummaryScreen)
    pane = screen.query_one(TextPane)
    await until(pilot, lambda: "checks hold" in pane._blocks[0].text)
    screen.query_one(TextArea).text = "short"
    await until(pilot, lambda: "fail" in pane._blocks[0].text)
    await pilot.press("escape")
    await on_review(pilot)
    assert review.plan is not None and not review.plan.may_commit
    await pilot.press("a")
    assert pilot.app.screen is review
    assert any("a check does not hold" in message for message in notices(pilot))
    await pilot.press("w")
    await on_review(pilot)
    assert review.plan.may_commit, "written anew by the program, it holds again"


async def test_looking_at_the_summary_is_no_edit(reviewing: tuple[Pilot[Any], ReviewScreen]) -> None:
    pilot, review = reviewing
    draft = review.draft
    await pilot.press("e")
    await on(pilot, SummaryScreen)
    await pilot.press("escape")
    assert review.draft is draft


async def test_before_and_after_stand_side_by_side_and_follow_each_other(
    reviewing: tuple[Pilot[Any], ReviewScreen],
) -> None:
    pilot, review = reviewing
    assert review.plan is not None
    await pilot.press("c")
    screen = await on(pilot, CompareScreen)
    before, after = screen.query_one("#before", TimelineList), screen.query_one("#after", TimelineList)
    totals = [str(total.content) for total in screen.query(".total")]
    assert f"{review.opened.view_tokens:,}" in totals[0]
    assert f"{review.plan.after.view_tokens:,}" in totals[1]
    await pilot.press("end")
    await pilot.pause()
    assert after.timeline.lines[after.selected[0] or 0].item.source == review.opened.view.items[-1].source
    line = before.selected[0]
    assert line is not None and before.timeline.lines[line].item.source == review.opened.view.items[-1].source
    await pilot.press("escape")
    assert pilot.app.screen is review


async def test_leaving_with_edits_asks_and_without_any_does_not(reviewing: tuple[Pilot[Any], ReviewScreen]) -> None:
    pilot, review = reviewing
    group = next(n for n, one in enumerate(review.timeline.groups) if one.number == 3)
    review.list.select_group(group)
    for key in ("v", "r"):
        await pilot.press(key)
        assert review.shows_other
        await pilot.press("escape")
        assert pilot.app.screen is review and not review.shows_other, "only what fills the pane goes"
    await pilot.press("tab", "escape")
    assert pilot.app.screen is review and pilot.app.focused is review.list

    await pilot.press("d")
    await on_review(pilot)
    await pilot.press("escape")
    question = await on(pilot, LeaveScreen)
    assert "lose 1 edit?" in str(question.query_one(".title").content)
    await pilot.press("escape")
    assert pilot.app.screen is review and review.edits == 1
    await pilot.press("v", "escape")
    assert pilot.app.screen is review
    for key in ("q", "ctrl+q"):
        await pilot.press(key)
        await on(pilot, LeaveScreen)
        await pilot.press("escape")
        assert pilot.app.screen is review
    await pilot.press("escape", "y")
    await until(pilot, lambda: review not in pilot.app.screen_stack)


async def test_an_edit_taken_back_is_no_edit(reviewing: tuple[Pilot[Any], ReviewScreen]) -> None:
    pilot, review = reviewing
    await pilot.press("less_than_sign")
    await on_review(pilot)
    assert review.edits == 1
    await pilot.press("greater_than_sign")
    await on_review(pilot)
    assert review.edits == 0, "the cut stands where the policy had it"
    await pilot.press("u", "u")
    await on_review(pilot)
    await pilot.press("escape")
    await until(pilot, lambda: review not in pilot.app.screen_stack)


async def test_a_cut_that_moves_into_a_folded_turn_unfolds_it(reviewing: tuple[Pilot[Any], ReviewScreen]) -> None:
    pilot, review = reviewing
    assert review.draft is not None
    inside_any = False
    for _ in range(6):
        await pilot.press("less_than_sign")
        await on_review(pilot)
        cut = cut_position(review.opened, review.draft.proposal)
        line = review.timeline.line_at(review.opened.units[cut].first)
        assert line is not None and review.list._cut_row is not None
        group = review.timeline.group_of(line)
        below = review.list._rows[review.list._cut_row + 1]
        inside = line > review.timeline.groups[group].start
        assert below == (line if inside else header(group)), "the marker stands right above what is kept"
        inside_any |= inside
    assert inside_any


async def test_a_row_kept_by_hand_says_so(reviewing: tuple[Pilot[Any], ReviewScreen]) -> None:
    pilot, review = reviewing
    assert review.list.kept == set()
    items = review.opened.view.items
    at = next(
        position
        for position, verdict in sorted(review.list.verdicts.items())
        if verdict.what == "summarize" and items[position].kind == "tool_result"
    )
    line = review.timeline.line_at(at)
    assert line is not None
    review.list.select_line(line)
    await pilot.press("k")
    await on_review(pilot)
    assert review.list.kept == set(unit_at(review.opened, at).items)
    assert "chosen by hand" in review.list._line_mark(line).reason
    assert any("verbatim · chosen by hand" in block.text for block in review.blocks())
    await pilot.press("u")
    await on_review(pilot)
    assert review.list.kept == set()


async def test_dropped_words_of_the_user_are_warned_of_in_the_review_and_before_writing(
    reviewing: tuple[Pilot[Any], ReviewScreen], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("inspector.screens.approve.liveness_of", lambda opened: Liveness("quiet"))
    pilot, review = reviewing
    review.list.select_group(0)
    await pilot.press("d")
    await on_review(pilot)
    line = review.query_one("#checks", Static)
    assert str(line.content).startswith("! ") and "user's messages" in str(line.content)
    assert line.has_class("-warn") and not line.has_class("-good")
    await pilot.press("v")
    assert any(block.style == "warning" and "user-words" in block.text for block in review.blocks())
    await pilot.press("a")
    question = await on(pilot, ApproveScreen)
    warnings = question.query_one("#warnings", Static)
    assert warnings.display and "user's messages" in str(warnings.content)
    await until(pilot, lambda: not question.query_one("#write").disabled)
    assert "all the same" in str(question.query_one("#write").label)
