"""Codex's units: the smallest groups of items that one decision can apply to, and what may happen to each.

What the model made in one go (thinking, words, calls) and the outputs of those calls are one unit, however far apart
they stand: thinking must stay with what it led to, and a call with its output. All else is a message by itself.
"""

from __future__ import annotations

from core.agents.codex.context import is_initial
from core.agents.codex.rebuilding import PARTS_OF_AN_ITEM
from core.agents.protocol import Options
from core.proposal import What
from core.view import Item, Mark, Source, Unit, UnitKind, View

_KIND_OF_MARK: dict[Mark, UnitKind] = {"": "user", "summary": "summary", "shell": "shell", "custom": "custom"}

_WHOLE: frozenset[What] = frozenset({"keep", "summarize", "drop"})
_SHORTER: frozenset[What] = frozenset({"limit", "point"})

_NO_RESULT: dict[UnitKind, str] = {
    "user": "a user's message is kept whole: summarise or drop it instead",
    "exchange": "none of its calls has a stored output that can be shortened: summarise or drop the exchange instead",
    "assistant": "a reply, with its thinking, is kept whole or gone: summarise or drop it instead",
    "summary": "an earlier summary is kept whole: summarise it anew or drop it instead",
    "branch_summary": "a summary is kept whole: summarise it anew or drop it instead",
    "shell": "a command of the user is kept whole: summarise or drop it instead",
    "custom": "a message of Codex is kept whole: summarise or drop it instead",
    "orphan": "an output without its call can't be shortened: keep, summarise or drop it instead",
    "system": "instructions to the model are kept whole: keep, summarise or drop them instead",
}

_CONTEXT = "Codex tells the model its circumstances again where they are gone: keep or drop it instead"
_ENCRYPTED = "its content is encrypted, so nobody but the provider can read it: keep or drop it instead"


class _Group:
    """A unit in the making."""

    def __init__(self, identity: str, kind: UnitKind) -> None:
        self.identity = identity
        self.kind: UnitKind = kind
        self.items: list[int] = []
        self.entries: dict[str, None] = {}

    def unit(self) -> Unit:
        return Unit(self.identity, self.kind, tuple(self.items), tuple(self.entries), self.kind == "user")


class _Grouping:
    """One pass over the items of a view."""

    def __init__(self) -> None:
        self.groups: list[_Group] = []
        self.of_stored: dict[tuple[str, int], _Group] = {}
        self.of_call: dict[str, _Group] = {}
        """The newest group that holds a call of this id."""
        self.early: dict[str, _Group] = {}
        """Outputs that stand before their call."""
        self.run: _Group | None = None
        """What the model is making just now."""

    def add(self, position: int, item: Item) -> None:
        key = _stored(item)
        group = self.of_stored.get(key) if key is not None and item.kind not in ("tool_call", "tool_result") else None
        group = group or self._group(item, key, position)
        group.items.append(position)
        if key is not None:
            self.of_stored[key] = group
            group.entries.setdefault(key[0])
        if item.kind == "tool_call":
            group.kind = "exchange"
            self.of_call[item.call_id] = group

    def _group(self, item: Item, key: tuple[str, int] | None, position: int) -> _Group:
        if item.role == "assistant" and item.mark != "summary":
            self.run = self._of_run(item) or self._new("assistant", key, position)
            return self.run
        known = self.of_call.get(item.call_id) if item.kind == "tool_result" else None
        if item.origin != "repair":
            self.run = None
        if known is not None:
            return known
        if item.role == "tool":
            group = self._new("orphan", key, position)
            if item.kind == "tool_result":
                self.early[item.call_id] = group
            return group
        return self._new("system" if item.role == "system" else _KIND_OF_MARK.get(item.mark, "custom"), key, position)

    def _of_run(self, item: Item) -> _Group | None:
        """The group of what the model makes in one go; that of an early output, where the call now follows it."""
        early = self.early.pop(item.call_id, None) if item.kind == "tool_call" else None
        if early is None:
            return self.run
        if self.run is None:
            return early
        self._merge(self.run, early)
        return early

    def _merge(self, late: _Group, early: _Group) -> None:
        """Make one group of two; the earlier one stays."""
        early.items += late.items
        early.entries |= late.entries
        early.kind = late.kind
        self.groups.remove(late)
        for known in (self.of_stored, self.of_call, self.early):
            for name, group in list(known.items()):
                if group is late:
                    known[name] = early  # type: ignore[index]

    def _new(self, kind: UnitKind, key: tuple[str, int] | None, position: int) -> _Group:
        if key is None:
            identity = f"item-{position}"
        else:
            identity = key[0] if not key[1] else f"{key[0]}#{key[1]}"
        self.groups.append(_Group(identity, kind))
        return self.groups[-1]


def _stored(item: Item) -> tuple[str, int] | None:
    """The stored item that this is a part of: its entry, and its number in the history of a checkpoint."""
    if not item.source:
        return None
    return item.source[0].entry, item.source[0].part // PARTS_OF_AN_ITEM


def units(view: View) -> tuple[Unit, ...]:
    """The view's items grouped, every item in exactly one unit, ordered by first item."""
    grouping = _Grouping()
    for position, item in enumerate(view.items):
        grouping.add(position, item)
    return tuple(group.unit() for group in grouping.groups)


def options(view: View, unit: Unit) -> Options:
    """What may happen to a unit, and for all else why not and what to do instead."""
    results = _results(view, unit) if unit.kind == "exchange" else ()
    allowed = _WHOLE | _SHORTER if results else _WHOLE
    refused: dict[What, str] = {}
    if not results:
        refused = {"limit": _NO_RESULT[unit.kind], "point": _NO_RESULT[unit.kind]}
    if any(view.items[position].opaque and view.items[position].mark == "summary" for position in unit.items):
        allowed = allowed - {"summarize"}
        refused["summarize"] = _ENCRYPTED
    elif _is_initial(view, unit):
        allowed = allowed - {"summarize"}
        refused["summarize"] = _CONTEXT
    conditions: dict[What, str] = {}
    if unit.kind == "summary" and "summarize" in allowed:
        conditions["keep"] = "only while no new summary is made: summarise or drop it then"
    return Options(allowed, refused, results, conditions)


def _is_initial(view: View, unit: Unit) -> bool:
    """Whether a unit tells the model its circumstances (permissions, folder, instructions)."""
    if unit.kind not in ("system", "custom"):
        return False
    items = [view.items[position] for position in unit.items]
    roles = {"system": "developer"}
    return any(
        is_initial(roles.get(item.role, item.role), [{"type": "input_text", "text": item.text}]) for item in items
    )


def _results(view: View, unit: Unit) -> tuple[Source, ...]:
    """The stored outputs of an exchange that can be shortened: all but those that Codex makes up or gets elsewhere."""
    items = [view.items[position] for position in unit.items]
    searches = {item.call_id for item in items if item.kind == "tool_call" and item.name == "tool_search"}
    return tuple(
        item.source[0]
        for item in items
        if item.kind == "tool_result" and item.origin == "stored" and item.call_id not in searches
    )
