"""A list of sessions as values: which are shown, in which order, and what each row and the lines below it say."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePath
from typing import Any, Literal

from core.surveying import Row, Survey, families, newest_first
from inspector.widgets import figures
from inspector.widgets.cells import first_line
from inspector.widgets.drawn import Part

LIVE = "●"
UNREAD = "…"

Order = Literal["activity", "tokens", "threshold", "size", "project"]
ORDERS: tuple[Order, ...] = ("activity", "tokens", "threshold", "size", "project")
"""What the list can be sorted by, each named as its column is."""


@dataclass(frozen=True, slots=True)
class Cells:
    """What one row says, each text in one line and safe to show."""

    agent: str
    project: str
    """The last folder of the way to it."""
    folder: str
    """The whole way."""
    title: str
    title_style: str
    tokens: str
    full: float | None
    """Tokens as a share of the agent's own threshold; None where either is unknown."""
    full_style: str
    size: str
    age: str
    path: str


def arranged(rows: Iterable[Row], words: str, order: Order) -> list[tuple[Row, int]]:
    """The sessions in which every word occurs, in this order, children below their parents; with the depth of each."""
    wanted = words.casefold().split()
    found = (row for row in rows if all(word in _searched(row) for word in wanted)) if wanted else rows
    return families(found, _KEYS[order])


def _searched(row: Row) -> str:
    known = row.survey or Survey()
    return f"{known.agent}\n{known.project}\n{known.title}\n{row.place.path}".casefold()


def fullness(row: Row) -> float | None:
    """Tokens as a share of where the session's agent itself acts; None where either is unknown."""
    known = row.survey
    return None if known is None or known.tokens is None or not known.threshold else known.tokens / known.threshold


def _by_tokens(row: Row) -> tuple[Any, ...]:
    tokens = row.survey.tokens if row.survey is not None else None
    return -1 if tokens is None else -tokens - 2, *newest_first(row)


def _by_threshold(row: Row) -> tuple[Any, ...]:
    full = fullness(row)
    return 1.0 if full is None else -full, *newest_first(row)


def _by_size(row: Row) -> tuple[Any, ...]:
    return -row.place.size, *newest_first(row)


def _by_project(row: Row) -> tuple[Any, ...]:
    project = row.survey.project if row.survey is not None else ""
    return not project, PurePath(project).name.casefold(), project, *newest_first(row)


_KEYS = {
    "activity": newest_first,
    "tokens": _by_tokens,
    "threshold": _by_threshold,
    "size": _by_size,
    "project": _by_project,
}


def cells(row: Row, depth: int, now: float) -> Cells:
    """What a row says; `now` in seconds since 1970."""
    known, path = row.survey or Survey(), first_line(str(row.place.path))
    title, style = first_line(known.title) or "(no title)", "title" if known.title else "faint"
    if row.survey is None:
        title, style = path, "faint"
    elif known.problem:
        title, style = first_line(known.problem), "problem"
    return Cells(
        agent=known.agent or UNREAD,
        project=first_line(PurePath(known.project).name or known.project),
        folder=first_line(known.project),
        title="  " * (depth - 1) + "└ " * (depth > 0) + title,
        title_style=style,
        tokens=UNREAD if row.survey is None else _tokens(known),
        full=fullness(row),
        full_style=_full_style(known),
        size=figures.size(row.place.size),
        age=figures.age(now - row.time).removesuffix(" ago").removeprefix("just "),
        path=path,
    )


def _tokens(known: Survey) -> str:
    """`~` where no provider reported it."""
    if known.tokens is None:
        return "-"
    return figures.short(known.tokens) if known.kind.startswith("reported") else f"~{figures.short(known.tokens)}"


def _full_style(known: Survey) -> str:
    if known.tokens is None or known.threshold is None:
        return "used"
    if known.window is not None and known.tokens >= known.window:
        return "over"
    return "tight" if known.tokens >= known.threshold else "used"


def about(row: Row | None, running: str = "") -> list[list[Part]]:
    """The selected session in three lines: its title, its place, its figures. `running`: which agent has it open."""
    if row is None:
        return [[], [], []]
    known = row.survey
    path = first_line(str(row.place.path))
    if known is None:
        return [[("not read yet", "label")], [(path, "value")], [(figures.size(row.place.size), "label")]]
    first: list[Part] = [(first_line(known.title) or "(no title)", "title")]
    if known.problem:
        first.append((f" · {first_line(known.problem)}", "problem"))
    project = [(first_line(known.project), "value"), (" · ", "label")] if known.project else []
    live = [(f"{LIVE} {first_line(running)} · ", "live")] if running else []
    said = " · ".join(part for part in _figures(row, known) if part)
    return [first, [*project, (path, "value")], [*live, (said, "label")]]


def _figures(row: Row, known: Survey) -> Iterable[str]:
    if known.tokens is not None:
        yield f"{known.tokens:,} tokens {known.kind}"
    if known.tokens is not None and known.window:
        yield f"{figures.share(known.tokens, known.window)} of {known.window:,}"
    if known.threshold is not None:
        yield f"{known.agent} acts at {known.threshold:,}"
    yield f"{known.turns:,} {'turn' if known.turns == 1 else 'turns'}"
    yield figures.size(row.place.size)
    when = datetime.fromtimestamp(row.time).astimezone().strftime("%Y-%m-%d %H:%M")
    yield f"{when}{'' if known.last is not None else ' (file time)'}"
