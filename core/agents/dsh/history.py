"""A dsh session's whole past: every message that was ever sent, and what became of it."""

from __future__ import annotations

from collections.abc import Iterator

from core.agents.dsh.records import detail, message_of
from core.agents.dsh.request import Request
from core.agents.dsh.view import requested
from core.errors import ClientRefuses
from core.files import holding
from core.resume import Resume
from core.session import Session
from core.view import Item, Seen


def history(session: Session, resume: Resume) -> Iterator[Seen]:
    """What is sent, in its order; what was replaced stands before what came in its place. Raises OSError.

    A session that dsh refuses is told as far as its messages could be put in order.
    """
    known = detail(session)
    with holding(session.files, session.path):
        try:
            items = requested(session)
        except ClientRefuses:
            items = []
        place = {entry: position for position, entry in enumerate(known.past)}
        at = 0
        for position, entry in enumerate(known.past):
            left = known.left.get(entry)
            if left is not None:
                yield from (Seen(item, left.sight, left.by) for item in _alone(session, entry))
                continue
            # Pictures of a result stand behind the last result of the run, and so a little behind their message.
            while at < len(items) and _place(items[at], place, len(place)) <= position:
                yield Seen(items[at], "visible")
                at += 1
        yield from (Seen(item, "visible") for item in items[at:])


def _place(item: Item, place: dict[str, int], end: int) -> int:
    return place.get(item.source[0].entry, end) if item.source else end


def _alone(session: Session, entry: str) -> list[Item]:
    """The items of one message that is sent no more."""
    request = Request()
    try:
        request.add(entry, *message_of(session, entry))
    except ClientRefuses:
        return []
    request.flush()
    return request.items
