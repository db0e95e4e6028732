"""pi's units: the smallest groups of items that one decision can apply to, and what may happen to each.

An assistant message, all its calls and all their results are one unit, however far apart they stand: late results,
calls that share an id, results made up by pi for unanswered calls, and the pictures that some wires move into a
user message behind a run of results.
"""

from __future__ import annotations

from core.agents.pi.wires.anthropic import ERROR_IMAGE
from core.agents.protocol import Options
from core.proposal import What
from core.view import Item, Mark, Source, Unit, UnitKind, View

_KIND_OF_MARK: dict[Mark, UnitKind] = {
    "": "user",
    "summary": "summary",
    "branch_summary": "branch_summary",
    "shell": "shell",
    "custom": "custom",
    "bundled_image": "orphan",
}

_WHOLE: frozenset[What] = frozenset({"keep", "summarize", "drop"})
_SHORTER: frozenset[What] = frozenset({"limit", "point"})

_NO_RESULT: dict[UnitKind, str] = {
    "user": "a user's message is kept whole: summarise or drop it instead",
    "exchange": "none of its calls has a stored result that can be shortened: summarise or drop the exchange instead",
    "assistant": "a reply, with its thinking, is kept whole or gone: summarise or drop it instead",
    "summary": "an earlier summary is kept whole: summarise it anew or drop it instead",
    "branch_summary": "pi can't replace the text of a branch summary: summarise or drop it instead",
    "shell": "pi can't replace the output of a command of the user: summarise or drop it instead",
    "custom": "an extension's message is kept whole: summarise or drop it instead",
    "orphan": "a result without its call can't be shortened: keep, summarise or drop it instead",
    "system": "the system prompt is no part of the history: nothing to do here",
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
        """The newest exchange that holds a call of this id."""

    def add(self, position: int, item: Item) -> None:
        group = self._group(item)
        group.items.append(position)
        if item.source:
            # Only the first source: behind it may stand the edit that gave the part its text.
            entry = item.source[0].entry
            self.of_entry[entry] = group
            group.entries.setdefault(entry)
        if item.kind == "tool_call":
            group.kind = "exchange"
            self.of_call[item.call_id] = group

    def _group(self, item: Item) -> _Group:
        entry = item.source[0].entry if item.source else None
        known = self.of_entry.get(entry) if entry is not None else None
        if known is not None:
            return known
        if item.kind == "tool_result":
            return self.of_call.get(item.call_id) or self._new("orphan")
        if entry is None and self.groups:
            return self.groups[-1]
        if item.role == "assistant":
            return self._new("assistant")
        if item.role == "system":
            return self._new("system")
        return self._new("orphan" if item.role == "tool" else _KIND_OF_MARK[item.mark])

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
        conditions["keep"] = "only while no new summary is made: pi sends one summary, so summarise or drop it then"
    return Options(allowed, refused, results, conditions)


def _results(view: View, unit: Unit) -> tuple[Source, ...]:
    """The stored results of an exchange that can be shortened."""
    items = [view.items[position] for position in unit.items]
    return tuple(item.source[0] for item in items if item.kind == "tool_result" and _can_be_shortened(item))


def _can_be_shortened(result: Item) -> bool:
    """Not what pi made up, nor a failed result with a picture: pi adds words of its own to that one's text."""
    return result.origin == "stored" and not (result.is_error and ERROR_IMAGE in result.text)
