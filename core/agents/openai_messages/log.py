"""The earlier requests of a log, each with the whole history of its time, and what each of them left out."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from typing import NamedTuple

from core.agents.openai_messages.records import Line, detail
from core.agents.openai_messages.scanning import Scanner
from core.agents.openai_messages.walking import Piece, Walker
from core.session import Session


class Key(NamedTuple):
    """A message, wherever it stands again."""

    digest: str
    length: int


@dataclass(frozen=True, slots=True)
class Request:
    """An earlier request of the conversation shown."""

    line: Line
    next_entry: str
    """The id of the entry that stands for the request after it; of the shown one, its first message that is new."""
    left_out: Set[Key]
    """Messages that it held and the next one does not."""


def earlier(session: Session) -> list[Request]:
    """The earlier requests of the conversation shown, oldest first. Raises OSError.

    Requests belong together where one holds a message of the other beside the system prompt: a log may hold those of
    side calls and of other conversations too, and a compaction changes how a conversation begins.
    """
    known = detail(session)
    if known.layout != "log" or known.shown is None:
        return []
    after: Set[Key] = {
        Key(entry.id.partition("-")[2], entry.length)
        for entry in known.path
        if entry.id in known.facts and entry.role not in ("system", "developer")
    }
    next_entry = ""
    found: list[Request] = []
    for line in reversed([line for line in known.lines if line.number < known.shown.number]):
        spoken = {
            key_of(piece)
            for piece in messages(session, line)
            if piece.facts is not None and piece.facts.role not in ("system", "developer")
        }
        if not spoken & after:
            continue
        found.append(Request(line, next_entry or _first_new(session, spoken), spoken - after))
        after, next_entry = spoken, line.entry
    return found[::-1]


def _first_new(session: Session, spoken: Set[Key]) -> str:
    path = [entry for entry in detail(session).path if entry.role not in ("system", "developer")]
    new = (entry.id for entry in path if Key(entry.id.partition("-")[2], entry.length) not in spoken)
    return next(new, path[0].id if path else "")


def messages(session: Session, line: Line) -> list[Piece]:
    """The messages that a request held; the reply to it may be written otherwise when it is sent back."""
    walker = Walker(Scanner(session.files, session.path, line.start, line.end)).walk()
    return [piece for piece in walker.pieces if piece.kind == "message" and piece.side == "request"]


def key_of(piece: Piece) -> Key:
    """The key of a message."""
    return Key(piece.digest, piece.end - piece.start)
