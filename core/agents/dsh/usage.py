"""The provider's figures in a dsh session, each reply counted once, and where the context stands now.

The four figures of a reply are disjoint: input, read from the cache, written to it, output (thinking included). A reply
is reported in the stream and again with its message: the message counts, and the stream only where no message came.
"""

from __future__ import annotations

from typing import Any

from core.agents.dsh.records import data_of, detail, entry_seq
from core.agents.protocol import Boundary, Usage, UsagePoint
from core.files import holding
from core.session import Entry, Session
from core.view import Source

ABSENT = "no reply of the session carries the provider's figures"
STALE = "messages were replaced since the last reply (a compaction or a prune)"


def usage(session: Session) -> Usage:
    """One point for each reply, the compactions, and where the context stands now."""
    known = detail(session)
    chunks, checkpoints = set(known.usage_chunks), set(known.checkpoints)
    points: dict[tuple[Any, Any], UsagePoint] = {}
    boundaries: list[Boundary] = []
    model, newest = "", None
    with holding(session.files, session.path):
        for entry in session.entries:
            if entry.kind == "request/header":
                model = _model(data_of(session, entry.id)) or model
            elif entry.id in chunks or (entry.kind == "assistant/message" and entry.id in known.seqs):
                newest = _report(session, entry, model, points) or newest
            elif entry.id in checkpoints:
                before = newest.context if newest is not None else None
                by = "seamline" if entry.id in known.ours else "dsh"
                boundaries.append(Boundary(entry.id, by, before, entry.time))
    stale = ABSENT if newest is None else STALE if known.replaced_at > _seq(newest.entry) else ""
    current = newest.context if newest is not None and not stale else None
    later = _later(session, newest) if newest is not None and not stale else ()
    return Usage(tuple(points.values()), tuple(boundaries), current, later, stale)


def _seq(entry_id: str) -> int:
    return int(entry_id) if entry_id.isdigit() else -1


def _model(data: dict[str, Any]) -> str:
    header = data.get("header")
    config = header.get("config") if isinstance(header, dict) else None
    model = config.get("model") if isinstance(config, dict) else None
    return model if isinstance(model, str) else ""


def _report(session: Session, entry: Entry, model: str, points: dict[tuple[Any, Any], UsagePoint]) -> UsagePoint | None:
    """What one event reports; None where it reports nothing."""
    data = data_of(session, entry.id)
    chunk = data.get("chunk")
    found = chunk.get("usage") if isinstance(chunk, dict) else data.get("usage")
    if not isinstance(found, dict):
        return None
    reported, cached, written, output = (
        _tokens(found.get(name)) for name in ("inputTokens", "cacheReadTokens", "cacheWriteTokens", "outputTokens")
    )
    message = data.get("message")
    source = message.get("source") if isinstance(message, dict) else None
    named = source.get("model") if isinstance(source, dict) else None
    inherited = _seq(entry.id) < detail(session).seeded
    context = reported + cached + written + output
    if context <= 0:
        return None  # no figures at all: such a reply never came
    named = named if isinstance(named, str) else model
    point = UsagePoint(entry.id, context, cached, output, named, inherited)
    points[_step(data)] = point
    return point


def _step(data: dict[str, Any]) -> tuple[Any, Any]:
    return repr(data.get("turn")), repr(data.get("step"))


def _tokens(value: Any) -> int:
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1 << 53 else 0


def _later(session: Session, newest: UsagePoint) -> tuple[Source, ...]:
    """The messages that came after the last reply, and those that wait."""
    from core.agents.dsh.view import sent_first

    known = detail(session)
    after = [entry for entry in known.surface if entry_seq(session, entry) > _seq(newest.entry)]
    waiting = [Source(waiting.entry, waiting.position) for waiting in sent_first(session)]
    return (*(Source(entry, 0) for entry in after), *waiting)
