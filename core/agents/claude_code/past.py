"""The lines of a session's whole past that lead to the leaf, across every boundary, and where each one left."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from core.agents.claude_code.records import Detail, Line, detail, record
from core.session import Session


@dataclass(frozen=True, slots=True)
class Cut:
    """A boundary of the past: what it kept, and whether a summary stands for the rest."""

    line: Line
    kept: frozenset[str]
    summarised: bool
    dropped: frozenset[str] = field(default=frozenset())
    """Lines of which the commit that made it says that they were dropped, not summarised."""


def past(session: Session) -> tuple[Line, ...]:
    """Every line that the conversation ever went over on its way to the leaf, in file order, each uuid once."""
    return detail(session).past


def past_of(known: Detail) -> tuple[Line, ...]:
    """The same, worked out."""
    if not known.path:
        return ()
    index = _Index(known)
    reached: set[str] = set()
    stack = [*known.path, *_starts(known)]
    while stack:
        line = stack.pop()
        if line.id not in reached:
            reached.add(line.id)
            index.go_on(line, stack, reached)
    first: dict[str, Line] = {}
    for line in known.stored:
        if line.id in reached:
            first.setdefault(line.id, line)
    return tuple(first.values())


def _starts(known: Detail) -> Iterator[Line]:
    """The boundaries that count, with their summaries: those up to the one that the conversation begins with."""
    first = known.path[0]
    newest = first if first.boundary else known.boundary if known.kept else None
    if newest is None:
        return
    for line in known.lines.values():
        counts = (line.boundary or line.summary) and line.entry.index <= newest.entry.index
        if counts and line.session == newest.session and (known.subagent or not line.sidechain):
            yield line


class _Index:
    """Where to go on from a line: up, and to what belongs to the same reply."""

    def __init__(self, known: Detail) -> None:
        self.lines = known.lines
        self.links = known.links
        self.replies: dict[str, list[Line]] = {}
        self.answers: dict[str, list[Line]] = {}
        self.before: dict[str, Line] = {}
        """Boundary → the line of the chain before it in the file."""
        last: Line | None = None
        for line in known.lines.values():
            if line.sidechain and not known.subagent:
                continue
            if line.message_id:
                if line.message_id in self.replies:
                    self.replies[line.message_id].append(line)
                else:
                    self.replies[line.message_id] = [line]
            for call in line.results:
                self.answers.setdefault(call, []).append(line)
            if line.boundary and last is not None:
                self.before[line.id] = last
            last = line

    def go_on(self, line: Line, stack: list[Line], reached: set[str]) -> None:
        """Add the lines that `line` leads to, as far as they are not reached; what belongs together is added once."""
        parent = line.entry.parent
        if parent is not None and parent not in reached:
            above = self.lines.get(self.links.get(parent, parent) or "")
            if above is not None:
                stack.append(above)
        if line.boundary:
            logical = self.lines.get(line.logical_parent or "") or self.before.get(line.id)
            if logical is not None:
                stack.append(logical)
        if line.message_id in self.replies:
            stack.extend(self.replies.pop(line.message_id))
        for call in line.calls:
            stack.extend(self.answers.pop(call, ()))


def cuts(session: Session, lines: Sequence[Line]) -> tuple[Cut, ...]:
    """The boundaries among the lines of a past, oldest first."""
    boundaries = [line for line in lines if line.boundary]
    names = {line.id for line in boundaries}
    found: list[Cut] = []
    for number, line in enumerate(boundaries):
        stored = record(session, line.entry).get("compactMetadata")
        metadata: dict[str, Any] = stored if isinstance(stored, dict) else {}
        kept = kept_by(metadata)
        start = boundaries[number - 1].entry.index if number else -1
        summarised = any(
            other.entry.parent == line.id
            or (other.id in kept and other.entry.parent not in names and other.entry.index > start)
            for other in lines
            if other.summary
        )
        ours = metadata.get("seamline")
        dropped = frozenset(_texts(ours.get("dropped") if isinstance(ours, dict) else None))
        found.append(Cut(line, kept, summarised, dropped))
    return tuple(found)


def kept_by(metadata: dict[str, Any]) -> frozenset[str]:
    """The lines that a boundary's list names."""
    messages = metadata.get("preservedMessages")
    return frozenset(_texts(messages.get("uuids") if isinstance(messages, dict) else None))


def _texts(value: Any) -> Iterator[str]:
    return (text for text in (value if isinstance(value, list) else ()) if isinstance(text, str))
