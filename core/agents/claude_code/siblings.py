"""What hangs beside the way from the leaf to the root and is still sent: split replies, parallel results, context.

Each call of a reply is a line of its own, and each result hangs on its own call: all but one of them are off the way.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from core.agents.claude_code.records import Line

MESSAGES = frozenset({"user", "assistant"})


@dataclass
class Group:
    """One reply of several lines, the results of its calls, and the context lines that hang on either."""

    replies: list[Line] = field(default_factory=list[Line])
    others: list[Line] = field(default_factory=list[Line])


def with_siblings(lines: Sequence[Line], parents: dict[str, str | None], way: Sequence[Line]) -> Iterator[Line]:
    """The way with its siblings: behind the last line of a reply on the way, the rest of its group in file order.

    `lines`: all that the client has, in file order; `parents`: the line above each.
    """
    groups = _groups(lines, parents, way)
    last = {line.message_id: line.id for line in way if line.message_id in groups}
    placed: set[str] = set()
    for line in way:
        if line.id in placed:
            continue
        yield line
        placed.add(line.id)
        if last.get(line.message_id) == line.id:
            group = groups[line.message_id]
            for beside in (*group.replies, *group.others):
                if beside.id not in placed:
                    placed.add(beside.id)
                    yield beside


def goes_on(lines: Sequence[Line], parents: dict[str, str | None], way: Sequence[Line], leaf: Line) -> bool:
    """Whether the way goes on from `leaf`: it stands on the way, or is a call or result beside it, or below such."""
    on_way = {line.id for line in way}
    if leaf.id in on_way:
        return True
    by_id = {line.id: line for line in lines}
    line: Line | None = leaf
    seen: set[str] = set()
    while line is not None and line.entry.kind not in MESSAGES and line.id not in seen:
        seen.add(line.id)
        line = by_id.get(parents[line.id] or "")
    if line is None or line.id in on_way or not (line.calls or line.results):
        return False
    groups = _groups(lines, parents, way).values()
    return any(line.id in _ids(group) for group in groups if _has_result(group, on_way))


def _has_result(group: Group, on_way: set[str]) -> bool:
    return any(line.id in on_way for line in group.others if line.results)


def _groups(lines: Sequence[Line], parents: dict[str, str | None], way: Sequence[Line]) -> dict[str, Group]:
    """Message id → its group, where some of the group is not on the way."""
    groups = {line.message_id: Group() for line in way if line.entry.kind == "assistant" and line.message_id}
    of_call: dict[str, Group] = {}
    for line in lines:
        if line.entry.kind == "assistant" and line.message_id in groups:
            group = groups[line.message_id]
            group.replies.append(line)
            for call in line.calls:
                of_call.setdefault(call, group)
    for line in lines:
        for group in {id(of_call[call]): of_call[call] for call in line.results if call in of_call}.values():
            group.others.append(line)
    context = _Context(lines, parents, {line.id for line in way})
    for group in groups.values():
        if any(line.calls for line in group.replies):
            context.add(group)
    return {own: group for own, group in groups.items() if not context.on_way.issuperset(_ids(group))}


def _ids(group: Group) -> Iterator[str]:
    return (line.id for line in (*group.replies, *group.others))


class _Context:
    """Finds the lines without a message of their own that hang on the lines of a group."""

    def __init__(self, lines: Sequence[Line], parents: dict[str, str | None], on_way: set[str]) -> None:
        self.lines = {line.id: line for line in lines}
        self.order = {line.id: place for place, line in enumerate(lines)}
        self.parents = parents
        self.on_way = on_way
        self.children: dict[str, list[Line]] = {}
        for line in lines:
            parent = parents[line.id]
            if parent is not None:
                self.children.setdefault(parent, []).append(line)

    def add(self, group: Group) -> None:
        found: dict[str, Line] = {}
        stack = [*group.replies, *group.others]
        for line in stack:
            for child in self.children.get(line.id, ()):
                if child.entry.kind in MESSAGES or child.id in found:
                    continue
                if child.id in self.on_way:
                    found[child.id] = child
                    stack.append(child)
                else:
                    found.update((own.id, own) for own in self._branch(child))
        for line in (*group.replies, *group.others):
            if line.id not in self.on_way:
                found.update((own.id, own) for own in self._above(line))
        known = {line.id for line in group.others}
        group.others.extend(line for own, line in found.items() if own not in known)
        group.others.sort(key=lambda line: self.order[line.id])

    def _branch(self, start: Line) -> list[Line]:
        """The lines at and below `start`; none where a message is among them."""
        branch, seen = [start], {start.id}
        for line in branch:
            if line.entry.kind in MESSAGES:
                return []
            new = [below for below in self.children.get(line.id, ()) if below.id not in seen]
            seen.update(below.id for below in new)
            branch.extend(new)
        return branch

    def _above(self, start: Line) -> Iterator[Line]:
        """The context lines between `start` and the nearest message above it, as far as they are off the way."""
        seen = {start.id}
        line = self.lines.get(self.parents[start.id] or "")
        while (
            line is not None and line.entry.kind not in MESSAGES and line.id not in self.on_way and line.id not in seen
        ):
            seen.add(line.id)
            yield line
            line = self.lines.get(self.parents[line.id] or "")
