"""dsh's units: the smallest groups of messages that one decision can apply to, and what may happen to each.

dsh replaces messages on its surface: a checkpoint stands for a range, a result for a result. It has no way to take a
message out, but an empty reply sends nothing, and so stands for what is dropped. A message with calls and their
results are one unit.
"""

from __future__ import annotations

from core.agents.protocol import Options
from core.proposal import What
from core.view import Item, Mark, Unit, UnitKind, View

_KIND_OF_MARK: dict[Mark, UnitKind] = {"": "user", "waiting": "user", "summary": "summary"}

_WHOLE: frozenset[What] = frozenset({"keep", "summarize", "drop"})
_SHORTER: frozenset[What] = frozenset({"limit", "point"})

_NO_RESULT: dict[UnitKind, str] = {
    "user": "a user's message is kept whole: summarise or drop it instead",
    "exchange": "none of its calls has a stored result that can be shortened: summarise or drop the exchange instead",
    "assistant": "a reply, with its thinking, is kept whole or gone: summarise or drop it instead",
    "summary": "an earlier checkpoint is kept whole: summarise it anew or drop it instead",
    "custom": "a message of a plugin is kept whole: summarise or drop it instead",
}
_UNSTORED = "it is not on the surface: dsh makes it, or takes it from the inbox, when it resumes: keep it"
_GIVEN_ANEW = "dsh gives it anew with the next prompt where the newest of its kind no longer stands in the view"
_ONE_CHECKPOINT = (
    "only while no new summary is made: that one is rebuilt from all that the earlier one stands for, "
    "so summarise or drop the earlier one then"
)


class _Group:
    """A unit in the making."""

    def __init__(self, kind: UnitKind, key: str) -> None:
        self.kind: UnitKind = kind
        self.key = key
        self.items: list[int] = []
        self.entries: dict[str, None] = {}

    def unit(self) -> Unit:
        entries = tuple(self.entries)
        identity = self.key or f"item-{self.items[0]}"
        return Unit(identity, self.kind, tuple(self.items), entries, self.kind == "user")


def units(view: View) -> tuple[Unit, ...]:
    """The view's items grouped, every item in exactly one unit, ordered by first item."""
    groups: list[_Group] = []
    of_message: dict[str, _Group] = {}
    of_call: dict[str, _Group] = {}
    for position, item in enumerate(view.items):
        key = _key(item)
        group = of_message.get(key) if key else None
        if group is None and item.kind == "tool_result":
            group = of_call.pop(item.call_id, None)
        if group is None:
            group = _Group(_kind(item), key)
            groups.append(group)
        group.items.append(position)
        if item.source:
            group.entries.setdefault(item.source[0].entry)
        if key:
            of_message[key] = group
        if item.kind == "tool_call":
            group.kind = "exchange"
            of_call[item.call_id] = group
    return tuple(group.unit() for group in groups)


def _key(item: Item) -> str:
    """The message that an item is a part of; several messages may wait in one entry."""
    if not item.source:
        return ""
    place = item.source[0]
    return f"{place.entry}#{place.part}" if item.mark == "waiting" else place.entry


def _kind(item: Item) -> UnitKind:
    if item.role == "assistant":
        return "assistant"
    if item.role == "tool":
        return "orphan"
    return _KIND_OF_MARK.get(item.mark, "custom")


def options(view: View, unit: Unit) -> Options:
    """What may happen to a unit, and for all else why not and what to do instead."""
    items = [view.items[position] for position in unit.items]
    if not unit.entries or any(item.mark == "waiting" for item in items):
        return Options(frozenset({"keep"}), dict.fromkeys(("limit", "point", "summarize", "drop"), _UNSTORED))
    results = tuple(
        item.source[0] for item in items if item.kind == "tool_result" and item.origin == "stored" and item.source
    )
    conditions: dict[What, str] = {"keep": _ONE_CHECKPOINT} if unit.kind == "summary" else {}
    if results:
        return Options(_WHOLE | _SHORTER, {}, results, conditions)
    reason = _NO_RESULT.get(unit.kind, _UNSTORED)
    grows: dict[What, str] = {}
    if any(item.mark == "standing" for item in items):
        grows = {"summarize": _GIVEN_ANEW, "drop": _GIVEN_ANEW}
    return Options(_WHOLE, {"limit": reason, "point": reason}, results, conditions, grows)
