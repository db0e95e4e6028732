"""What a list of sessions says of one: whose it is, what it is about, when it was used, how full its window is."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from core.agents import agent_named, detect
from core.budget import agent_mark
from core.errors import ClientRefuses, SeamlineError
from core.files import Disk
from core.finding import Place
from core.opening import Opened, open_session
from core.resume import Known, Overrides
from core.session import Session
from core.summary.template import is_request

RULES = 1
"""Raised whenever what is found out of a file changes, so that what was kept of it no longer counts."""

TITLE = 200
"""Characters of a title."""

_WRAPPED = re.compile(r"<(\w+)>\s*(.*?)\s*(?:</\1>.*)?")
"""A request inside the tag that a client puts around it."""

Installed = Callable[[str], Known[str] | None]
"""The version of a client program that is installed here; None where it is not."""


class Survey(msgspec.Struct, frozen=True, array_like=True):
    """What is known of one file; `agent` is empty where it is no session, and `problem` says why."""

    agent: str = ""
    identity: str = ""
    parent: str = ""
    """The id or the file of the session that began this one; empty where none did."""
    project: str = ""
    """The folder that it ran in."""
    title: str = ""
    last: float | None = None
    """The newest time inside the file, in seconds since 1970."""
    turns: int = 0
    tokens: int | None = None
    """What fills the window; None where the session can't be resumed."""
    kind: str = ""
    """`reported`, `counted`, or `reported + counted`."""
    includes: str = ""
    window: int | None = None
    """Tokens."""
    threshold: int | None = None
    """Where the agent itself compacts, in tokens."""
    problem: str = ""

    @property
    def share(self) -> float | None:
        """Of the window that is in use."""
        return None if self.tokens is None or not self.window else self.tokens / self.window


@dataclass(frozen=True, slots=True)
class Row:
    """One file in the list; `survey` is None as long as nobody looked inside."""

    place: Place
    survey: Survey | None = None

    @property
    def time(self) -> float:
        """The last activity: by the times inside the file, else by the file's own."""
        last = self.survey.last if self.survey is not None else None
        return self.place.changed / 1e9 if last is None else last


def survey(place: Place, installed: Installed) -> Survey:
    """Look inside one file. Never raises for what stands in it: what is wrong is told in `problem`."""
    disk, agent = Disk(), None
    try:
        agent = detect(disk, place.path)
        command = agent.profile.command
        overrides = Overrides(installed=installed(command) if command else None)
        return _told(open_session(place.path, overrides, disk))
    except ClientRefuses as refused:
        return _refused(place, agent.name if agent else "", str(refused))
    except (SeamlineError, OSError) as error:
        return Survey(agent=agent.name if agent else "", problem=_without(place, str(error)))


def _told(opened: Opened) -> Survey:
    from core.policies import budget_of
    from core.policies.settings import Settings

    used = budget_of(opened, Settings()).used
    window = opened.resume.window
    session, mark = opened.session, agent_mark(window, opened.agent.profile)
    return Survey(
        agent=opened.agent.name,
        identity=session.identity,
        parent=session.parent,
        project=session.cwd,
        title=_title(opened),
        last=_last(session),
        turns=sum(unit.starts_turn for unit in opened.units),
        tokens=used.value,
        kind=used.kind,
        includes=used.includes,
        window=None if window is None else window.value,
        threshold=None if mark is None else mark.tokens,
    )


def _refused(place: Place, agent: str, problem: str) -> Survey:
    """A session that its client would not resume: what can be told of it without a view."""
    try:
        session = agent_named(agent).open(Disk(), place.path)
    except (SeamlineError, OSError):
        return Survey(agent=agent, problem=_without(place, problem))
    return Survey(
        agent=agent,
        identity=session.identity,
        parent=session.parent,
        project=session.cwd,
        title=" ".join(session.title.split())[:TITLE],
        last=_last(session),
        problem=_without(place, problem),
    )


def _without(place: Place, problem: str) -> str:
    """What is wrong, without the name of the file that it begins with: the list names it anyway."""
    return problem.removeprefix(f"{place.path}: ")


def _title(opened: Opened) -> str:
    title = opened.session.title or next((item.text for item in opened.view.items if is_request(item)), "")
    words = " ".join(title[: 4 * TITLE].split())
    wrapped = _WRAPPED.fullmatch(words)
    return (wrapped[2] if wrapped else words)[:TITLE]


def _last(session: Session) -> float | None:
    return max((entry.time for entry in session.entries if entry.time is not None), default=session.updated)


def is_session(row: Row) -> bool:
    """Whether the row is shown among the sessions; unknown files are, until somebody looked inside."""
    return row.survey is None or bool(row.survey.agent)


def skipped(rows: Iterable[Row]) -> list[Row]:
    """Files whose names promise a session and that are none, with the reason."""
    return [row for row in rows if row.survey is not None and not row.survey.agent and row.place.claimed]


def newest_first(row: Row) -> tuple[Any, ...]:
    """What the usual order goes by."""
    return -row.time, str(row.place.path)


def families(rows: Iterable[Row], order: Callable[[Row], tuple[Any, ...]] = newest_first) -> list[tuple[Row, int]]:
    """Sessions in this order, each followed by those that it began; with the depth of each, 0 for no one's child."""
    shown = sorted((row for row in rows if is_session(row)), key=order)
    named: dict[str, list[Row]] = {}
    for row in shown:
        identity = row.survey.identity if row.survey is not None else ""
        for name in {str(row.place.path), identity} - {""}:
            named.setdefault(name, []).append(row)
    parents = {id(row): _parent(row, named) for row in shown}
    children: dict[int, list[Row]] = {}
    roots: list[Row] = []
    for row in shown:
        parent = parents[id(row)]
        if parent is None or _circular(row, parents):
            roots.append(row)
        else:
            children.setdefault(id(parent), []).append(row)
    return [pair for root in roots for pair in _with_children(root, 0, children)]


def _parent(row: Row, named: dict[str, list[Row]]) -> Row | None:
    """The session that began this one: of several with that id (copies), the one that lies nearest."""
    wanted = row.survey.parent if row.survey is not None else ""
    found = [one for one in named.get(wanted, ()) if one is not row] if wanted else []
    return max(found, key=lambda one: len(os.path.commonpath([one.place.path, row.place.path])), default=None)


def _circular(row: Row, parents: Mapping[int, Row | None]) -> bool:
    """Whether a session descends from itself: files may claim each other as parents."""
    seen: set[int] = set()
    current: Row | None = row
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        current = parents[id(current)]
    return current is not None


def _with_children(row: Row, depth: int, children: dict[int, list[Row]]) -> list[tuple[Row, int]]:
    found = [(row, depth)]
    for child in children.get(id(row), ()):
        found += _with_children(child, depth + 1, children)
    return found


def row_json(row: Row, running: str | None = None) -> dict[str, Any]:
    """One of `sessions` in `sessions/1`."""
    from datetime import UTC, datetime

    known = row.survey or Survey()
    figure = None if known.tokens is None else {"value": known.tokens, "kind": known.kind, "includes": known.includes}
    return {
        "path": str(row.place.path),
        "agent": known.agent,
        "id": known.identity,
        "parent": known.parent or None,
        "project": known.project,
        "title": known.title,
        "last_activity": datetime.fromtimestamp(row.time, UTC).isoformat().replace("+00:00", "Z"),
        "last_activity_from": "file time" if known.last is None else "session",
        "bytes": row.place.size,
        "turns": known.turns,
        "tokens": figure,
        "window": known.window,
        "share": None if known.share is None else round(known.share, 4),
        "threshold": known.threshold,
        "running": running,
        "problem": known.problem,
    }
