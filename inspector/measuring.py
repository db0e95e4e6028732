"""The slow figures of a session, made in a thread and handed over piece by piece."""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from core.budget import Figure, handoff_budget, marks
from core.opening import Opened
from core.policies import budget_of
from core.policies.settings import Settings
from inspector.widgets.growth_rows import Growth, reported
from inspector.widgets.meter_rows import Gauge
from inspector.widgets.timeline_rows import Timeline, Tokens

STEP = 0.1
"""Seconds between two reports, for a session of ordinary length."""

LINES_PER_SECOND = 500_000
"""How many lines of a session lengthen that by a second, as each report makes the list add up anew."""

Report = Callable[[int, "array[int]"], None]
"""Called with the number of the first line and the counted tokens of the lines from there on."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What stands above the list once everything is counted."""

    gauge: Gauge
    threshold: int | None
    growth: Growth | None
    """None where the provider reported no usage."""


def count(opened: Opened, timeline: Timeline, report: Report, cancelled: Callable[[], bool]) -> None:
    """Count every line, what the model sees first; stops early where it is cancelled."""
    pause = STEP + len(timeline.lines) / LINES_PER_SECOND
    for start, stop in _spans(timeline):
        values = array("q")
        first, due = start, time.monotonic() + pause
        for index in range(start, stop):
            values.append(opened.counter.count(timeline.lines[index].item))
            if time.monotonic() >= due:
                if cancelled():
                    return
                report(first, values)
                first, values, due = index + 1, array("q"), time.monotonic() + pause
        if values and not cancelled():
            report(first, values)


def _spans(timeline: Timeline) -> Iterator[tuple[int, int]]:
    groups = sorted(timeline.groups, key=lambda group: group.kind == "past")
    return ((group.start, group.stop) for group in groups)


def counted(opened: Opened, timeline: Timeline) -> array[int]:
    """Counted tokens of every line at once; quick where they were counted before."""
    known, counter = opened.item_tokens, opened.counter
    places = ((line.position, line.item) for line in timeline.lines)
    return array("q", (counter.count(item) if at is None else known[at] for at, item in places))


def measure(opened: Opened) -> Measured:
    """The figures of the window, from counted tokens and the provider's usage. Slow until `count` has run."""
    budget = budget_of(opened, Settings())
    view = Figure(opened.view_tokens, "counted", "view")
    usage = opened.usage
    gauge = Gauge(budget.used, view, marks(budget, opened.agent.profile), usage.stale)
    return Measured(gauge, budget.threshold, reported(opened.session, usage))


def first_gauge(opened: Opened, tokens: Tokens) -> Gauge:
    """The figures of the window before everything was counted."""
    done = sum(tokens.counted) / (len(tokens.counted) or 1)
    used = Figure(tokens.total, "estimated", f"view, bytes / 4, {done:.0%} counted")
    budget = handoff_budget(opened.resume.window, used, opened.resume.max_output)
    return Gauge(used, used, marks(budget, opened.agent.profile))
