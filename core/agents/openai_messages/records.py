"""What is kept of an opened file of messages, and one stored value decoded in full."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from core.agents.openai_messages.heads import Facts, Wire
from core.errors import SeamlineError
from core.jsonl import BrokenLine, decode
from core.session import Entry, Session

Layout = Literal["document", "lines", "log", "conversations"]
"""One JSON document; one message a line; requests, each with the history so far; one conversation a line."""

SYSTEM_FIELDS = ("system", "instructions")
"""Fields beside the list that hold the system prompt."""

TOOL_FIELDS = ("tools", "functions")

SERVER_FIELDS = ("previous_response_id", "conversation")
"""Fields that name a history on the provider's server."""


@dataclass(frozen=True, slots=True)
class Line:
    """One request of a log, or one conversation of several."""

    number: int
    """From 1."""
    start: int
    """Bytes from the start of the file."""
    end: int
    entry: str
    """The id of the line as an entry; the shown line is divided into its messages instead."""
    opening: str
    """Names the first message that is no system message."""


@dataclass(frozen=True)
class Detail:
    """What this format's own code keeps of an opened session, in `Session.detail`."""

    layout: Layout
    wire: Wire
    """The API whose messages these are."""
    wire_reason: str
    path: tuple[Entry, ...]
    """What the view is made of, in its order: system prompt, messages, the reply beside them."""
    facts: Mapping[str, Facts]
    """Entry → what its message tells of itself."""
    fields: Mapping[str, Entry]
    """Member beside the messages → its entry; of two, the one on the request's side."""
    values: Mapping[str, int]
    """Entry of a member → where its value begins."""
    lines: tuple[Line, ...] = ()
    """The requests of a log, or the conversations of a file."""
    shown: Line | None = None
    """The one of `lines` that the view is made of."""
    mixed: bool = False
    """Whether messages of more than one API stand in it."""
    refusal: str = ""
    """Why it has no view."""


def detail(session: Session) -> Detail:
    """The session's detail, with its type."""
    known: Detail = session.detail
    return known


def stored(session: Session, entry: Entry) -> Any:
    """The value of one entry: of a message, itself; of a member, what it is set to.

    Raises SeamlineError where the bytes have changed since opening.
    """
    start = detail(session).values.get(entry.id, entry.offset)
    data = session.files.read(session.path, start, entry.offset + entry.length - start)
    try:
        return decode(data)
    except BrokenLine as error:
        raise SeamlineError(
            f"{session.path}: line {entry.line} is no longer what it was: open the session again"
        ) from error


def field_value(session: Session, name: str) -> Any:
    """What a member beside the messages is set to; None where there is none or it is no JSON."""
    entry = detail(session).fields.get(name)
    if entry is None:
        return None
    try:
        return stored(session, entry)
    except SeamlineError:
        return None
