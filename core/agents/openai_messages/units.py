"""Units of a conversation: the smallest groups of items that one decision can apply to, and what may happen to each.

Chat Completions and Anthropic Messages: an assistant message, all its calls and all their results. Responses: reasoning
with the calls and messages that followed it, and their outputs, since the API refuses one without the other.
"""

from __future__ import annotations

from collections.abc import Iterator

from core.agents.protocol import Options
from core.proposal import What
from core.view import Item, Source, Unit, UnitKind, View

_WHOLE: frozenset[What] = frozenset({"keep", "summarize", "drop"})
_SHORTER: frozenset[What] = frozenset({"limit", "point"})

_NO_RESULT: dict[UnitKind, str] = {
    "user": "a user's message is kept whole: summarise or drop it instead",
    "exchange": "none of its calls has a stored result that can be shortened: summarise or drop the exchange instead",
    "assistant": "a reply, with its thinking, is kept whole or gone: summarise or drop it instead",
    "summary": "an earlier summary is kept whole: summarise it anew or drop it instead",
    "orphan": "a result without its call can't be shortened: the API refuses it, so summarise or drop it instead",
}
_SYSTEM = "a system message says how to work: it is always kept"
_ONE_SUMMARY = "only while no new summary is made: one stands for all that came before, so summarise or drop it then"
_NO_TEXT_OUTPUT = frozenset({"tool_search", "mcp_approval_request"})
"""Calls of Responses whose output is no text that another could stand for."""
_ENCRYPTED = "its content is encrypted, so no summary can stand for it: keep or drop it instead"


class _Group:
    """A unit in the making."""

    def __init__(self, kind: UnitKind) -> None:
        self.kind: UnitKind = kind
        self.items: list[int] = []
        self.entries: dict[str, None] = {}
        self.reasons = False
        """Whether it begins with reasoning of its own entry, which what follows must not lose."""
        self.answered = False

    def unit(self) -> Unit:
        entries = tuple(self.entries)
        return Unit(entries[0], self.kind, tuple(self.items), entries, self.kind == "user")


class _Grouping:
    """One pass over the items of a view."""

    def __init__(self, responses: bool) -> None:
        self.responses = responses
        self.groups: list[_Group] = []
        self.of_entry: dict[str, _Group] = {}
        self.of_call: dict[str, _Group] = {}
        """The newest group that holds a call of this id."""

    def add(self, position: int, item: Item) -> None:
        entry = item.source[0].entry
        group = self._group(item, entry)
        group.items.append(position)
        self.of_entry[entry] = group
        group.entries.setdefault(entry)
        if item.kind == "tool_call":
            group.kind = "exchange"
            self.of_call[item.call_id] = group
        elif item.kind == "tool_result":
            group.answered = True
        elif item.kind == "thinking" and not item.mark and group.kind == "assistant":
            group.reasons = True

    def _group(self, item: Item, entry: str) -> _Group:
        known = self.of_entry.get(entry)
        if known is not None and (item.kind != "tool_result" or self.of_call.get(item.call_id) in (None, known)):
            return known
        if item.kind == "tool_result":
            return self.of_call.pop(item.call_id, None) or self._new("orphan")
        if item.role == "tool":
            return known or self._new("orphan")
        if item.mark == "summary":
            return self._new("summary")
        if item.role == "assistant":
            return self._step(item) or self._new("assistant")
        return self._new("system" if item.role == "system" else "user")

    def _step(self, item: Item) -> _Group | None:
        """The group whose reasoning or calls this item goes on, in the flat list of Responses."""
        last = self.groups[-1] if self.responses and self.groups else None
        if last is None or last.answered or last.kind not in ("assistant", "exchange"):
            return None
        return last if last.reasons or (last.kind == "exchange" and item.kind == "tool_call") else None

    def _new(self, kind: UnitKind) -> _Group:
        self.groups.append(_Group(kind))
        return self.groups[-1]


def units(view: View) -> tuple[Unit, ...]:
    """The view's items grouped, every item in exactly one unit, ordered by first item."""
    grouping = _Grouping(view.resume.wire is not None and view.resume.wire.value == "openai-responses")
    for position, item in enumerate(view.items):
        grouping.add(position, item)
    return tuple(group.unit() for group in grouping.groups)


def options(view: View, unit: Unit) -> Options:
    """What may happen to a unit, and for all else why not and what to do instead."""
    if unit.kind == "system":
        refused: dict[What, str] = dict.fromkeys(("summarize", "drop", *sorted(_SHORTER)), _SYSTEM)
        return Options(frozenset({"keep"}), refused)
    items = [view.items[position] for position in unit.items]
    results: tuple[Source, ...] = ()
    if unit.kind == "exchange":
        results = tuple(item.source[0] for item in _stored_results(view, items))
    refused = {} if results else dict.fromkeys(sorted(_SHORTER), _NO_RESULT[unit.kind])
    allowed = _WHOLE | _SHORTER if results else _WHOLE
    if unit.kind == "summary" and any(item.opaque for item in items):
        refused["summarize"] = _ENCRYPTED
        allowed -= {"summarize"}
    conditions: dict[What, str] = {}
    if unit.kind == "summary" and "summarize" in allowed:
        conditions["keep"] = _ONE_SUMMARY
    return Options(allowed, refused, results, conditions)


def _stored_results(view: View, items: list[Item]) -> Iterator[Item]:
    """Results that a message of their own brings: what the provider's server ran stands with its call, often signed."""
    calls = {item.source[0].entry: item for item in items if item.kind == "tool_call"}
    names = {item.call_id: item.name for item in calls.values()}
    responses = view.resume.wire is not None and view.resume.wire.value == "openai-responses"
    for item in items:
        if item.kind != "tool_result" or item.source[0].entry in calls:
            continue
        if not responses or (item.text and names.get(item.call_id) not in _NO_TEXT_OUTPUT):
            yield item
