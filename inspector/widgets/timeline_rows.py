"""The timeline as values: which lines there are, how they are grouped and folded, what each row says. No drawing."""

from __future__ import annotations

import json
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Literal

from core.agents.protocol import Profile
from core.view import Item, Seen, Sight, Turn, View
from inspector.widgets import figures
from inspector.widgets.cells import first_line

GroupKind = Literal["past", "fresh", "lead", "turn"]
IN_VIEW: tuple[GroupKind, ...] = ("lead", "turn")

ICONS = {
    "user": "❯",
    "assistant": "✦",
    "thinking": "⋯",
    "call": "ƒ",
    "result": "↳",
    "error": "✗",
    "image": "▣",
    "summary": "Σ",
    "branch": "⑂",
    "shell": "$",
    "custom": "◇",
    "system": "⚙",
}
"""One sign for each kind of line; never two cells wide."""

MARK_KINDS = {
    "summary": "summary",
    "branch_summary": "branch",
    "shell": "shell",
    "custom": "custom",
    "standing": "custom",
    "bundled_image": "image",
    "waiting": "user",
}

SIGHT_WORDS: dict[Sight, str] = {
    "visible": "",
    "summarized": "summarised",
    "pruned": "pruned",
    "dropped": "dropped",
    "other_branch": "other branch",
    "never": "never sent",
}


@dataclass(frozen=True, slots=True)
class Line:
    """One item on the timeline. `position` is its place in `View.items`; None where the model does not see it."""

    item: Item
    position: int | None
    sight: Sight = "visible"
    left_at: str | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """Neighbouring lines under one header: a turn, or what went before the last compaction."""

    kind: GroupKind
    number: int
    start: int
    stop: int
    title: str


@dataclass(frozen=True)
class Timeline:
    """All lines in order, and the groups that divide them without a gap."""

    lines: tuple[Line, ...]
    groups: tuple[Group, ...]

    def group_of(self, line: int) -> int:
        """The number (from 0) of the group that a line is in."""
        return bisect_right(self.groups, line, key=lambda group: group.start) - 1

    def counted_lines(self, group: int) -> Sequence[int]:
        """The lines of a group that its figures are made of: of what the model sees, only that."""
        this = self.groups[group]
        if this.kind not in IN_VIEW:
            return range(this.start, this.stop)
        seen = self._lines_in_view
        return seen[bisect_left(seen, this.start) : bisect_left(seen, this.stop)]

    def line_at(self, position: int) -> int | None:
        """The line that shows an item of the view."""
        return self._lines_in_view[position] if 0 <= position < len(self._lines_in_view) else None

    @cached_property
    def _lines_in_view(self) -> array[int]:
        return array("q", (index for index, line in enumerate(self.lines) if line.position is not None))


def header(group: int) -> int:
    """The row number that stands for a group's header; lines stand for themselves."""
    return -1 - group


def group_of_header(row: int) -> int | None:
    """The group whose header a row stands for; None where it stands for a line."""
    return -1 - row if row < 0 else None


PAST = "Before the last compaction: no longer seen by the model"
FRESH = "Made anew by the client at each start"


def build(view: View, turns: Sequence[Turn], history: Iterable[Seen]) -> Timeline:
    """Lay the session's past and the view into one list: the view in its order, what left it where it stood."""
    inserts = _what_left(view, history)
    lines: list[Line] = []
    groups: list[Group] = []
    _add_group(lines, groups, "past", 0, PAST, inserts.pop(-1, []))
    fresh = [Line(item, None, "visible") for item in view.fresh]
    _add_group(lines, groups, "fresh", 0, FRESH, fresh)
    starts = {turn.units[0].first: turn.number for turn in turns}
    current: list[Line] = []
    number = 0
    for position, item in enumerate(view.items):
        # What left before a turn's first message is no part of that turn.
        current += inserts.pop(position, [])
        if position in starts:
            _add_turn(lines, groups, number, current)
            current, number = [], starts[position]
        current.append(Line(item, position))
    for left in inserts.values():
        current += left
    _add_turn(lines, groups, number, current)
    return Timeline(tuple(lines), tuple(groups))


def _add_turn(lines: list[Line], groups: list[Group], number: int, added: list[Line]) -> None:
    if number:
        _add_group(lines, groups, "turn", number, _turn_title(added), added)
    else:
        _add_group(lines, groups, "lead", 0, _lead_title(added), added)


def _lead_title(lines: list[Line]) -> str:
    summary = any(line.item.mark == "summary" for line in lines)
    return "What the last compaction left" if summary else "Before the first message"


def _add_group(
    lines: list[Line], groups: list[Group], kind: GroupKind, number: int, title: str, added: list[Line]
) -> None:
    if added:
        groups.append(Group(kind, number, len(lines), len(lines) + len(added), title))
        lines += added


def _turn_title(lines: list[Line]) -> str:
    for line in lines:
        if line.position is not None and line.item.role == "user" and line.item.text:
            return first_line(line.item.text)
    return ""


def _what_left(view: View, history: Iterable[Seen]) -> dict[int, list[Line]]:
    """What the model no longer sees, by the position of the visible item that followed it; -1: before them all."""
    places = {item.source: position for position, item in enumerate(view.items) if item.source}
    inserts: dict[int, list[Line]] = {}
    waiting: list[Line] = []
    placed = False
    for seen in history:
        if seen.sight != "visible":
            waiting.append(Line(seen.item, None, seen.sight, seen.left_at))
            continue
        position = places.get(seen.item.source)
        if position is None or seen.item.mark == "summary":
            continue
        if waiting:
            inserts[position if placed else -1] = waiting
            waiting = []
        placed = True
    if waiting:
        inserts[len(view.items) if placed else -1] = waiting
    return inserts


def rows(timeline: Timeline, folded: Set[int]) -> array[int]:
    """The rows to show, top to bottom: a header for each group, then its lines unless it is folded."""
    shown = array("q")
    for number, group in enumerate(timeline.groups):
        shown.append(header(number))
        if number not in folded:
            shown.extend(range(group.start, group.stop))
    return shown


@dataclass
class Tokens:
    """Tokens of each line, estimated at first and counted later, and the running total over the view."""

    values: array[int]
    counted: bytearray
    running: array[int]
    """Tokens in the view up to and including each line."""
    in_view: bytearray
    scale: int = 1
    """What a full small bar stands for: the tokens of the largest turn."""
    counted_to: int = 0
    """Up to this line (not included) the running total is counted."""

    @classmethod
    def estimated(cls, timeline: Timeline) -> Tokens:
        values = array("q", (estimate(line.item) for line in timeline.lines))
        in_view = bytearray(line.position is not None for line in timeline.lines)
        tokens = cls(values, bytearray(len(values)), array("q"), in_view)
        tokens.add_up(timeline)
        return tokens

    def add_up(self, timeline: Timeline) -> None:
        """Bring the running total and the scale up to date with the values."""
        self.running = array("q", accumulate(v if seen else 0 for v, seen in zip(self.values, self.in_view)))
        self.scale = max((self.of_group(g) for g in timeline.groups if g.kind in IN_VIEW), default=1) or 1
        uncounted = (i for i, seen in enumerate(self.in_view) if seen and not self.counted[i])
        self.counted_to = next(uncounted, len(self.values))

    def count(self, timeline: Timeline, first: int, values: array[int]) -> None:
        """Counted tokens of the lines from `first` on."""
        last = first + len(values)
        self.values[first:last] = values
        self.counted[first:last] = b"\x01" * len(values)
        self.add_up(timeline)

    def of_group(self, group: Group) -> int:
        """Tokens that a group has in the view; for the past, which has none there, what its lines come to."""
        if group.kind not in IN_VIEW:
            return sum(self.values[group.start : group.stop])
        before = self.running[group.start - 1] if group.start else 0
        return self.running[group.stop - 1] - before

    def is_counted(self, lines: Sequence[int]) -> bool:
        """Whether all of these ascending lines are counted."""
        if not lines or 0 not in self.counted[lines[0] : lines[-1] + 1]:
            return True
        whole = len(lines) == lines[-1] + 1 - lines[0]
        return not whole and all(self.counted[index] for index in lines)

    @property
    def total(self) -> int:
        """Tokens of the whole view."""
        return self.running[-1] if self.running else 0


def estimate(item: Item) -> int:
    """Tokens as bytes / 4, until they are counted."""
    text = item.text
    if item.kind == "tool_call":
        text = item.name + arguments_line(item.arguments)
    if item.kind == "image" or item.opaque:
        return 0
    length = len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
    return (length + 3) // 4


def arguments_line(arguments: object) -> str:
    """A call's arguments in one line of JSON."""
    if isinstance(arguments, str):
        return arguments
    return json.dumps(arguments, ensure_ascii=False, default=str)


@dataclass(frozen=True, slots=True)
class Cells:
    """What one row says. Empty where a row has nothing to say in a column."""

    style: str
    """Which component style the icon and the kind are drawn in."""
    icon: str
    kind: str
    tool: str
    text: str
    badge: str = ""
    """`repair`, `fresh`, `pruned`, …: said in words before the text."""
    tokens: str = ""
    share: str = ""
    fraction: float = 0.0
    """Of the largest group of the view, for the small bar."""
    running: str = ""
    dim: bool = False
    strong: bool = False


def kind_of(item: Item) -> str:
    """The word for what an item is, as in `ICONS`."""
    if item.mark:
        return MARK_KINDS[item.mark]
    if item.kind == "tool_call":
        return "call"
    if item.kind == "tool_result":
        return "error" if item.is_error else "result"
    return item.role if item.kind == "text" else item.kind


def item_text(item: Item, profile: Profile) -> str:
    """The one line that tells what is in an item."""
    if item.kind == "tool_call":
        return _call_text(item, profile)
    if item.kind == "image":
        return first_line(f"{item.media_type or 'image'}, {figures.size(item.image_bytes)}")
    if item.opaque:
        return "reasoning that only the provider can read"
    return first_line(item.text)


def _call_text(item: Item, profile: Profile) -> str:
    tool = profile.tool(item.name)
    if isinstance(item.arguments, dict):
        for name in (tool.command, tool.path):
            if name and isinstance(value := item.arguments.get(name), str):
                return first_line(value)
    return first_line(arguments_line(item.arguments))


def line_cells(timeline: Timeline, line: int, tokens: Tokens, profile: Profile, window: int | None) -> Cells:
    """The row of one item."""
    shown = timeline.lines[line]
    item = shown.item
    kind = kind_of(item)
    visible = shown.position is not None
    badge = SIGHT_WORDS[shown.sight] or ("" if item.origin == "stored" else item.origin)
    value = tokens.values[line]
    counted = bool(tokens.counted[line])
    return Cells(
        style=kind,
        icon=ICONS.get(kind, "·"),
        kind=kind,
        tool=first_line(item.name),
        text=item_text(item, profile),
        badge=badge,
        tokens=figures.tokens(value, counted),
        share=figures.share(value, window or tokens.total) if visible else "",
        fraction=value / tokens.scale if visible else 0.0,
        running=figures.tokens(tokens.running[line], line < tokens.counted_to) if visible else "",
        dim=shown.sight != "visible",
    )


def items_words(count: int, unseen: int) -> str:
    """How many items a group has in the view, and how many stand among them that the model no longer sees."""
    words = f"{count:,} {'item' if count == 1 else 'items'}"
    return f"{words} +{unseen:,} unseen" if unseen else words


def header_cells(timeline: Timeline, number: int, tokens: Tokens, window: int | None, folded: bool) -> Cells:
    """The row of a group's header."""
    group = timeline.groups[number]
    value = tokens.of_group(group)
    lines = timeline.counted_lines(number)
    counted = tokens.is_counted(lines)
    visible = group.kind in IN_VIEW
    return Cells(
        style="turn" if visible else "past",
        icon="▸" if folded else "▾",
        kind=f"turn {group.number}" if group.kind == "turn" else "",
        tool="",
        # An unfolded turn has its first line right below.
        text=group.title if folded or group.kind != "turn" else "",
        badge=items_words(len(lines), group.stop - group.start - len(lines)),
        tokens=figures.tokens(value, counted),
        share=figures.share(value, window or tokens.total) if visible else "",
        fraction=value / tokens.scale if visible else 0.0,
        running=figures.tokens(tokens.running[group.stop - 1], group.stop <= tokens.counted_to) if visible else "",
        dim=not visible,
        strong=True,
    )
