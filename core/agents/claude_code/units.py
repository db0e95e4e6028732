"""Claude Code's units: the smallest groups of items that one decision can apply to, and what may happen to each.

A reply (all lines of one message id, thinking included), all its calls and all their results are one unit, with the
context lines that were folded into the results. Every other line is a unit of its own.
"""

from __future__ import annotations

from core.agents.protocol import Options
from core.proposal import What
from core.view import Item, Mark, Source, Unit, UnitKind, View

_KIND_OF_MARK: dict[Mark, UnitKind] = {"": "user", "summary": "summary", "shell": "shell", "custom": "custom"}

_WHOLE: frozenset[What] = frozenset({"keep", "summarize", "drop"})
_SHORTER: frozenset[What] = frozenset({"limit", "point"})

READ = "Read"
"""The tool whose files the client reads again after its own compaction."""

_NO_RESULT: dict[UnitKind, str] = {
    "user": "a user's message is kept whole: summarise or drop it instead",
    "exchange": "none of its calls has a stored result that can be shortened: summarise or drop the exchange instead",
    "assistant": "a reply, with its thinking, is kept whole or gone: summarise or drop it instead",
    "summary": "an earlier summary is kept whole: summarise it anew or drop it instead",
    "branch_summary": "a summary is kept whole: summarise it anew or drop it instead",
    "shell": "a command that the user ran is kept whole: summarise or drop it instead",
    "custom": "a context line is kept whole: summarise or drop it instead",
    "orphan": "a result without its call can't be shortened: keep, summarise or drop it instead",
    "system": "a context line is kept whole: drop it instead, and the client writes the standing ones anew",
}


class _Group:
    """A unit in the making."""

    def __init__(self, kind: UnitKind) -> None:
        self.kind: UnitKind = kind
        self.items: list[int] = []
        self.entries: dict[str, None] = {}
        """The ids of its entries, in the order in which they are first met."""

    def unit(self, position: int) -> Unit:
        entries = tuple(self.entries)
        identity = entries[0] if entries else f"item-{position}"
        return Unit(identity, self.kind, tuple(self.items), entries, self.kind == "user")


class _Grouping:
    """One pass over the items of a view."""

    def __init__(self) -> None:
        self.groups: list[_Group] = []
        self.of_entry: dict[str, _Group] = {}
        self.of_call: dict[str, _Group] = {}
        self.reply: _Group | None = None
        """The reply that the last item belongs to."""

    def add(self, position: int, item: Item) -> None:
        group = self._group(item)
        group.items.append(position)
        for source in item.source:
            self.of_entry.setdefault(source.entry, group)
            group.entries.setdefault(source.entry)
        if item.kind == "tool_call":
            group.kind = "exchange"
            self.of_call.setdefault(item.call_id, group)
        self.reply = group if item.role == "assistant" else None

    def _group(self, item: Item) -> _Group:
        known = self.of_entry.get(item.source[0].entry) if item.source else None
        if known is not None:
            return known
        if item.role == "assistant":
            return self.reply or self._new("assistant")
        if item.kind == "tool_result":
            return self.of_call.get(item.call_id) or self._new("orphan")
        if item.role == "system":
            return self._new("system")
        return self._new("orphan" if item.role == "tool" else _KIND_OF_MARK.get(item.mark, "custom"))

    def _new(self, kind: UnitKind) -> _Group:
        self.groups.append(_Group(kind))
        return self.groups[-1]


def units(view: View) -> tuple[Unit, ...]:
    """The view's items grouped, every item in exactly one unit, ordered by first item."""
    grouping = _Grouping()
    for position, item in enumerate(view.items):
        grouping.add(position, item)
    return tuple(group.unit(group.items[0]) for group in grouping.groups)


def options(view: View, unit: Unit) -> Options:
    """What may happen to a unit, and for all else why not and what to do instead."""
    results = _results(view, unit) if unit.kind == "exchange" else ()
    allowed = _WHOLE | _SHORTER if results else _WHOLE
    refused = {} if results else dict.fromkeys(sorted(_SHORTER), _NO_RESULT[unit.kind])
    conditions: dict[What, str] = {}
    if unit.kind == "summary":
        conditions["keep"] = "only while no new summary is made, which would tell the same again: summarise or drop it"
    return Options(allowed, refused, results, conditions, _grows_back(view, unit))


def _grows_back(view: View, unit: Unit) -> dict[What, str]:
    """What the client itself brings back (2.1.332)."""
    if unit.kind == "system":
        return dict.fromkeys(("drop", "summarize"), "the client writes a standing context line anew on resume")
    items = (view.items[position] for position in unit.items)
    if any(item.kind == "tool_call" and item.name == READ for item in items):
        words = "the client's own next compaction may read up to five recent files again from the disk"
        return dict.fromkeys(("limit", "point", "drop", "summarize"), words)
    return {}


def _results(view: View, unit: Unit) -> tuple[Source, ...]:
    """The stored results of an exchange: each can be written again, shorter, under the same uuid."""
    items = [view.items[position] for position in unit.items]
    return tuple(item.source[0] for item in items if item.kind == "tool_result" and item.origin == "stored")
