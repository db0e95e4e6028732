"""Which lines are the conversation: the last boundary and what it keeps, the leaf, the way from it back to the root.

As Claude Code 2.1.332 does it on resume. Nothing is decoded here but the metadata of the last boundary.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from core.agents.claude_code.records import Line
from core.agents.claude_code.siblings import MESSAGES, goes_on, with_siblings
from core.files import Files
from core.jsonl import BrokenLine, decode
from core.session import Entry

LARGE_FILE = 5 << 20
"""Bytes from which on the client does not read what stands before a boundary that keeps nothing."""

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

    def there(self) -> list[Line]:
        """All lines that the client still has, in file order."""
        return [line for line in self.lines.values() if line.id not in self.gone]

    def parent(self, line: Line) -> str | None:
        """The id of the line above, over lines that only report progress."""
        above = self.parents.get(line.id, line.entry.parent)
        return self.links.get(above, above) if above is not None else None


def follow(
    files: Files,
    path: Path,
    stored: Sequence[Line],
    leaves: Sequence[tuple[Entry, str]],
    size: int,
    asked: str | None = None,
) -> Chain:
    """The conversation in these lines; `asked` is a leaf that a person chose. Raises OSError."""
    lines: dict[str, Line] = {}
    links: dict[str, str | None] = {}
    for line in stored:
        if line.entry.kind == "progress":
            links[line.id] = line.entry.parent
        else:
            lines[line.id] = line
    chain = Chain(lines, _is_sidechain(path, stored, lines.get(asked or "")), links=_without_progress(links))
    chain.boundary = next((line for line in reversed(lines.values()) if line.boundary and _main(chain, line)), None)
    if chain.boundary is not None:
        _keep(chain, chain.boundary, _metadata(files, path, chain.boundary), size)
        if not chain.kept and not chain.kept_fault and _kept_before(chain, files, path):
            _forget(chain, chain.boundary, ())
    chain.leaf = _asked(chain, asked) if asked is not None else _leaf(chain, leaves)
    if chain.leaf is not None:
        there = chain.there()
        parents = {line.id: chain.parent(line) for line in there}
        way = _walk(chain, chain.leaf)
        chain.path = tuple(with_siblings(there, parents, way))
    return chain


def _is_sidechain(path: Path, stored: Sequence[Line], asked: Line | None) -> bool:
    """Whether the conversation is a sub-agent's: in a file of its own, or chosen by a person."""
    own_file = path.name.startswith("agent-") and bool(stored) and all(line.sidechain for line in stored)
    return own_file or (asked is not None and asked.sidechain)


def _without_progress(links: dict[str, str | None]) -> dict[str, str | None]:
    """Each report of progress → the line above it that is none."""
    found: dict[str, str | None] = {}
    for start in links:
        way: dict[str, None] = {}
        above: str | None = start
        while above is not None and above in links and above not in found and above not in way:
            way[above] = None
            above = links[above]
        end = found[above] if above is not None and above in found else None if above in way else above
        found.update(dict.fromkeys(way, end))
    return found


def _main(chain: Chain, line: Line) -> bool:
    return chain.subagent or not line.sidechain


# The last boundary.


def _metadata(files: Files, path: Path, boundary: Line) -> dict[str, Any]:
    entry = boundary.entry
    try:
        value = decode(files.read(path, entry.offset, entry.length))
    except BrokenLine:
        return {}
    metadata = value.get("compactMetadata") if isinstance(value, dict) else None
    return metadata if isinstance(metadata, dict) else {}


def _keep(chain: Chain, boundary: Line, metadata: dict[str, Any], size: int) -> None:
    """Hang the kept lines behind their anchor and drop every other line before the boundary."""
    kept, anchor = _kept_list(chain, metadata)
    if not kept or anchor is None:
        if size >= LARGE_FILE:
            chain.skipped_before = boundary.entry.offset
            _forget(chain, boundary, ())
        return
    chain.kept, chain.anchor = kept, anchor
    listed = set(kept)
    _forget(chain, boundary, (*kept, anchor))
    tail = kept[-1]
    for line in chain.lines.values():
        parent = chain.parent(line)
        loose = line.id not in listed and line.id not in chain.gone
        if loose and (parent == anchor or (parent in chain.gone and line.entry.kind in MESSAGES)):
            chain.parents[line.id] = tail
    previous: str | None = anchor
    for own in kept:
        chain.parents[own] = previous
        previous = own


def _forget(chain: Chain, boundary: Line, but: Iterable[str]) -> None:
    """Drop the lines before the boundary for good."""
    kept = frozenset(but)
    before = (line for line in chain.lines.values() if line.entry.index < boundary.entry.index)
    chain.gone.update(line.id for line in before if line.id not in kept)


def _kept_before(chain: Chain, files: Files, path: Path) -> bool:
    """Whether a boundary before the last one kept lines: then nothing before the last one can come back."""
    earlier = [line for line in chain.lines.values() if line.boundary and _main(chain, line)][:-1]
    names = ("preservedMessages", "preservedSegment")
    return any(isinstance(_metadata(files, path, line).get(name), dict) for line in earlier for name in names)


def _kept_list(chain: Chain, metadata: dict[str, Any]) -> tuple[tuple[str, ...], str | None]:
    """The kept lines in their new order, and the line that they hang behind; nothing where there is no proper list."""
    messages, segment = metadata.get("preservedMessages"), metadata.get("preservedSegment")
    if isinstance(messages, dict) and isinstance(messages.get("uuids"), list):
        kept = tuple(own for own in messages["uuids"] if isinstance(own, str) and own in chain.lines)
        if len(kept) < len(messages["uuids"]):
            missing = next(own for own in messages["uuids"] if not isinstance(own, str) or own not in chain.lines)
            chain.kept_fault = f"its list of kept lines names {missing!r}, which is not in the file"
            return (), None
        anchor = messages.get("anchorUuid")
    elif isinstance(segment, dict):
        kept = _segment(chain, segment.get("headUuid"), segment.get("tailUuid"))
        if not kept:
            chain.kept_fault = "the ends of its kept segment are not in the file, or do not hang together"
            return (), None
        anchor = segment.get("anchorUuid")
    else:
        return (), None
    return kept, anchor if isinstance(anchor, str) else None


def _segment(chain: Chain, head: Any, tail: Any) -> tuple[str, ...]:
    """The lines from `head` to `tail` by their stored parents; empty where they do not hang together."""
    found: list[str] = []
    current = tail
    seen: set[str] = set()
    while isinstance(current, str) and current in chain.lines and current not in seen:
        seen.add(current)
        found.append(current)
        if current == head:
            return tuple(reversed(found))
        current = chain.lines[current].entry.parent
    return ()


# The leaf.


def _asked(chain: Chain, asked: str) -> Line | None:
    """The line that a person chose; also one that a boundary dropped, with the history that it had then."""
    line = chain.lines.get(asked)
    if line is not None and asked in chain.gone:
        chain.gone.clear()
        chain.parents.clear()
    return line


def _leaf(chain: Chain, leaves: Sequence[tuple[Entry, str]]) -> Line | None:
    """The line that the last last-prompt names, unless the last line of the file goes on from there; else that one."""
    start = chain.boundary.entry.index if chain.boundary is not None else -1
    named = [(entry, own) for entry, own in leaves if entry.index > start]
    there = chain.there()
    parents = {line.id: chain.parent(line) for line in there}
    above = {parent for parent in parents.values() if parent is not None}
    lines = [line for line in reversed(there) if _main(chain, line)]
    tips = (line for line in lines if line.id not in above)
    last = next((tip for tip in tips if _tells(chain, tip)), lines[0] if lines else None)
    if not named:
        return last
    entry, own = named[-1]
    line = chain.line(own)
    if line is None or (own in chain.kept and own in above):
        chain.leaf_fault = (entry, own) if line is None else None
        return last
    return last if last is None or goes_on(there, parents, _walk(chain, last), line) else line


def _tells(chain: Chain, tip: Line) -> bool:
    """Whether a message of the user or a reply stands at or above the tip."""
    line: Line | None = tip
    seen: set[str] = set()
    while line is not None and line.id not in seen:
        if line.entry.kind in ("user", "assistant"):
            return True
        seen.add(line.id)
        line = chain.line(chain.parent(line))
    return False


# The way back to the root.


def _walk(chain: Chain, leaf: Line) -> list[Line]:
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
            if own is not None and _main(chain, line) and line.id not in chain.gone:
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
