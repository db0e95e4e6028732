"""The provider's figures in a pi session, and whether the last one still tells the size of the view."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from core.agents.pi.chain import line_of
from core.agents.pi.heads import seconds
from core.agents.pi.javascript import SAFE_INTEGER, length
from core.agents.pi.records import detail, record
from core.agents.protocol import Boundary, Usage, UsagePoint
from core.files import holding
from core.session import Entry, Session
from core.view import Item, Source, View

FAILED = ("error", "aborted")
"""Stop reasons of replies whose usage pi does not trust."""

CHARACTERS_PER_TOKEN = 4
IMAGE_CHARACTERS = 4800
"""What pi's own estimate charges for an image."""


def usage(session: Session) -> Usage:
    """One point for each reply of the path with usable figures, the compactions, and where the context stands now."""
    points: list[UsagePoint] = []
    boundaries: list[Boundary] = []
    times: dict[str, Any] = {}
    forked = _forked(session)
    with holding(session.files, session.path):
        for entry in detail(session).path:
            if entry.kind == "compaction":
                boundaries.append(_boundary(session, entry))
            elif entry.role == "assistant":
                message = record(session, entry).get("message") or {}
                point = _point(entry, message, entry.time is not None and entry.time < forked)
                if point is not None:
                    points.append(point)
                    times[entry.id] = message.get("timestamp")
        stale = _stale(session, points, times)
        later = tuple(_later(session, points[-1].entry)) if points and not stale else ()
    current = points[-1].context if points and not stale else None
    return Usage(tuple(points), tuple(boundaries), current, later, stale)


def _boundary(session: Session, entry: Entry) -> Boundary:
    fields = record(session, entry)
    details, before = fields.get("details"), fields.get("tokensBefore")
    ours = isinstance(details, dict) and isinstance(details.get("seamline"), dict)
    return Boundary(entry.id, "seamline" if ours else "pi", _tokens(before) or None, entry.time)


def _forked(session: Session) -> float:
    """When the session was forked, in seconds since 1970: the parent has paid for the replies from before."""
    header = detail(session).header
    made = header.get("timestamp")
    return (seconds(made) or 0.0) if header.get("parentSession") and isinstance(made, str) else 0.0


def _point(entry: Entry, message: dict[str, Any], inherited: bool) -> UsagePoint | None:
    """The figures of one reply; None for those that pi skips: failed, aborted, or all zero."""
    figures = message.get("usage")
    if not isinstance(figures, dict) or message.get("stopReason") in FAILED:
        return None
    parts = [_tokens(figures.get(name)) for name in ("input", "output", "cacheRead", "cacheWrite")]
    context = _tokens(figures.get("totalTokens")) or sum(parts)
    if context <= 0:
        return None
    model = message.get("model")
    return UsagePoint(entry.id, context, parts[2], parts[1], model if isinstance(model, str) else "", inherited)


def _tokens(value: Any) -> int:
    """A stored figure; 0 where it is none, or so large that it can count nothing."""
    proper = isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value <= SAFE_INTEGER
    return int(value) if proper else 0


def _stale(session: Session, points: list[UsagePoint], times: dict[str, Any]) -> str:
    """Why the last figure no longer holds: what pi 1.6.0 asks before it trusts one."""
    if not points:
        return "no reply of the session carries the provider's figures"
    path = detail(session).path
    last = points[-1].entry
    place = next(at for at, entry in enumerate(path) if entry.id == last)
    for entry in reversed(path[place + 1 :]):
        if entry.kind == "compaction":
            return f"compacted since the last reported reply ({entry.id})"
        if entry.kind == "context_edit":
            return f"edited since the last reported reply ({entry.id})"
    replied = times[last]
    compacted = next((entry.time for entry in reversed(path) if entry.kind == "compaction"), None)
    if compacted is not None and isinstance(replied, (int, float)) and replied <= compacted * 1000:
        return "the last reported reply is not newer than the last compaction"
    return ""


def _later(session: Session, last: str) -> Iterator[Source]:
    """The parts that the model will get beside those that the last reply counted."""
    path = detail(session).path
    place = next(at for at, entry in enumerate(path) if entry.id == last)
    for entry in path[place + 1 :]:
        if entry.kind in ("custom_message", "branch_summary"):
            content = record(session, entry).get("content")
        elif entry.kind == "message" and entry.role != "system":
            message = record(session, entry).get("message")
            content = message.get("content") if isinstance(message, dict) else None
        else:
            continue
        for part in range(len(content) if isinstance(content, list) else 1):
            yield Source(entry.id, part)


def tokens_now(session: Session, view: View) -> int:
    """Tokens in the context as pi puts them down before a compaction: reported where that holds, else estimated."""
    known = usage(session)
    if known.current is None:
        return sum(map(estimate, view.items))
    later = {source.entry for source in known.later}
    return known.current + sum(estimate(item) for item in view.items if item.source and item.source[0].entry in later)


def estimate(item: Item) -> int:
    """What pi itself estimates: a token for every four UTF-16 units, rounded up for each item."""
    characters = IMAGE_CHARACTERS if item.kind == "image" else length(item.text)
    if item.kind == "tool_call":
        arguments = item.arguments if isinstance(item.arguments, str) else _compact(item.arguments)
        characters += length(item.name) + length(arguments)
    return -(-characters // CHARACTERS_PER_TOKEN)


def _compact(value: Any) -> str:
    return line_of(value).decode()
