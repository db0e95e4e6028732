"""What the tests of the inspector have in common: sample sessions, screens without a way there, and waiting."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from textual.pilot import Pilot
from textual.screen import Screen

from core.agents.protocol import Stamp
from core.opening import Opened, open_session
from core.planning import Plan, plan_session
from core.policies.settings import Settings
from core.resume import Overrides
from inspector.app import Inspector
from inspector.screens.review import ReviewScreen
from inspector.screens.timeline import TimelineScreen

SAMPLES = Path(__file__).resolve().parents[2] / "sample_sessions"
ENGLISH = SAMPLES / "pi" / "interface-migration.jsonl"
CHINESE = SAMPLES / "pi" / "order-gateway-chinese.jsonl"
VERSION = Overrides(client_version="1.6.0")
NOW = 1_800_000_000.0
"""Seconds since 1970: the time that it is in every picture."""

SECONDS = 30.0


async def until(pilot: Pilot[Any], condition: Callable[[], object]) -> None:
    """Wait until something holds; fail where it never does."""
    end = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < end, f"never came to pass on {pilot.app.screen!r}"
        await pilot.pause(0.02)
    await pilot.pause()


async def on_timeline(pilot: Pilot[Any]) -> TimelineScreen:
    """The timeline, when everything on it is counted."""
    await until(pilot, lambda: isinstance(pilot.app.screen, TimelineScreen) and pilot.app.screen.measured)
    screen = pilot.app.screen
    assert isinstance(screen, TimelineScreen)
    return screen


async def on_review(pilot: Pilot[Any]) -> ReviewScreen:
    """The review, when its plan is worked out."""
    await until(pilot, lambda: isinstance(pilot.app.screen, ReviewScreen) and pilot.app.screen.plan)
    screen = pilot.app.screen
    assert isinstance(screen, ReviewScreen)
    return screen


async def on(pilot: Pilot[Any], kind: type[Screen[Any]]) -> Any:
    """A screen of this kind, when it has come."""
    await until(pilot, lambda: isinstance(pilot.app.screen, kind))
    return pilot.app.screen


def drawn(pilot: Pilot[Any]) -> str:
    """The screen as text, line by line."""
    width, height = pilot.app.size
    lines = pilot.app.screen._compositor.render_strips()
    return "\n".join(line.text[:width] for line in lines[:height])


class Showing(Inspector):
    """The app with one screen, without the way there."""

    def __init__(self, make: Callable[[], Screen[Any]], theme: str) -> None:
        super().__init__(None, theme=theme)
        self._make = make

    def begin(self) -> None:
        self.push_screen(self._make())


def fixed_stamp() -> Stamp:
    """Time and ids that are the same in every run."""
    numbers = iter(range(1, 1_000_000))
    return Stamp(NOW, lambda: f"{next(numbers):08x}" * 4)


def counted_session(path: Path) -> Opened:
    """A session with its tokens counted, so that screens need not wait for it."""
    opened = open_session(path, VERSION)
    assert opened.view_tokens
    return opened


def planned(opened: Opened) -> Plan:
    """The policy's own plan."""
    return plan_session(opened, "handoff", Settings(), fixed_stamp())


async def settle() -> None:
    """Give threads a moment."""
    await asyncio.sleep(0.05)
