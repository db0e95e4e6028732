"""The view: the request that dsh would send on resume, item by item."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from core.agents.dsh.records import SNAPSHOT, Waiting, data_of, detail, message_of
from core.agents.dsh.request import Request
from core.errors import ClientRefuses
from core.files import holding
from core.resume import Resume
from core.session import Session
from core.view import Item, Source, View

MODELLED = "0.1.0-rc.8"

COMPACTS_AT = 0.8
"""Share of the window at which dsh compacts by itself (0.1.0-rc.8, default)."""

UNKNOWN_OUTCOME = (
    "The tool call was interrupted after it was recorded, but no result was durably recorded. Its outcome is unknown. "
    "Decide whether to retry from the tool semantics: retry only if the operation is read-only or idempotent; if it "
    "may have side effects, first verify external state or ask the user. Do not retry blindly."
)
NOT_STARTED = "The tool call was interrupted before the Harness recorded it as started. Retry it if it is still needed."


def view(session: Session, resume: Resume) -> View:
    """What dsh would send. Raises ClientRefuses with dsh's reason, OSError."""
    known = detail(session)
    if known.refusal:
        raise ClientRefuses(f"{session.path}: {known.refusal}: dsh does not load it")
    with holding(session.files, session.path):
        items = requested(session)
        warnings = (*_about_client(resume), *_about_session(session), *_about_window(session, resume))
    return View("dsh", resume, tuple(items), warnings=(*warnings, *_about_images(session, items)))


def requested(session: Session) -> list[Item]:
    """The items of the request, without system prompt and tools. Raises ClientRefuses, OSError."""
    known, request = detail(session), Request()
    for entry in known.surface:
        request.add(entry, *message_of(session, entry))
    for call in known.unanswered:
        request.answer(call.call_id, UNKNOWN_OUTCOME if call.started else NOT_STARTED)
    for waiting in sent_first(session):
        request.waiting(waiting.entry, waiting.position, waiting_message(session, waiting))
    request.flush()
    return request.items


def sent_first(session: Session) -> tuple[Waiting, ...]:
    """The messages of the inbox that the first request takes: all for the next step, and one for the next turn."""
    known = detail(session)
    return (*known.next_step, *known.next_turn[:1])


def waiting_message(session: Session, waiting: Waiting) -> dict[str, Any]:
    """A message of the inbox as it is stored."""
    inserted = data_of(session, waiting.entry).get("inserted")
    found = inserted[waiting.position] if isinstance(inserted, list) and waiting.position < len(inserted) else None
    return found if isinstance(found, dict) else {}


def _about_client(resume: Resume) -> Iterator[str]:
    if resume.client_version.value != MODELLED:
        yield f"dsh {resume.client_version.value} is not modelled exactly: shown as {MODELLED} would send it"


def _about_session(session: Session) -> Iterator[str]:
    known = detail(session)
    if known.is_open:
        yield "the last turn has no end: dsh ends it when it resumes, and answers its open calls itself"
    if len(known.next_turn) > 1:
        yield f"{len(known.next_turn) - 1} more prompts wait in the inbox: each gets a turn of its own"
    if not session.cwd:
        yield "the session names no folder: dsh loads it, but can make no request"
    if not any(_is_snapshot(session, entry) for entry in reversed(known.surface)):
        yield "dsh gives its runtime context behind the next prompt: none stands in the view"


def _is_snapshot(session: Session, entry_id: str) -> bool:
    entry = session.entry(entry_id)
    if entry is None or entry.kind != "user/message" or SNAPSHOT.encode() not in session.raw(entry):
        return False
    source = message_of(session, entry_id)[1].get("source")
    return isinstance(source, dict) and source.get("plugin") == SNAPSHOT


def _about_window(session: Session, resume: Resume) -> Iterator[str]:
    """Whether dsh would compact before the request."""
    from core.agents.dsh.usage import usage

    current = usage(session).current
    if current is not None and resume.window is not None and current >= int(resume.window.value * COMPACTS_AT):
        yield (
            f"dsh would compact before the next request: {current} tokens reported, {COMPACTS_AT:.0%} of the window of "
            f"{resume.window.value} is its threshold"
        )


def _about_images(session: Session, items: list[Item]) -> Iterator[str]:
    from core.agents.dsh.images import place_of

    for item in items:
        if item.kind == "image" and place_of(session.files, Path(session.path), item.sha256) is None:
            entry = item.source[0].entry if item.source else "?"
            yield f"{entry}: the picture {item.sha256} is not stored here: without it dsh makes no request"


def system_items(session: Session) -> tuple[Item, ...]:
    """The stored system prompt and tool definitions, role `system`; for metering only."""
    from core.tokens.counting import compact_json

    entry = detail(session).header_entry
    header = data_of(session, entry).get("header") if entry is not None else None
    if entry is None or not isinstance(header, dict):
        return ()
    source, items = (Source(entry, 0),), list[Item]()
    if isinstance(header.get("system"), str) and header["system"]:
        items.append(Item("system", "text", header["system"], source=source))
    tools = header.get("tools")
    for tool in tools if isinstance(tools, list) else ():
        name = tool.get("name") if isinstance(tool, dict) else None
        name = name if isinstance(name, str) else ""
        items.append(Item("system", "text", compact_json(tool), name=name, source=source))
    return tuple(items)
