"""The provider's figures in a Claude Code session, counted once a reply, and whether the last one still holds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from core.agents.claude_code.building import rendered
from core.agents.claude_code.past import past
from core.agents.claude_code.records import Line, detail, record
from core.agents.protocol import Boundary, Usage, UsagePoint
from core.files import holding
from core.session import Session
from core.tokens.counting import compact_json
from core.view import Item, Source, View

MADE_UP = "<synthetic>"
"""The model on replies that the client wrote itself."""

COPIED_BEFORE = 1.0
"""Seconds by which a line must be older than the file's first one to be a copy: lines written at once may swap."""


CHARACTERS_PER_TOKEN = 4
"""The client's rough rule for what no provider has counted yet (2.1.332)."""

IMAGE_TOKENS = 1600
"""For a picture, as `agent.toml` says."""


def tokens_now(session: Session, view: View) -> int:
    """Tokens in the context as the client puts them down before a compaction.

    Reported where that holds, with an estimate of what came after; else all estimated.
    """
    known = usage(session)
    if known.current is None:
        return sum(map(estimate, view.items))
    later = {source.entry for source in known.later}
    return known.current + sum(estimate(item) for item in view.items if item.source and item.source[0].entry in later)


def estimate(item: Item) -> int:
    """A token for every four characters, rounded up for each item."""
    if item.kind == "image":
        return IMAGE_TOKENS
    characters = len(item.text)
    if item.kind == "tool_call":
        characters = len(item.name) + len(compact_json(item.arguments))
    return -(-characters // CHARACTERS_PER_TOKEN)


def usage(session: Session) -> Usage:
    """One point for each reply with figures, the compactions, and where the context stands now.

    The lines of a reply each carry its figures; early ones may hold a partial count, so the largest counts, once.
    """
    known = detail(session)
    lines = past(session)
    told = {line.id for line in lines}
    with holding(session.files, session.path):
        boundaries = tuple(_boundary(session, line) for line in lines if line.boundary)
        figures = _figures([line for line in known.stored if line.id in told], _begun(session))
        last = next((line for line in reversed(known.path) if _name(line) in figures), None)
        if last is None:
            words = "no reply in the view carries the provider's figures" if known.path else ""
            return Usage(tuple(figures.values()), boundaries, None, stale=words)
        stale = _stale(known.stored, known.path, _name(last))
        later = () if stale else tuple(_later(session, known.path, _name(last)))
    current = None if stale else figures[_name(last)].context
    return Usage(tuple(figures.values()), boundaries, current, later, stale)


def _name(line: Line) -> str:
    """The reply that a line belongs to; empty for any other line."""
    return (line.message_id or line.id) if line.entry.kind == "assistant" else ""


def _boundary(session: Session, line: Line) -> Boundary:
    metadata = record(session, line.entry).get("compactMetadata")
    fields: dict[str, Any] = metadata if isinstance(metadata, dict) else {}
    by = "seamline" if isinstance(fields.get("seamline"), dict) else "claude-code"
    before = fields.get("preTokens")
    return Boundary(line.id, by, before if isinstance(before, int) and before > 0 else None, line.entry.time)


def _begun(session: Session) -> float:
    """When the file was begun, in seconds since 1970, as its first dated line tells.

    A fork keeps the lines of its parent as they were, without a pointer to it (2.1.332): behind the first line of its
    own they stand with times from before it.
    """
    first = next((entry.time for entry in session.entries if entry.time is not None), None)
    return 0.0 if first is None else first - COPIED_BEFORE


def _figures(lines: Sequence[Line], begun: float) -> dict[str, UsagePoint]:
    """Reply → its figures; replies without any, or with nothing but zeros, are left out."""
    found: dict[str, UsagePoint] = {}
    for line in lines:
        if line.entry.kind != "assistant" or line.api_error or line.model == MADE_UP:
            continue
        fresh, written, cached, output = line.tokens
        context = fresh + written + cached + output
        if context == output:
            continue
        name = _name(line)
        before = found.get(name)
        if before is None or context >= before.context:
            copied = line.entry.time is not None and line.entry.time < begun
            found[name] = UsagePoint(line.id, context, cached, output, line.model, copied)
    return found


def _stale(stored: Sequence[Line], path: Sequence[Line], last: str) -> str:
    """Why the last figure no longer tells the size of the view; empty where it does."""
    replied = max(line.entry.index for line in path if _name(line) == last)
    later = [line for line in stored if line.entry.index > replied]
    ids = {line.id for line in later}
    first: dict[str, Line] = {}
    for line in stored if ids else ():
        if line.id in ids:
            first.setdefault(line.id, line)
    for line in later:
        if line.boundary:
            return f"compacted since the last reported reply ({line.id})"
        before = first[line.id]
        if before.entry.index < replied and line.entry.length != before.entry.length:
            return f"edited since the last reported reply ({line.id})"
    return ""


def _later(session: Session, path: Sequence[Line], last: str) -> Iterator[Source]:
    """The parts that the model will get beside those that the last reply counted."""
    place = max(at for at, line in enumerate(path) if _name(line) == last)
    for line in path[place + 1 :]:
        kind = line.entry.kind
        if kind not in ("user", "attachment") and line.subtype != "local_command":
            continue
        stored = record(session, line.entry)
        message = stored.get("message")
        content = message.get("content") if isinstance(message, dict) else None
        if kind == "attachment":
            content = list(rendered(stored, line.id))
        for part in range(len(content) if isinstance(content, list) else 1):
            yield Source(line.id, part)
