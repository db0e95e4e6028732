"""A Codex session's whole past: every item that was once sent or never, and what became of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from core.agents.codex.pairing import Sent
from core.agents.codex.rebuilding import (
    NO_FACT,
    Stored,
    checkpoint_items,
    items_of,
    path_of,
    rolled_back,
    without_history,
)
from core.agents.codex.records import DELIVERED, detail, payload
from core.agents.codex.resuming import policy_of
from core.agents.codex.showing import Showing
from core.agents.codex.view import divided, requested
from core.files import holding
from core.resume import Resume
from core.session import Entry, Session
from core.view import Item, Seen, Sight

Key = tuple[str, int]
"""An item's entry and the number of its first part."""


@dataclass
class _Past:
    """What became of each item, followed through the file."""

    alive: list[Stored] = field(default_factory=list[Stored])
    fates: dict[Key, tuple[Sight, str]] = field(default_factory=dict[Key, tuple[Sight, str]])

    def become(self, history: list[Stored], sight: Sight, by: Entry) -> None:
        """Let a new history stand where the old one stood."""
        kept = {_key(item) for item in history}
        for item in self.alive:
            if _key(item) not in kept:
                self.fates[_key(item)] = (sight, by.id)
        self.alive = history


def history(session: Session, resume: Resume) -> Iterator[Seen]:
    """All items up to the leaf, oldest first; one that stands again, unaltered, in the newest checkpoint is told there.

    `left_at` names the compaction or the rollback with which an item left the view. One record is held at a time,
    beside the words of messages.
    """
    with holding(session.files, session.path):
        past = _followed(session, resume)
        sent, _ = requested(session, resume)
        visible = {_key(one.stored) for one in sent if one.origin == "stored"}
        base = detail(session).base
        copies = _copies(session, base)
        showing = Showing(resume.image_input)
        for item, is_old in _told(session, resume, base):
            shown = tuple(showing.items(Sent(item)))
            if is_old and _is_copied(shown, copies):
                continue
            if detail(session).refusal or _key(item) not in visible:
                sight, left_at = past.fates.get(_key(item), ("never", None))
            else:
                sight, left_at = "visible", None
            yield from (Seen(one, sight, left_at) for one in shown)


def _key(item: Stored) -> Key:
    return item.entry, item.first_part


def _followed(session: Session, resume: Resume) -> _Past:
    """The whole file in its order: which item left when."""
    known, past = detail(session), _Past()
    for entry in path_of(session):
        if entry.id in known.skipped:
            continue
        fact = known.facts.get(entry.id, NO_FACT)
        if entry.kind == "compacted" and fact.checkpoint:
            past.become(checkpoint_items(session, entry), "summarized", entry)
        elif entry.kind == "compacted":
            past.become(without_history(past.alive, entry, payload(session, entry)), "summarized", entry)
        elif entry.kind == "event_msg/thread_rolled_back":
            past.become(rolled_back(past.alive, fact.rolled_back), "dropped", entry)
        elif entry.kind.startswith("response_item/") or entry.kind == "inter_agent_communication":
            past.alive.extend(_light(item) for item in _items(session, entry, resume))
    return past


def _light(item: Stored) -> Stored:
    """An item with no more than its fate depends on."""
    if item.type in ("message", "agent_message"):
        return item
    return Stored({"type": item.type}, item.entry, item.first_part, item.checkpoint)


def _items(session: Session, entry: Entry, resume: Resume) -> Iterator[Stored]:
    return items_of(session, entry, policy_of(resume))


def _told(session: Session, resume: Resume, base: int | None) -> Iterator[tuple[Stored, bool]]:
    """Each item once, and whether it stands before the newest checkpoint; of older ones, only the summaries."""
    known = detail(session)
    for position, entry in enumerate(path_of(session)):
        if entry.id in known.skipped:
            continue
        is_old = base is not None and position < base
        found: Sequence[Stored] = ()
        if entry.kind == "compacted":
            found = _of_compaction(session, entry, position == base)
        elif entry.kind.startswith("response_item/") or entry.kind == "inter_agent_communication":
            found = list(_items(session, entry, resume)) or _unsent(session, entry)
        proper, _ = divided(found)
        yield from ((item, is_old) for item in proper)


def _of_compaction(session: Session, entry: Entry, is_base: bool) -> Sequence[Stored]:
    """What a compaction added: all of the newest checkpoint, else its summary."""
    if not detail(session).facts.get(entry.id, NO_FACT).checkpoint:
        return without_history((), entry, payload(session, entry))
    items = checkpoint_items(session, entry)
    return items if is_base else [item for item in items if _is_summary(item)]


def _is_summary(item: Stored) -> bool:
    return any(one.mark == "summary" for one in Showing().items(Sent(item)))


def _unsent(session: Session, entry: Entry) -> list[Stored]:
    """A stored message that Codex never sends."""
    stored = payload(session, entry)
    unsent = entry.kind == f"response_item/{DELIVERED}" or stored.get("role") == "system"
    return [Stored(stored, entry.id)] if unsent and stored.get("type") == "message" else []


def _copies(session: Session, base: int | None) -> Counter[Any]:
    """What stands in the newest checkpoint, by what the model sees of it."""
    if base is None:
        return Counter()
    showing = Showing()
    items = checkpoint_items(session, path_of(session)[base])
    return Counter(_content(tuple(showing.items(Sent(item)))) for item in items)


def _is_copied(shown: Sequence[Item], copies: Counter[Any]) -> bool:
    content = _content(shown)
    if not shown or copies[content] <= 0:
        return False
    copies[content] -= 1
    return True


def _content(shown: Sequence[Item]) -> tuple[Any, ...]:
    return tuple(
        (item.role, item.kind, item.text, item.call_id, repr(item.arguments), item.sha256, item.opaque)
        for item in shown
    )
