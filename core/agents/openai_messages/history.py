"""The whole past of a conversation: also what a server's compaction, or the program that keeps the log, took out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from core.agents.openai_messages.heads import value_of
from core.agents.openai_messages.items import items_of
from core.agents.openai_messages.records import Line, detail
from core.agents.openai_messages.scanning import Scanner
from core.agents.openai_messages.view import seen_from, told
from core.agents.openai_messages.walking import Piece, Walker
from core.files import holding
from core.resume import Resume
from core.session import Session
from core.view import Item, Seen


class _Key(NamedTuple):
    """A message, wherever it stands again."""

    digest: str
    length: int


def history(session: Session, resume: Resume) -> Iterator[Seen]:
    """The path, oldest first; of a log, before it what only earlier requests held, and which request left it out."""
    with holding(session.files, session.path):
        yield from _earlier(session)
        items = [item for one in told(session) for item in one.items]
        start = seen_from(items)
        for at, item in enumerate(items):
            if at < start and item.role != "system":
                yield Seen(item, "summarized", items[start].source[0].entry)
            else:
                yield Seen(item, "visible")


def _earlier(session: Session) -> Iterator[Seen]:
    """The messages of earlier requests that the shown one no longer holds."""
    known = detail(session)
    if known.layout != "log" or known.shown is None:
        return
    present = {_Key(entry.id.partition("-")[2], entry.length) for entry in known.path}
    left: dict[_Key, str] = {}
    after, chain = present, known.shown
    chained: list[Line] = []
    for line in reversed([line for line in known.lines if line.number < known.shown.number]):
        keys = {_key(piece): piece for piece in _messages(session, line)}
        spoken = {key for key, piece in keys.items() if piece.facts is not None and piece.facts.role != "system"}
        if not spoken & after:
            continue
        for key in keys.keys() - present:
            left.setdefault(key, chain.entry)
        after, chain = spoken, line
        chained.append(line)
    for line in reversed(chained):
        for piece in _messages(session, line):
            left_at = left.pop(_key(piece), None)
            if left_at is not None:
                for item in _items(session, line, piece):
                    yield Seen(item, "dropped", left_at)


def _messages(session: Session, line: Line) -> list[Piece]:
    """The messages that a request held, and the reply to it."""
    walker = Walker(Scanner(session.files, session.path, line.start, line.end)).walk()
    return [piece for piece in walker.pieces if piece.kind == "message"]


def _key(piece: Piece) -> _Key:
    return _Key(piece.digest, piece.end - piece.start)


def _items(session: Session, line: Line, piece: Piece) -> list[Item]:
    """The items of a message of an earlier request; they name the line that they stand in."""
    value = value_of(session.files.read(session.path, piece.start, piece.end - piece.start))
    role = piece.facts.role if piece.facts is not None else ""
    return items_of(line.entry, value, role or "assistant")
