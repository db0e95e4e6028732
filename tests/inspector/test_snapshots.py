"""How each screen looks, at three sizes, in both themes, in English and Chinese."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import TextArea

from core.commit import Facts, FileState, Receipt, Sha256, Span
from core.commit.liveness import Liveness
from core.opening import Opened, open_session
from core.planning import Plan
from inspector.measuring import measure
from inspector.screens.approve import ApproveScreen
from inspector.screens.chooser import ChooserScreen
from inspector.screens.compare import CompareScreen
from inspector.screens.elsewhere import ElsewhereScreen
from inspector.screens.help import HelpScreen
from inspector.screens.leave import LeaveScreen
from inspector.screens.receipt import ReceiptScreen
from inspector.screens.review import ReviewScreen
from inspector.screens.summary import SummaryScreen
from inspector.screens.timeline import TimelineScreen
from tests.inspector.driving import (
    CHINESE,
    ENGLISH,
    NOW,
    Showing,
    counted_session,
    fixed_stamp,
    on_review,
    on_timeline,
    planned,
    until,
)
from tests.inspector.test_elsewhere import branched

SIZES = [(80, 24), (120, 40), (200, 50)]
DARK, LIGHT = "seamline-dark", "seamline-light"
LOOKS = [(*size, DARK if size != (120, 40) else LIGHT, "english") for size in SIZES] + [
    (*size, LIGHT if size != (120, 40) else DARK, "chinese") for size in SIZES
]
"""Both themes and both languages at every size would be twelve pictures a screen; these six hold each pair once."""

Snap = Callable[..., bool]


@pytest.fixture(scope="module", autouse=True)
def folder(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Copies of the samples with a fixed age, named by relative paths, as pictures show paths."""
    here = Path.cwd()
    folder = tmp_path_factory.mktemp("pictures")
    for sample in (ENGLISH, CHINESE):
        os.utime(shutil.copy(sample, folder), (NOW - 3600, NOW - 3600))
    os.chdir(folder)
    yield folder
    os.chdir(here)


@pytest.fixture(scope="module")
def sessions(folder: Path) -> dict[str, Opened]:
    return {name: counted_session(Path(path.name)) for name, path in (("english", ENGLISH), ("chinese", CHINESE))}


@pytest.fixture(scope="module")
def plan(sessions: dict[str, Opened]) -> Plan:
    return planned(sessions["english"])


@pytest.fixture(autouse=True)
def fixed_time(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    for module in ("inspector.screens.review", "inspector.screens.summary", "inspector.committing"):
        monkeypatch.setattr(f"{module}.stamp", fixed_stamp)
    yield
    monkeypatch.undo()
    time.tzset()


def marks(opened: Opened) -> Any:
    return measure(opened).gauge.marks


async def calm(pilot: Pilot[Any]) -> None:
    """Nothing moves any more: no layout is due, and the picture has been the same for a while."""
    await pilot.pause(0.3)
    same, before = 0, ""
    while same < 3:
        await pilot.pause(0.1)
        now = pilot.app.export_screenshot()
        due = pilot.app.screen._layout_required
        same, before = (same + 1, now) if now == before and not due else (0, now)


async def timeline_ready(pilot: Pilot[Any]) -> None:
    await on_timeline(pilot)
    await calm(pilot)


async def review_ready(pilot: Pilot[Any]) -> None:
    await on_review(pilot)
    await calm(pilot)


@pytest.mark.parametrize(("width", "height", "theme", "language"), LOOKS)
def test_timeline(
    snap_compare: Snap, sessions: dict[str, Opened], width: int, height: int, theme: str, language: str
) -> None:
    app = Showing(lambda: TimelineScreen(sessions[language]), theme)
    assert snap_compare(app, terminal_size=(width, height), run_before=timeline_ready)


@pytest.mark.parametrize(("width", "height", "theme", "language"), LOOKS)
def test_timeline_on_the_biggest_item(
    snap_compare: Snap, sessions: dict[str, Opened], width: int, height: int, theme: str, language: str
) -> None:
    async def biggest(pilot: Pilot[Any]) -> None:
        await on_timeline(pilot)
        await pilot.press("b", "p", "enter")
        await calm(pilot)

    app = Showing(lambda: TimelineScreen(sessions[language]), theme)
    assert snap_compare(app, terminal_size=(width, height), run_before=biggest)


@pytest.mark.parametrize(("width", "height", "theme", "language"), LOOKS)
def test_review(
    snap_compare: Snap, sessions: dict[str, Opened], width: int, height: int, theme: str, language: str
) -> None:
    opened = sessions[language]
    app = Showing(lambda: ReviewScreen(opened, marks(opened)), theme)
    assert snap_compare(app, terminal_size=(width, height), run_before=review_ready)


def screens(plan: Plan, name: str) -> Screen[Any]:
    opened = plan.opened
    make: dict[str, Callable[[], Screen[Any]]] = {
        "chooser": lambda: ChooserScreen(Path(), clock=lambda: NOW),
        "summary": lambda: SummaryScreen(plan),
        "compare": lambda: CompareScreen(plan),
        "approve": lambda: ApproveScreen(plan),
        "receipt": lambda: ReceiptScreen(opened, receipt(Path("session.jsonl"))),
        "help": lambda: HelpScreen(ReviewScreen(opened, ())),
        "leave": lambda: LeaveScreen(3),
        "elsewhere": lambda: ElsewhereScreen(forked(), None),
    }
    return make[name]()


def forked() -> Opened:
    """A session with a branch and two sub-agents."""
    home = Path("..", "forked")  # not here: the chooser lists what lies here
    home.mkdir(exist_ok=True)
    return open_session(branched(home))


def receipt(path: Path) -> Receipt:
    def state(size: int, digit: str) -> FileState:
        return FileState(size, Sha256(digit * 64, "whole"), 0o600, 0, 1, 1)

    facts = Facts(
        agent="pi",
        policy="handoff (edited)",
        range=Span("0a1b2c3d", "4e5f6a7b", {"summarize": 108, "point": 6, "drop": 1}),
        tokens_before={"value": 111669, "kind": "counted", "includes": "view"},
        tokens_after={"value": 24154, "kind": "counted", "includes": "view"},
        summary_writer="person",
    )
    return Receipt("5" * 32, NOW, facts, "append", path, path, state(500606, "a"), state(544968, "b"), "done")


READY: dict[str, Callable[[Pilot[Any]], object]] = {
    "chooser": lambda pilot: pilot.app.screen.read,  # type: ignore[attr-defined]
    "approve": lambda pilot: not pilot.app.screen.query_one("#write").disabled,
    "summary": lambda pilot: pilot.app.screen.query_one(TextArea).text,
    "elsewhere": lambda pilot: pilot.app.screen.places,  # type: ignore[attr-defined]
}


@pytest.mark.parametrize("name", ["chooser", "summary", "compare", "approve", "receipt", "help", "leave", "elsewhere"])
@pytest.mark.parametrize(("width", "height", "theme"), [(80, 24, DARK), (120, 40, DARK), (200, 50, LIGHT)])
def test_other_screens(
    snap_compare: Snap, monkeypatch: pytest.MonkeyPatch, plan: Plan, name: str, width: int, height: int, theme: str
) -> None:
    monkeypatch.setattr("inspector.screens.approve.liveness_of", lambda opened: Liveness("quiet"))

    def ready(name: str) -> Callable[[Pilot[Any]], Awaitable[None]]:
        async def wait(pilot: Pilot[Any]) -> None:
            await until(pilot, lambda: len(pilot.app.screen_stack) > 1)
            await until(pilot, lambda: READY.get(name, lambda _: True)(pilot))
            await calm(pilot)

        return wait

    app = Showing(lambda: screens(plan, name), theme)
    assert snap_compare(app, terminal_size=(width, height), run_before=ready(name))
