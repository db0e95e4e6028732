"""The live tail: a session is looked at again whenever its file changes, and two looks are compared.

The agent is never disturbed: the file is only read. What a look costs is bounded by waiting at least as long as the
last one took before the next.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from core.budget import Budget, Mark, agent_mark, marks, turns_left
from core.errors import SeamlineError
from core.files import Files
from core.opening import Opened
from core.session import Damage, Entry

EventKind = Literal["entry", "boundary", "threshold", "replaced", "truncated", "damage"]

HEAD = 4096
"""Bytes at the start of a file by which it is recognised again."""

NET = 1000
"""Milliseconds after which the file is looked at although nothing was reported (network drives, containers)."""

UNFINISHED = "torn-tail"
"""Damage that a writer in the middle of a line makes for a moment; reported once more lines follow it."""


@dataclass(frozen=True)
class Look:
    """One state of a followed session."""

    opened: Opened
    budget: Budget
    head: bytes
    size: int
    """Bytes."""

    @cached_property
    def turns_left(self) -> int | None:
        """How many more turns fit before the agent itself compacts; None where that is unknown."""
        opened = self.opened
        growth = [sum(opened.unit_tokens(unit) for unit in turn.units) for turn in opened.turns if turn.number]
        return turns_left(self.budget, growth, agent_mark(self.budget.window, opened.agent.profile))

    @cached_property
    def added(self) -> dict[str, int]:
        """Entry → counted tokens of the items that come from it."""
        tokens: dict[str, int] = {}
        for item, count in zip(self.opened.view.items, self.opened.item_tokens, strict=True):
            if item.source:
                tokens[item.source[0].entry] = tokens.get(item.source[0].entry, 0) + count
        return tokens


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened to a followed session, and how full the window is after it."""

    event: EventKind
    message: str
    look: Look | None
    """The state after it; None where the session cannot be read now."""
    entry: Entry | None = None

    def to_json(self) -> dict[str, Any]:
        """One line of `follow --json`."""
        look, entry = self.look, self.entry
        used = None if look is None else look.budget.used
        out: dict[str, Any] = {
            "event": self.event,
            "tokens": None if used is None else used.value,
            "tokens_kind": None if used is None else used.kind,
            "tokens_include": None if used is None else used.includes,
            "threshold": None if look is None else look.budget.threshold,
            "turns_left": None if look is None else look.turns_left,
            "message": self.message,
        }
        if entry is not None:
            out |= {"entry": entry.id, "line": entry.line, "kind": entry.kind, "role": entry.role, "time": entry.time}
            out["added"] = 0 if look is None else look.added.get(entry.id, 0)
        return out


def look_at(opened: Opened, budget: Budget) -> Look:
    """The state of a session that was just opened."""
    files, path = opened.session.files, opened.session.path
    return Look(opened, budget, files.read(path, 0, HEAD), files.size(path))


def compare(old: Look, new: Look) -> Iterator[Event]:
    """What happened between two looks, in the order in which it happened in the file."""
    moved = _moved(old, new)
    if moved is not None:
        yield Event(moved, _MOVED[moved], new)
    known = set(old.opened.session.damage)
    for damage in new.opened.session.damage:
        if damage not in known and damage.kind != UNFINISHED:
            yield Event("damage", _damage(damage), new)
    before = {entry.id for entry in old.opened.session.entries}
    boundaries = {boundary.entry: boundary for boundary in new.opened.usage.boundaries}
    for entry in new.opened.session.entries:
        if entry.id in before:
            continue
        yield Event("entry", _entry(entry), new, entry)
        if entry.id in boundaries:
            yield Event("boundary", f"compacted by {boundaries[entry.id].by}", new, entry)
    yield from _crossed(old, new)


_MOVED: dict[EventKind, str] = {
    "replaced": "the file was replaced or rewritten: followed from its start",
    "truncated": "the file became shorter: followed from its start",
}


def _moved(old: Look, new: Look) -> EventKind | None:
    """Whether the file is still the old one with something after it."""
    if new.size < old.size:
        return "truncated"
    entries = old.opened.session.entries
    if new.head[: len(old.head)] != old.head:
        return "replaced"
    if entries:
        last = new.opened.session.entry(entries[-1].id)
        if last is None or last.offset != entries[-1].offset:
            return "replaced"
    return None


def _crossed(old: Look, new: Look) -> Iterator[Event]:
    """The marks of the token bar that lie between the old and the new figure."""
    profile = new.opened.agent.profile
    before, after = old.budget.used.value, new.budget.used.value
    for mark in marks(new.budget, profile):
        if (before >= mark.tokens) != (after >= mark.tokens):
            yield Event("threshold", _mark(mark, after), new)


def _mark(mark: Mark, tokens: int) -> str:
    way = "reached" if tokens >= mark.tokens else "below"
    return f"{way} the {mark.name} {'limit' if mark.name == 'window' else 'threshold'} of {mark.tokens:,} tokens"


def _damage(damage: Damage) -> str:
    return f"line {damage.line}: {damage.kind}: {damage.message}"


def _entry(entry: Entry) -> str:
    return f"{entry.kind} {entry.role}".rstrip()


def follow(
    path: Path, first: Look, again: Callable[[], Look], files: Files, wait: Callable[[], None] | None = None
) -> Iterator[Event]:
    """Events for as long as the caller asks for more; `again` opens the session anew, `wait` returns at each change.

    A moment in which the file is gone or the client would refuse it is told once, and waited out.
    """
    waiting = _watched(path) if wait is None else wait
    last, seen, told = first, first.size, ""
    while True:
        waiting()
        started = time.monotonic()
        try:
            size = files.size(path)
            if size == seen and files.read(path, 0, HEAD) == last.head:
                continue
            seen = size
            new = again()
        except FileNotFoundError:
            seen, words = -1, "the file is gone: waiting for it"
            if words != told:
                yield Event("replaced", words, None)
            told = words
            continue
        except SeamlineError as refusal:
            if str(refusal) != told:
                yield Event("damage", str(refusal), None)
            told = str(refusal)
            continue
        told = ""
        yield from compare(last, new)
        last, seen = new, new.size
        # A long session takes long to read: at most half of the time is spent on it.
        time.sleep(min(10.0, time.monotonic() - started))


def _watched(path: Path) -> Callable[[], None]:
    """Returns when something in the session's folder changed, or after a second at most."""
    from watchfiles import watch

    changes = watch(path.parent, step=10, debounce=50, rust_timeout=NET, yield_on_timeout=True, recursive=False)

    def wait() -> None:
        next(changes, None)

    return wait
