"""The review: what each key does to the proposal, what is refused and why, undo and redo of edits."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from textual.pilot import Pilot
from textual.widgets import TextArea

from core.edits import cut_position
from core.opening import Opened
from inspector.measuring import measure
from inspector.screens.compare import CompareScreen
from inspector.screens.review import ReviewScreen
from inspector.screens.summary import SummaryScreen
from inspector.widgets.text_pane import TextPane
from inspector.widgets.timeline_list import TimelineList
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
