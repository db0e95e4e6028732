"""The lines of a session as Claude Code 2.1.332 links them on resume, and the way from one of them to the root."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field

from core.agents.claude_code.records import Line
from core.session import Entry

MOST_CANDIDATES = 1_000
"""Lines that are tried for a missing parent."""

LONGEST_GAP = 5_000
"""Milliseconds that a line may be older than one with a missing parent, to be taken for it."""


@dataclass
class Chain:
    """What the client would make of the file's lines."""

    lines: dict[str, Line]
    """Lines of the conversation by uuid: of several with one uuid the last one, at the place of the first."""
    subagent: bool = False
    boundary: Line | None = None
    kept: tuple[str, ...] = ()
    """The lines that the last boundary keeps, in their new order."""
    kept_fault: str = ""
    """Why the client ignores the boundary's list of kept lines; empty where it follows it, or there is none."""
    anchor: str | None = None
    links: dict[str, str | None] = field(default_factory=dict[str, str | None])
    """Lines that only report progress, and the line above them that does not: what hangs on them hangs on that."""
    parents: dict[str, str | None] = field(default_factory=dict[str, str | None])
    """Parents that differ from those stored."""
    gone: set[str] = field(default_factory=set[str])
    """Lines that the boundary drops for good."""
    leaf: Line | None = None
    leaf_fault: tuple[Entry, str] | None = None
    """The last-prompt line that was not followed, and the id in it."""
    path: tuple[Line, ...] = ()
    bridges: list[tuple[Line, Line]] = field(default_factory=list[tuple[Line, Line]])
    """Lines with a missing parent, and the line that the client took for it."""
    cut: Line | None = None
    """The line with a missing parent at which the history begins."""
    by_time: list[tuple[int, int, Line]] = field(default_factory=list[tuple[int, int, Line]])
    """Lines that can stand for a missing parent, by time; of equal ones the first in the file last."""
    skipped_before: int = 0
    warnings: list[str] = field(default_factory=list[str])

    def line(self, own: str | None) -> Line | None:
        """The line with this id, as far as the client still has it."""
        return None if own is None or own in self.gone else self.lines.get(own)

    def main(self, line: Line) -> bool:
        """Whether a line is of the conversation, and not of a sub-agent beside it."""
        return self.subagent or not line.sidechain

    def there(self) -> list[Line]:
        """All lines that the client still has, in file order."""
        return [line for line in self.lines.values() if line.id not in self.gone]

    def parent(self, line: Line) -> str | None:
        """The id of the line above, over lines that only report progress."""
        above = self.parents.get(line.id, line.entry.parent)
        return self.links.get(above, above) if above is not None else None


def walk_back(chain: Chain, leaf: Line) -> list[Line]:
    """The lines from the root to `leaf`, over gaps that the client bridges, from the newest boundary on."""
    way: list[Line] = []
    seen: set[str] = set()
    current = leaf
    while current.id not in seen:
        seen.add(current.id)
        way.append(current)
        if current.boundary:
            break
        parent = chain.parent(current)
        if parent is None:
            break
        above = chain.line(parent)
        if above is None:
            above = _bridge(chain, current, seen)
            if above is None:
                chain.cut = current
                break
            chain.bridges.append((current, above))
        current = above
    way.reverse()
    return way


def _bridge(chain: Chain, child: Line, seen: set[str]) -> Line | None:
    """The newest line that is not newer than `child`, if it is at most five seconds older; of equal ones the first."""
    time = _milliseconds(child)
    if time is None:
        return None
    if not chain.by_time:
        for line in chain.lines.values():
            own = _milliseconds(line)
            if own is not None and chain.main(line) and line.id not in chain.gone:
                chain.by_time.append((own, -len(chain.by_time), line))
        chain.by_time.sort(key=lambda timed: timed[:2])
    place = bisect_right(chain.by_time, time, key=lambda timed: timed[0])
    for own, _, line in reversed(chain.by_time[max(0, place - MOST_CANDIDATES) : place]):
        if own < time - LONGEST_GAP:
            return None
        if line.id not in seen:
            return line
    return None


def _milliseconds(line: Line) -> int | None:
    return None if line.entry.time is None else round(line.entry.time * 1000)
