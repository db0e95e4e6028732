"""Bring the sections of a handoff document within a token budget, in a stated order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from core.repeatable import repeatable
from core.summary import signals
from core.summary.document import Row, Section, write_document, write_row
from core.summary.shell import is_test
from core.summary.template import Template

NEVER = frozenset({"goal", "constraints", "changes", "errors", "todo", "request"})
"""Sections no row of which is ever left out (of `changes` and `errors` details may be)."""

USUAL: dict[str, int] = {
    "decisions": 40,
    "done": 40,
    "verified": 40,
    "unverified": 20,
    "attempts": 40,
    "questions": 20,
    "reads": 60,
    "commands": 40,
    "links": 40,
}
"""Rows of a section at most, even where there is room; the newest stay."""

MESSAGE_TOKENS = 20_000
"""Tokens of the user's other messages at most, newest first."""

EARLIER_TOKENS = 4_000
"""Tokens of summaries that the agent itself wrote, at most."""

ORDER: tuple[tuple[str, tuple[int, ...]], ...] = (
    ("links", (20, 10)),
    ("reads", (40, 20)),
    ("commands", (25, 12)),
    ("done", (24, 12)),
    ("places", (1,)),
    ("unverified", (10,)),
    ("reads", (10,)),
    ("commands", (6,)),
    ("messages", (10_000, 5_000)),
    ("earlier", (2_000,)),
    ("old errors", (0,)),
    ("places", (0,)),
    ("done", (6,)),
    ("messages", (2_500,)),
    ("links", (4,)),
    ("reads", (4,)),
    ("commands", (3,)),
    ("messages", (1_200,)),
    ("earlier", (1_000, 400)),
    ("questions", (8, 3)),
    ("unverified", (5, 3)),
    ("verified", (20, 10)),
    ("attempts", (20, 10)),
    ("decisions", (20, 10)),
    ("done", (3, 0)),
    ("messages", (600, 0)),
    ("links", (0,)),
    ("reads", (0,)),
    ("commands", (0,)),
    ("verified", (5,)),
    ("attempts", (5,)),
    ("decisions", (5,)),
    ("earlier", (0,)),
)
"""What is shortened, and to what, from the first step until the document fits: rows of a section, places of a
changed file, or tokens of `messages` and `earlier`. A plan's finished steps in `done` stay."""

INSTRUCTIONS = frozenset({"SKILL.md", "AGENTS.md", "CLAUDE.md", "GEMINI.md"})
"""Names of files that tell an agent how to work: that they were read is worth knowing longest."""

_HEAD = 0.7
"""Share of a shortened text that is its beginning; the rest is its end."""

Count = Callable[[str], int]


def shorten(template: Template, sections: Sequence[Section], count: Count, budget: int, focus: str = "") -> str:
    """The document within `budget` tokens, as far as the order above goes: what may never go can exceed it."""
    limits = dict(USUAL) | {"messages": MESSAGE_TOKENS, "earlier": EARLIER_TOKENS, "places": 2, "old errors": 9}
    whole = {section.name: section for section in sections}
    about = signals.content_words(focus)
    made = {name: _limited(section, limits, count, about) for name, section in whole.items()}
    text = _document(template, made, focus)
    if count(text) <= budget:
        return text
    frame = count(_document(template, {name: Section(name) for name in made}, focus))
    sizes = {name: _size(template, section, count) for name, section in made.items()}
    for name, steps in ORDER:
        for limit in steps:
            if limit >= limits[name]:
                continue
            limits[name] = limit
            changed = _SECTION_OF.get(name, name)
            made[changed] = _limited(whole[changed], limits, count, about)
            sizes[changed] = _size(template, made[changed], count)
            if frame + sum(sizes.values()) <= budget:
                text = _document(template, made, focus)
                if count(text) <= budget:
                    return text
    return _document(template, made, focus)


_SECTION_OF = {"places": "changes", "old errors": "errors"}


def _document(template: Template, made: Mapping[str, Section], focus: str) -> str:
    shown = [s for s in made.values() if s.rows or s.more or s.name not in template.optional]
    return write_document(template, shown, focus)


def _size(template: Template, section: Section, count: Count) -> int:
    return sum(count(write_row(template, row) + "\n") for row in section.rows)


def _limited(section: Section, limits: Mapping[str, int], count: Count, about: frozenset[str]) -> Section:
    rows, more = section.rows, 0
    if section.name in {"messages", "earlier"}:
        rows, more = _within(rows, limits[section.name], count)
    elif section.name == "changes":
        rows = tuple(replace(row, children=_last(row.children, limits["places"])) for row in rows)
    elif section.name == "errors":
        rows = _errors(rows, limits["old errors"])
        more = len(section.rows) - len(rows)
    elif section.name not in NEVER:
        rows, more = _newest(rows, limits[section.name], about)
    return Section(section.name, rows, more)


def _last(rows: tuple[Row, ...], number: int) -> tuple[Row, ...]:
    return rows[-number:] if number else ()


def _errors(rows: tuple[Row, ...], old: int) -> tuple[Row, ...]:
    """The first always: the last failed test, or else the last error."""
    return rows if old else rows[:1]


def _newest(rows: tuple[Row, ...], number: int, about: frozenset[str]) -> tuple[tuple[Row, ...], int]:
    """The rows that weigh most, in their order, and how many were left out.

    First the plan's steps, then what the focus speaks of, files of instructions, what was taken back or explained,
    commands that did more than look; of equals the newest.
    """

    def weight(at: int) -> tuple[bool, bool, bool, bool, bool, int]:
        row = rows[at]
        of_focus = bool(about) and bool(about & signals.content_words(row.text))
        looked = row.style == "code" and repeatable(row.text) and not is_test(row.text)
        instructs = row.text.rpartition("/")[2] in INSTRUCTIONS
        return row.label.startswith("step_"), of_focus, instructs, bool(row.children), not looked, at

    steps = sum(row.label.startswith("step_") for row in rows)
    if len(rows) <= max(number, steps):
        return rows, 0
    chosen = sorted(sorted(range(len(rows)), key=weight, reverse=True)[: max(number, steps)])
    return tuple(rows[at] for at in chosen), len(rows) - len(chosen)


def _within(rows: tuple[Row, ...], budget: int, count: Count) -> tuple[tuple[Row, ...], int]:
    """The newest rows that fit; the one that reaches over the edge is shortened in its middle."""
    chosen: list[Row] = []
    left = budget
    for row in reversed(rows):
        size = count(row.text)
        if size > left:
            if left >= 60:
                chosen.append(_shortened(row, left / size))
            break
        chosen.append(row)
        left -= size
    return tuple(reversed(chosen)), len(rows) - len(chosen)


def _shortened(row: Row, share: float) -> Row:
    size = int(len(row.text) * share * 0.9)
    head, tail = int(size * _HEAD), size - int(size * _HEAD)
    text = f"{row.text[:head].rstrip()}\n[… {len(row.text) - size} …]\n{row.text[-tail:].lstrip()}"
    marks = row.marks if row.marked("shortened") is not None else (*row.marks, ("shortened", ""))
    return replace(row, text=text, marks=marks)
