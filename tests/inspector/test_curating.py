"""The main job with keys only: open, propose, move the cut, change decisions and summary, approve, receipt, undo."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import TextArea

from core.edits import cut_position
from core.opening import open_session
from inspector.app import Inspector
from inspector.screens.approve import ApproveScreen
from inspector.screens.receipt import ReceiptScreen
from inspector.screens.review import ReviewScreen
from inspector.screens.summary import SummaryScreen
from inspector.screens.timeline import TimelineScreen
from tests.inspector.driving import ENGLISH, VERSION, on, on_review, on_timeline, until

HOUR = 3600


@pytest.fixture
def session(tmp_path: Path) -> Path:
    """A copy of the sample that nobody has touched for an hour."""
    path = Path(shutil.copy(ENGLISH, tmp_path))
    before = path.stat().st_mtime - HOUR
    os.utime(path, (before, before))
    return path


def state_of(path: Path) -> tuple[str, int, int]:
    status = path.stat()
    return hashlib.sha256(path.read_bytes()).hexdigest(), status.st_mode, status.st_mtime_ns


def select(screen: ReviewScreen, position: int) -> None:
    line = screen.timeline.line_at(position)
    assert line is not None
    screen.list.select_line(line)


def offered(pilot: Pilot[Any]) -> set[str]:
    """The keys that the screen offers in its footer."""
    return {active.binding.key for active in pilot.app.screen.active_bindings.values() if active.binding.show}


def first(screen: ReviewScreen, what: str, kind: str = "tool_result") -> int:
    """The first item of this kind with this disposition."""
    items = screen.opened.view.items
    return next(
        at for at, verdict in sorted(screen.list.verdicts.items()) if verdict.what == what and items[at].kind == kind
    )


async def test_open_propose_edit_approve_receipt_undo(session: Path) -> None:
    before = state_of(session)
    app = Inspector(session, VERSION)
    async with app.run_test(size=(120, 40)) as pilot:
        await on_timeline(pilot)
        await pilot.press("v")
        review = await on_review(pilot)
        assert review.draft is not None
        opened, proposed = review.opened, review.draft.proposal
        place = cut_position(opened, proposed)

        # Move the cut by two places: further on, and the second step is one more.
        await pilot.press("greater_than_sign")
        await on_review(pilot)
        await pilot.press("greater_than_sign")
        await on_review(pilot)
        assert cut_position(opened, review.draft.proposal) > place + 1

        # Keep one old result that would be summarised, and drop another one.
        kept = first(review, "summarize")
        select(review, kept)
        await pilot.press("k")
        await on_review(pilot)
        assert kept not in review.list.verdicts
        dropped = first(review, "summarize")
        select(review, dropped)
        await pilot.press("d")
        await on_review(pilot)
        assert review.list.verdicts[dropped].what == "drop"

        # Change a line of the summary.
        await pilot.press("e")
        await on(pilot, SummaryScreen)
        area = app.screen.query_one(TextArea)
        area.move_cursor((2, 0))
        await pilot.press("home", *"Edited by hand. ")
        await pilot.press("escape")
        review = await on_review(pilot)
        plan = review.plan
        assert plan is not None and plan.proposal.summary is not None
        assert "Edited by hand. " in plan.proposal.summary.text
        assert plan.may_commit, [check for check in plan.checks if not check.ok]
        assert state_of(session) == before, "nothing is written before the approval"

        await pilot.press("a")
        await on(pilot, ApproveScreen)
        await until(pilot, lambda: not app.screen.query_one("#write").disabled)
        await pilot.press("y")
        receipt = await on(pilot, ReceiptScreen)
        assert receipt.receipt.state == "done"
        assert session.read_bytes().startswith(ENGLISH.read_bytes())

        # What the file says now is what was approved.
        after = open_session(session, VERSION).view
        assert after.items == plan.after.view.items
        texts = [item.text for item in after.items]
        assert opened.view.items[kept].text in texts
        assert opened.view.items[dropped].text not in texts
        assert any("Edited by hand. " in text for text in texts)

        assert "U" in offered(pilot)
        await pilot.press("U", "U")
        await until(pilot, lambda: receipt.receipt.state == "undone")
        assert state_of(session) == before, "the same bytes, mode and time of change"
        assert "U" not in offered(pilot)
        await pilot.press("U")
        await pilot.pause(0.2)
        assert str(receipt.query_one("#state").content).startswith("Undone: ")
        assert not str(receipt.query_one("#problem").content)
        await pilot.press("enter")
        timeline = await on_timeline(pilot)
        assert timeline.opened.session.fingerprint == opened.session.fingerprint


async def test_the_timeline_shows_the_session_as_it_is_after_a_commit_and_can_undo_it(session: Path) -> None:
    before = state_of(session)
    app = Inspector(session, VERSION)
    async with app.run_test(size=(120, 40)) as pilot:
        first_timeline = await on_timeline(pilot)
        tokens = first_timeline.opened.view_tokens
        await pilot.press("v")
        await on_review(pilot)
        await pilot.press("a")
        await on(pilot, ApproveScreen)
        await until(pilot, lambda: not app.screen.query_one("#write").disabled)
        await pilot.press("y")
        await on(pilot, ReceiptScreen)
        await pilot.press("enter")
        timeline = await on_timeline(pilot)
        assert timeline is not first_timeline
        assert timeline.opened.view_tokens < tokens / 2
        past = timeline.timeline.groups[0]
        assert past.kind == "past" and 0 in timeline.list.folded
        assert all(line.sight != "visible" for line in timeline.timeline.lines[past.start : past.stop])

        await pilot.press("U")
        receipt = await on(pilot, ReceiptScreen)
        await until(pilot, lambda: receipt.receipt)
        await pilot.press("U")
        await until(pilot, lambda: receipt.receipt.state == "undone")
        assert state_of(session) == before


@pytest.mark.parametrize("keys", [("escape",), ("a", "escape", "escape"), ("e", "escape", "escape"), ("d", "escape")])
async def test_cancel_at_any_time_writes_nothing(session: Path, keys: tuple[str, ...]) -> None:
    before = state_of(session)
    app = Inspector(session, VERSION)
    async with app.run_test(size=(120, 40)) as pilot:
        await on_timeline(pilot)
        await pilot.press("v")
        await on_review(pilot)
        for key in keys:
            await pilot.press(key)
            if isinstance(app.screen, ApproveScreen):
                await until(pilot, lambda: not app.screen.query_one("#write").disabled)
        await on(pilot, TimelineScreen)
        assert state_of(session) == before
        assert sorted(session.parent.iterdir()) == [session]


async def test_a_session_that_was_just_written_needs_the_persons_word(session: Path) -> None:
    os.utime(session)
    app = Inspector(session, VERSION)
    async with app.run_test(size=(120, 40)) as pilot:
        await on_timeline(pilot)
        await pilot.press("v")
        await on_review(pilot)
        await pilot.press("a")
        screen = await on(pilot, ApproveScreen)
        await until(pilot, lambda: not app.screen.query_one("#write").disabled)
        assert "closed" in str(screen.query_one("#write").label)
        await pilot.press("y")
        receipt = await on(pilot, ReceiptScreen)
        assert receipt.receipt.state == "done"


async def test_a_session_that_changed_since_the_proposal_is_not_written(session: Path) -> None:
    app = Inspector(session, VERSION)
    async with app.run_test(size=(120, 40)) as pilot:
        await on_timeline(pilot)
        await pilot.press("v")
        await on_review(pilot)
        with session.open("ab") as file:
            file.write(b'{"type":"message"}\n')
        changed = session.read_bytes()
        await pilot.press("a")
        screen = await on(pilot, ApproveScreen)
        await until(pilot, lambda: not app.screen.query_one("#write").disabled)
        await pilot.press("y")
        await until(pilot, lambda: "Nothing was written" in str(screen.query_one("#agent").content))
        assert session.read_bytes() == changed
        await pilot.press("escape")
        assert isinstance(app.screen, ReviewScreen)


async def test_a_session_that_grew_is_shown_anew_and_written_only_then(session: Path) -> None:
    app = Inspector(session, VERSION)
    async with app.run_test(size=(120, 40)) as pilot:
        await on_timeline(pilot)
        await pilot.press("v")
        await on_review(pilot)
        leaf = open_session(session).session.leaf
        message = {
            "role": "user",
            "content": [{"type": "text", "text": "one more wish"}],
            "timestamp": 1_780_000_000_000,
        }
        time = "2026-06-03T12:00:00.000Z"
        entry = {"type": "message", "id": "77777777", "parentId": leaf, "timestamp": time, "message": message}
        with session.open("ab") as file:
            file.write(json.dumps(entry).encode() + b"\n")
        grown = session.read_bytes()
        await pilot.press("a")
        screen = await on(pilot, ApproveScreen)
        await until(pilot, lambda: not app.screen.query_one("#write").disabled)
        await pilot.press("y")
        await until(pilot, lambda: "has grown by 1 items" in str(screen.query_one("#warnings").content))
        assert session.read_bytes() == grown
        assert "one more wish" in [item.text for item in screen.plan.opened.view.items]
        await until(pilot, lambda: not app.screen.query_one("#write").disabled)
        await pilot.press("y")
        await on(pilot, ReceiptScreen)
        assert session.read_bytes().startswith(grown)
        assert "one more wish" in [item.text for item in open_session(session).view.items]
