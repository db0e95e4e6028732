"""Calls without a result and results without a call: in flight, lost, or left out of the request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from core.session import Damage, Session
from core.view import Item, Seen, View, pair_up


def lost_pairs(session: Session, view: View) -> Iterator[Damage]:
    """Calls without a result and results without a call, as they would be sent."""
    pairing = pair_up(view.items)
    made_up = {item.call_id: item.text for item in view.fresh if item.kind == "tool_result"}
    flying = _in_flight(view)
    for at in pairing.unanswered:
        said = made_up.get(view.items[at].call_id)
        yield _unanswered(session, view.items[at], at in flying, "sends the call as it is" if not said else _adds(said))
    for at in pairing.orphans:
        yield _placed(session, view.items[at], "orphaned-result", "answers no call", "sends the result as it is")
    for call, result in pairing.pairs:
        if view.items[result].origin == "repair":
            yield _unanswered(session, view.items[call], call in flying, _adds(view.items[result].text))


def unsent_pairs(session: Session, view: View, history: Iterable[Seen]) -> Iterator[Damage]:
    """Results and calls on the way to the leaf that the client never sends, because their partner is missing."""
    shown = {source for item in view.items for source in item.source}
    calls: set[str] = set()
    for seen in history:
        item = seen.item
        calls |= {item.call_id} if item.kind == "tool_call" else set()
        if item.kind == "tool_result" and seen.sight == "never" and not shown & set(item.source):
            words = "answers no call" if item.call_id not in calls else "answers a call that has another result"
            kind = "orphaned-result" if item.call_id not in calls else "second-result"
            yield _placed(session, item, kind, words, "leaves it out")


def _in_flight(view: View) -> frozenset[int]:
    """The calls that may still be running: nothing but their like, and then results, follows in the file."""
    found: list[int] = []
    for at in range(len(view.items) - 1, -1, -1):
        item = view.items[at]
        if item.origin != "stored" or (_is_result(item) and not found):
            continue
        if item.kind != "tool_call":
            break
        found.append(at)
    return frozenset(found)


def _is_result(item: Item) -> bool:
    return item.kind == "tool_result" or (item.role == "tool" and item.kind != "tool_call")


def _adds(text: str) -> str:
    return f"adds a result at each request: {' '.join(text.split())}"


def _unanswered(session: Session, item: Item, is_flying: bool, client: str) -> Damage:
    if is_flying:
        words = "is in flight: the file ends before its result"
        return _placed(session, item, "in-flight-call", words, f"where it is resumed now: {client}")
    return _placed(session, item, "unanswered-call", "has no result", client)


def _placed(session: Session, item: Item, kind: str, what: str, client: str) -> Damage:
    entry = session.entry(item.source[0].entry) if item.source else None
    name = f"{item.name} " if item.name else ""
    subject = f"the {'call' if item.kind == 'tool_call' else 'result'} {name}({item.call_id})"
    if entry is None:
        return Damage(-1, -1, 0, kind, f"{subject} {what}", client)
    return Damage(entry.line, entry.offset, entry.length, kind, f"entry {entry.id}: {subject} {what}", client)
