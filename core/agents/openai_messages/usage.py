"""The provider's figures in a file of messages, each reply counted once, and where the context stands now."""

from __future__ import annotations

from typing import Any

from core.agents.openai_messages.content import texts_of
from core.agents.openai_messages.heads import COMPACTIONS, value_of
from core.agents.openai_messages.log import earlier
from core.agents.openai_messages.records import Detail, Line, detail, field_value, stored
from core.agents.openai_messages.summaries import kept_behind
from core.agents.protocol import Boundary, Usage, UsagePoint
from core.files import holding
from core.session import Entry, Session
from core.view import Source

ABSENT = "no reply of the session carries the provider's figures"


def usage(session: Session) -> Usage:
    """One point for each reply with figures, the compactions, and what came after the last reported reply."""
    known = detail(session)
    points: dict[str, UsagePoint] = {}
    boundaries: list[Boundary] = []
    ours: dict[str, int] = {}
    with holding(session.files, session.path):
        for request in earlier(session):
            _add(points, *_of_line(session, request.line))
            if request.left_out:
                boundaries.append(Boundary(request.next_entry, "its program", _newest(points), None))
        for entry in known.path:
            facts = known.facts.get(entry.id)
            if facts is not None and facts.reports_usage:
                value = stored(session, entry)
                _add(points, value.get("id"), point(entry.id, value.get("usage"), facts.model, known.wire))
            if entry.kind in COMPACTIONS or (facts is not None and "compaction" in facts.marks):
                boundaries.append(Boundary(entry.id, "server", _newest(points), entry.time))
            kept = _kept_behind(session, entry) if facts is not None and "seamline" in facts.marks else None
            if kept is not None:
                boundaries.append(Boundary(entry.id, "seamline", None, entry.time))
                ours[entry.id] = kept
        _add(points, *_of_document(session, known))
    return _standing(known, tuple(points.values()), tuple(boundaries), ours)


def _kept_behind(session: Session, entry: Entry) -> int | None:
    """Of a summary of ours, how many messages stood behind it when it was made."""
    value = stored(session, entry)
    texts = texts_of(value.get("content")) if isinstance(value, dict) else ()
    return next((kept for text in texts if (kept := kept_behind(text)) is not None), None)


def _newest(points: dict[str, UsagePoint]) -> int | None:
    return next((one.context for one in reversed(points.values())), None)


def _add(points: dict[str, UsagePoint], reply: Any, found: UsagePoint | None) -> None:
    """Count a reply once: of lines with one id, such as snapshots of a stream, the last one holds."""
    if found is None:
        return
    key = reply if isinstance(reply, str) and reply else f"entry:{found.entry}"
    points.pop(key, None)
    points[key] = found


def _of_line(session: Session, line: Line) -> tuple[Any, UsagePoint | None]:
    value = value_of(session.files.read(session.path, line.start, line.end - line.start))
    response = value.get("response") if isinstance(value, dict) else None
    for holder in (response, response.get("body") if isinstance(response, dict) else None, value):
        if isinstance(holder, dict) and isinstance(holder.get("usage"), dict):
            model = _model(holder) or _model(value.get("request"))
            return holder.get("id"), point(line.entry, holder["usage"], model, detail(session).wire)
    return None, None


def _of_document(session: Session, known: Detail) -> tuple[Any, UsagePoint | None]:
    """The figures that stand beside the messages: those of the last reply."""
    figures, last = field_value(session, "usage"), _last_reply(known)
    if last is None:
        return None, None
    model = field_value(session, "model")
    return field_value(session, "id"), point(last.id, figures, _model({"model": model}), known.wire)


def _model(holder: Any) -> str:
    model = holder.get("model") if isinstance(holder, dict) else None
    return model if isinstance(model, str) else ""


def _last_reply(known: Detail) -> Entry | None:
    return next((entry for entry in reversed(known.path) if entry.role == "assistant"), None)


def point(entry: str, figures: Any, model: str, wire: str) -> UsagePoint | None:
    """One reply's figures; None where there are none, or all are zero.

    OpenAI's prompt tokens include what was cached. Anthropic's input tokens are only what was not: the rest is added.
    """
    if not isinstance(figures, dict):
        return None
    output = _tokens(figures.get("completion_tokens", figures.get("output_tokens")))
    given = _tokens(figures.get("prompt_tokens", figures.get("input_tokens")))
    details = figures.get("prompt_tokens_details", figures.get("input_tokens_details"))
    read, written = (_tokens(figures.get(f"cache_{name}_input_tokens")) for name in ("read", "creation"))
    anthropic = "prompt_tokens" not in figures and not isinstance(details, dict)
    if anthropic and (wire == "anthropic-messages" or read or written):
        context, cached = given + read + written + output, read
    else:
        context = given + output
        cached = _tokens(details.get("cached_tokens")) if isinstance(details, dict) else 0
    return UsagePoint(entry, context, cached, output, model) if context > 0 else None


def _tokens(value: Any) -> int:
    return int(value) if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value < 1e15 else 0


def _standing(
    known: Detail, points: tuple[UsagePoint, ...], boundaries: tuple[Boundary, ...], ours: dict[str, int]
) -> Usage:
    """Whether the last figure still tells the size of the view, and what came after it.

    `ours`: each summary of ours → how many of the messages behind it are older than it.
    """
    if not points:
        return Usage(points, boundaries, None, (), ABSENT)
    places = {entry.id: place for place, entry in enumerate(known.path)}
    place = places.get(points[-1].entry)
    if place is None:
        return Usage(points, boundaries, None, (), "the last reported reply belongs to an earlier request of the log")
    if any(places.get(boundary.entry, -1) + ours.get(boundary.entry, 0) >= place for boundary in boundaries):
        return Usage(points, boundaries, None, (), "compacted since the last reported reply")
    later = tuple(Source(entry.id, 0) for entry in known.path[place + 1 :])
    return Usage(points, boundaries, points[-1].context, later)
