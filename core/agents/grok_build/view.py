"""The view: the request that grok would send on resume, item by item."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from core.agents.grok_build.images import evict, without_invalid
from core.agents.grok_build.loading import stored_messages
from core.agents.grok_build.messages import Message
from core.agents.grok_build.rebuilding import rebuilt_messages
from core.agents.grok_build.records import SUMMARY, UPDATES, detail
from core.agents.grok_build.repair import copied, dropped, paired
from core.agents.grok_build.resuming import DEFAULT_WINDOW
from core.agents.grok_build.showing import items_of
from core.agents.grok_build.sizing import COMPACTS_AT, SPECULATES_AT, estimate, is_trimming, reaches, trim
from core.errors import ClientRefuses
from core.files import holding
from core.resume import Resume
from core.session import Session
from core.view import Item, Source, View

MODELLED = "1.0.41"


def view(session: Session, resume: Resume) -> View:
    """What grok would send. Raises ClientRefuses with the client's reason, OSError."""
    known = detail(session)
    if known.refusal:
        raise ClientRefuses(f"{session.path}: {known.refusal}")
    stored = loaded(session)
    sent, notes = requested(session, resume, stored)
    wire = resume.wire.value if resume.wire is not None else ""
    items = tuple(items_of(sent, wire))
    return View("grok-build", resume, items, warnings=(*_about(session, resume), *_about_pairs(stored, items), *notes))


def loaded(session: Session) -> list[Message]:
    """The history as grok has it after loading, before calls and results are paired; with the stored system prompt."""
    if session.path.name == SUMMARY or (session.path.name == UPDATES and not detail(session).is_rebuilt):
        return []
    with holding(session.files, session.path):
        messages = rebuilt_messages(session) if detail(session).is_rebuilt else list(stored_messages(session))
    return [without_invalid(message) for message in messages]


def requested(session: Session, resume: Resume, stored: Sequence[Message]) -> tuple[list[Message], list[str]]:
    """The history as it goes into the request, and what was done to it for this request only."""
    messages = copied(paired(list(stored)))
    tokens = sum(estimate(message) for message in messages)
    window = resume.window.value if resume.window is not None else DEFAULT_WINDOW
    notes: list[str] = []
    compacts = reaches(tokens, window, COMPACTS_AT)
    evicted = evict(messages)
    if evicted:
        notes.append(f"{evicted} of the oldest images are left out of the request: it would be larger than 47 MiB")
    if is_trimming(tokens, window):
        # the first request of a compaction is made without the new prompt: everything is one turn younger there
        age = (0 if compacts else 1) + detail(session).interrupted
        trimmed = trim(messages, age - 1)
        if trimmed:
            notes.append(
                f"{trimmed} old tool results are shortened in this request only ({tokens:,} tokens by grok's estimate, "
                f"more than half of {window:,}): the file keeps them whole, and below half they are sent whole again"
            )
    if compacts:
        notes.append(
            f"grok would compact before the first reply: {tokens:,} tokens by its estimate, "
            f"{COMPACTS_AT} % of {window:,} or more; shown is what it would summarise"
        )
    elif reaches(tokens, window, SPECULATES_AT):
        notes.append(f"grok would begin to write a summary in the background: {SPECULATES_AT} % of {window:,} or more")
    if messages and messages[0].kind == "system":
        del messages[0]
    return messages, notes


def _about(session: Session, resume: Resume) -> Iterator[str]:
    known, version = detail(session), resume.client_version.value
    if version != MODELLED:
        yield f"grok {version} is not modelled exactly: shown as {MODELLED} would send it"
    if known.is_rebuilt:
        yield "the history is missing: grok rebuilds it from updates.jsonl, without reasoning, summary and reminders"
    if known.skipped:
        yield f"{known.skipped} lines can't be read: grok skips them, and its next resume drops them from the file"
    if known.interrupted:
        yield "the last turn did not end: grok puts a reminder of it before the next prompt"


def _about_pairs(stored: Sequence[Message], items: Sequence[Item]) -> Iterator[str]:
    for source in dropped(list(stored)):
        yield f"{source.entry}: a later result answers the same call: grok drops this one"
    calls: set[str] = set()
    for item in items:
        if item.kind == "tool_call":
            calls.add(item.call_id)
        elif item.kind == "tool_result" and item.origin == "repair":
            yield f"{item.source[0].entry}: no result of call {item.call_id!r}: grok makes one up"
        elif item.kind == "tool_result" and item.call_id not in calls:
            yield f"{item.source[0].entry}: a result of {item.call_id!r}, which nothing called: grok sends it as it is"


def system_items(session: Session) -> tuple[Item, ...]:
    """The stored system prompt and tool definitions, role `system`; for metering only."""
    from core.agents.grok_build.system import system

    first = next(iter(loaded(session)), None)
    source = first.source if first is not None and first.kind == "system" else Source("system", 0)
    return system(session, first.text if first is not None and first.kind == "system" else "", source)
