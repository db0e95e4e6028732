"""The view: what the API would be sent, item by item, and what of it the model would see."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from core.agents.openai_messages.heads import WIRES
from core.agents.openai_messages.items import items_of
from core.agents.openai_messages.reading import AGENT_NAME
from core.agents.openai_messages.records import SERVER_FIELDS, detail, stored
from core.errors import ClientRefuses
from core.files import holding
from core.resume import Resume
from core.session import Entry, Session
from core.view import Item, View


class Told(NamedTuple):
    """One entry of the path with what it says."""

    entry: Entry
    value: Any
    items: list[Item]


def told(session: Session) -> Iterator[Told]:
    """The path, one entry after another; one value is held at a time. Raises OSError."""
    with holding(session.files, session.path):
        for entry in detail(session).path:
            value = stored(session, entry)
            yield Told(entry, value, items_of(entry.id, value, entry.role))


def view(session: Session, resume: Resume) -> View:
    """What the next request would hold. Raises ClientRefuses where the file holds several conversations, OSError."""
    from core.agents.openai_messages.rules import Rules

    known = detail(session)
    if known.refusal:
        raise ClientRefuses(f"{session.path}: {known.refusal}")
    wire = resume.wire.value if resume.wire is not None else known.wire
    rules = Rules(wire)
    items: list[Item] = []
    for one in told(session):
        rules.see(one)
        items.extend(one.items)
    faults = (f"{fault.entry.id} (line {fault.entry.line}): {fault.message}" for fault in rules.end())
    start = seen_from(items)
    system = [item for item in items[:start] if item.role == "system"]
    return View(AGENT_NAME, resume, (*system, *items[start:]), warnings=(*_notes(session, items, wire), *faults))


def seen_from(items: list[Item]) -> int:
    """Where the model's sight begins: everything before Anthropic's last compaction is ignored by its server."""
    for at in range(len(items) - 1, -1, -1):
        if items[at].mark == "summary" and items[at].kind == "text" and items[at].role == "assistant":
            return at
    return 0


def _notes(session: Session, items: list[Item], wire: str) -> Iterator[str]:
    """What the file does not tell, or tells in more than one way."""
    known = detail(session)
    if wire not in WIRES:
        yield f"the wire {wire!r} is none of {', '.join(WIRES)}: its rules are taken to be those of Chat Completions"
    for name in SERVER_FIELDS:
        entry = known.fields.get(name)
        if entry is not None and entry.role == "":
            yield f"{name}: earlier history is on the provider's server and not in the file: the view is incomplete"
    if any(item.wire_type == "item_reference" for item in items):
        yield "an item is only referred to: its content is on the provider's server and not in the file"
    if known.mixed:
        yield "messages of more than one API stand in the file: which calls and results belong together is uncertain"
    if any(item.mark == "summary" and item.opaque for item in items):
        yield "a compaction item holds encrypted content: what stands before it may not be seen by the model"
    if known.layout == "log" and known.shown is not None:
        others = {line.opening for line in known.lines} - {known.shown.opening}
        yield f"a log of {len(known.lines)} requests: shown is the one in line {known.shown.number}"
        if others:
            words = "other conversations, or this one before it was compacted"
            yield f"requests of the log begin in {len(others) + 1} ways ({words}): choose another with --leaf line-N"
    if "context_management" in known.fields:
        yield "the request lets the server clear or compact old content: what the model sees may be less"
    if any(item.kind in ("text", "tool_result") and ";base64," in item.text for item in items):
        yield "an image stands as text inside a message: the model is sent its base64 as text"
