"""grok's units: the smallest groups of items that one decision can apply to, and what may happen to each.

What the model made in one go (reasoning, server-run searches, words, calls) and the results of those calls are one
unit. All else is a message by itself.
"""

from __future__ import annotations

from core.agents.protocol import Options
from core.proposal import What
from core.view import Item, Source, Unit, UnitKind, View

_WHOLE: frozenset[What] = frozenset({"keep", "summarize", "drop"})
_SHORTER: frozenset[What] = frozenset({"limit", "point"})

_NO_RESULT: dict[UnitKind, str] = {
    "user": "a user's message is kept whole: summarise or drop it instead",
    "exchange": "none of its calls has a stored result that can be shortened: summarise or drop the exchange instead",
    "assistant": "a reply, with its reasoning, is kept whole or gone: summarise or drop it instead",
    "summary": "an earlier summary is kept whole: summarise it anew or drop it instead",
    "custom": "a message of the program is kept whole: summarise or drop it instead",
    "orphan": "a result without its call can't be shortened: the provider refuses it, so summarise or drop it instead",
}
_HEAD = "the head of a session (system, user info, project rules) is always kept: grok does not make all of it anew"
_SYSTEM = "a system message says how to work: it is always kept"

HEADS = ("<user_info>", "# AGENTS.md")
"""How the messages begin that stand before the first prompt and are not made anew on resume."""


class _Group:
    """A unit in the making."""

    def __init__(self, kind: UnitKind, identity: str) -> None:
        self.kind: UnitKind = kind
        self.identity = identity
        self.items: list[int] = []
        self.entries: dict[str, None] = {}

    def unit(self) -> Unit:
        return Unit(self.identity, self.kind, tuple(self.items), tuple(self.entries), self.kind == "user")


class _Grouping:
    """One pass over the items of a view."""

    def __init__(self) -> None:
        self.groups: list[_Group] = []
        self.taken: set[str] = set()
        self.of_entry: dict[str, _Group] = {}
        self.of_call: dict[str, _Group] = {}
        """The newest group that holds a call of this id."""
        self.run: _Group | None = None
        """What the model is making just now."""

    def add(self, position: int, item: Item) -> None:
        group = self._group(item)
        entry = item.source[0].entry
        group.items.append(position)
        group.entries.setdefault(entry)
        self.of_entry[entry] = group
        if item.kind == "tool_call":
            group.kind = "exchange"
            if not item.at_server:
                self.of_call[item.call_id] = group

    def _group(self, item: Item) -> _Group:
        entry = item.source[0].entry
        if item.role == "assistant":
            self.run = self.run or self._new("assistant", entry)
            return self.run
        self.run = None
        if item.kind == "tool_result":
            return self.of_call.get(item.call_id) or self._new("orphan", entry)
        known = self.of_entry.get(entry)
        if known is not None and (item.role == "tool" or known.kind not in ("exchange", "assistant", "orphan")):
            return known
        return self._new(_kind(item), entry)

    def _new(self, kind: UnitKind, entry: str) -> _Group:
        identity, number = entry, 1
        while identity in self.taken:
            identity, number = f"{entry}#{number}", number + 1
        self.taken.add(identity)
        self.groups.append(_Group(kind, identity))
        return self.groups[-1]


def _kind(item: Item) -> UnitKind:
    if item.role == "system":
        return "system"
    if item.role == "tool":
        return "orphan"
    return "summary" if item.mark == "summary" else "custom" if item.mark else "user"


def units(view: View) -> tuple[Unit, ...]:
    """The view's items grouped, every item in exactly one unit, ordered by first item."""
    grouping = _Grouping()
    for position, item in enumerate(view.items):
        grouping.add(position, item)
    return tuple(group.unit() for group in grouping.groups)


def options(view: View, unit: Unit) -> Options:
    """What may happen to a unit, and for all else why not and what to do instead."""
    items = [view.items[position] for position in unit.items]
    if unit.kind == "system":
        return _only_kept(_SYSTEM)
    if unit.kind == "custom" and any(item.text.lstrip().startswith(HEADS) for item in items):
        return _only_kept(_HEAD)
    results: tuple[Source, ...] = ()
    if unit.kind == "exchange":
        results = tuple(item.source[0] for item in items if item.kind == "tool_result" and item.origin == "stored")
    refused: dict[What, str] = {} if results else dict.fromkeys(sorted(_SHORTER), _NO_RESULT[unit.kind])
    return Options(_WHOLE | _SHORTER if results else _WHOLE, refused, results)


def _only_kept(reason: str) -> Options:
    refused: dict[What, str] = dict.fromkeys(("summarize", "drop", *sorted(_SHORTER)), reason)
    return Options(frozenset({"keep"}), refused)
