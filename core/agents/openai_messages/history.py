"""The whole past of a conversation: also what a server's compaction, or the program that keeps the log, took out."""

from __future__ import annotations

from collections.abc import Iterator

from core.agents.openai_messages.heads import value_of
from core.agents.openai_messages.items import items_of
from core.agents.openai_messages.log import Key, earlier, key_of, messages
from core.agents.openai_messages.reading import role_of
from core.agents.openai_messages.records import Line
from core.agents.openai_messages.view import seen_from, told
from core.agents.openai_messages.walking import Piece
from core.files import holding
from core.resume import Resume
from core.session import Session
from core.view import Item, Seen


def history(session: Session, resume: Resume) -> Iterator[Seen]:
    """The path, oldest first; of a log, before it what only earlier requests held, and which request left it out."""
    with holding(session.files, session.path):
        yield from _left_out(session)
        items = [item for one in told(session) for item in one.items]
        start = seen_from(items)
        for at, item in enumerate(items):
            if at < start and item.role != "system":
                yield Seen(item, "summarized", items[start].source[0].entry)
            else:
                yield Seen(item, "visible")


def _left_out(session: Session) -> Iterator[Seen]:
    """The messages of earlier requests that the shown one no longer holds, each where it was sent last."""
    requests = earlier(session)
    left: dict[Key, str] = {}
    for request in requests:
        left |= dict.fromkeys(request.left_out, request.next_entry)
    for request in requests:
        for piece in messages(session, request.line):
            if left.get(key_of(piece)) == request.next_entry:
                del left[key_of(piece)]
                for item in _items(session, request.line, piece):
                    yield Seen(item, "dropped", request.next_entry)


def _items(session: Session, line: Line, piece: Piece) -> list[Item]:
    """The items of a message of an earlier request; they name the line that they stand in."""
    value = value_of(session.files.read(session.path, piece.start, piece.end - piece.start))
    return items_of(line.entry, value, role_of(piece.facts) if piece.facts is not None else "")
