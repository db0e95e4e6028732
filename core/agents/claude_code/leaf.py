"""The leaf: where the conversation ends."""

from __future__ import annotations

from collections.abc import Sequence

from core.agents.claude_code.chain import Chain, walk_back
from core.agents.claude_code.records import Line
from core.agents.claude_code.siblings import MESSAGES, goes_on
from core.session import Entry


def asked_leaf(chain: Chain, asked: str) -> Line | None:
    """The line that a person chose; also one that a boundary dropped, with the history that it had then."""
    line = chain.lines.get(asked)
    if line is not None and asked in chain.gone:
        chain.gone.clear()
        chain.parents.clear()
    return line


def find_leaf(chain: Chain, leaves: Sequence[tuple[Entry, str]]) -> Line | None:
    """The line that the last last-prompt names, unless the last tip of the file goes on from there; else that tip."""
    start = chain.boundary.entry.index if chain.boundary is not None else -1
    named = [(entry, own) for entry, own in leaves if entry.index > start]
    there = chain.there()
    parents = {line.id: chain.parent(line) for line in there}
    above = {parent for parent in parents.values() if parent is not None}
    lines = sorted((line for line in there if chain.main(line)), key=lambda line: -line.entry.index)
    tips = (line for line in lines if line.id not in above)
    last = next((tip for tip in tips if _message(chain, tip) is not None), lines[0] if lines else None)
    if not named:
        return last
    entry, own = named[-1]
    line = chain.line(own)
    if line is None or _message(chain, line) is None:
        chain.leaf_fault = (entry, own)
        return last
    if last is None or (own in chain.kept and (own in above or own in chain.links.values())):
        return last
    return last if goes_on(there, parents, walk_back(chain, last), line) else line


def _message(chain: Chain, start: Line) -> Line | None:
    """The nearest message at or above a line."""
    line: Line | None = start
    seen: set[str] = set()
    while line is not None and line.id not in seen and line.entry.kind not in MESSAGES:
        seen.add(line.id)
        line = chain.line(chain.parent(line))
    return None if line is None or line.entry.kind not in MESSAGES else line


def with_context(chain: Chain, way: list[Line]) -> list[Line]:
    """The way to the leaf with all lines without a message that hang on its last message, in file order."""
    last = next((at for at in range(len(way) - 1, -1, -1) if way[at].entry.kind in MESSAGES), None)
    if last is None:
        return way
    children: dict[str, list[Line]] = {}
    for line in chain.there():
        parent = chain.parent(line)
        if parent is not None and line.entry.kind not in MESSAGES and not line.boundary:
            children.setdefault(parent, []).append(line)
    found: dict[str, Line] = {line.id: line for line in way[last + 1 :]}
    stack = [way[last], *way[last + 1 :]]
    for line in stack:
        new = [child for child in children.get(line.id, ()) if child.id not in found]
        found.update((child.id, child) for child in new)
        stack.extend(new)
    return [*way[: last + 1], *sorted(found.values(), key=lambda line: line.entry.index)]
