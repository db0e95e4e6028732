"""The plan tool's state, from whatever shape its arguments or its result have."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

from core.summary.history import clean
from core.summary.state import Plan, Status, Step

_TEXT = ("step", "content", "text", "title", "task", "description", "subject", "name")
_STATE = ("status", "state", "done", "completed", "checked")
_DONE = {"done", "completed", "complete", "finished", "true", "x", "closed"}
_GONE = {"cancelled", "canceled", "skipped", "deleted"}
_ACTIVE = {"in_progress", "in-progress", "in progress", "active", "doing", "started", "current", "running"}
_LINE = re.compile(r"\s*(?:[-*]\s+|\d+[.)]\s*)?\[([ xX✓✔~>/-])\]\s*(?:#\d+:?\s*)?(.+)")
_ORDER: tuple[Status, ...] = ("done", "active", "open")


def plan_of(arguments: Mapping[str, Any], result: str, entry: str) -> Plan | None:
    """The plan's steps: a list in the arguments, else boxes `[x]` in the result; None where there are neither."""
    return _plan(_listed(arguments), entry) or _plan(_boxes(result), entry)


def plan_in_text(text: str, entry: str) -> Plan | None:
    """A checklist that the agent wrote into its text: two boxes at least."""
    steps = list(_boxes(text))
    return _plan(steps, entry) if len(steps) > 1 else None


def _plan(steps: Iterator[Step] | list[Step], entry: str) -> Plan | None:
    ordered = sorted(steps, key=lambda step: _ORDER.index(step.status))
    return Plan(tuple(ordered), entry) if ordered else None


def _listed(arguments: Mapping[str, Any]) -> Iterator[Step]:
    for value in arguments.values():
        if isinstance(value, list):
            for one in cast("list[Any]", value):
                if isinstance(one, Mapping):
                    yield from _step(cast("Mapping[str, Any]", one))


def _step(one: Mapping[str, Any]) -> Iterator[Step]:
    text = next((clean(str(one[key])) for key in _TEXT if isinstance(one.get(key), str)), "")
    state = next((str(one[key]).lower() for key in _STATE if key in one), None)
    if text and state is not None and state not in _GONE:
        yield Step(text, "done" if state in _DONE else "active" if state in _ACTIVE else "open")


def _boxes(text: str) -> Iterator[Step]:
    for line in text.split("\n"):
        if match := _LINE.fullmatch(line):
            status: Status = "done" if match[1] in "xX✓✔" else "open" if match[1] == " " else "active"
            yield Step(clean(match[2]), status)
