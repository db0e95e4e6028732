"""Sessions of agents that can be inspected but not written yet: the timeline, a review, and the reason why not."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import pytest
from textual.widgets import Static

from core.opening import open_session
from inspector.app import Inspector
from inspector.screens.approve import ApproveScreen
from inspector.widgets.staircase import Staircase
from tests.inspector.driving import on_review, on_timeline

CONFORMANCE = Path(__file__).resolve().parents[1] / "data" / "conformance"
SESSIONS = ("codex/tools_parallel_reasoning",)


@pytest.mark.parametrize("name", SESSIONS)
async def test_it_opens_and_is_reviewed_and_approving_is_refused_with_the_reason(name: str, tmp_path: Path) -> None:
    path = Path(shutil.copy(CONFORMANCE / name / "session.jsonl", tmp_path))
    before = hashlib.sha256(path.read_bytes()).hexdigest()
    opened = open_session(path)
    app = Inspector(path)
    async with app.run_test(size=(120, 40)) as pilot:
        timeline = await on_timeline(pilot)
        seen = [line.item for line in timeline.timeline.lines if line.position is not None]
        assert tuple(seen) == opened.view.items
        assert timeline.tokens.total == opened.view_tokens

        await pilot.press("v")
        review = await on_review(pilot)
        review.list.select_group(len(review.timeline.groups) - 1)
        await pilot.press("s")
        await on_review(pilot)
        plan = review.plan
        assert plan is not None and plan.changes_anything
        if plan.commits_as != "none":
            pytest.skip(f"{opened.agent.name} can be written")
        assert plan.why in str(review.query_one("#checks", Static).content)
        last = review.query_one(Staircase).steps[-1]
        assert not last.counted, "no after-view was read, so its figure is not counted"

        for key, words in (("a", "cannot be written"), ("c", "no after-view")):
            await pilot.press(key)
            assert app.screen is review and not isinstance(app.screen, ApproveScreen)
            assert any(words in said.message and plan.why in said.message for said in app._notifications)
    assert hashlib.sha256(path.read_bytes()).hexdigest() == before
    assert sorted(tmp_path.iterdir()) == [path]
