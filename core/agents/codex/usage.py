"""The provider's figures in a Codex session, each reply counted once, and where the context stands now.

`input_tokens` holds the cached ones too. `total_token_usage` is the sum of all replies of the thread, not a size of the
context: that is the total of the last reply. After a compaction Codex writes an estimate of its own, with all other
figures zero: that is no report of the provider.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from core.agents.codex.reading import seconds
from core.agents.codex.rebuilding import path_of
from core.agents.codex.records import Told, detail, payload
from core.agents.protocol import Boundary, Usage, UsagePoint
from core.files import holding
from core.resume import Resume
from core.session import Entry, Session
from core.view import Source

COMPACTS_AT = 0.9
"""Share of the window at which Codex compacts by itself (0.171.0, default)."""

RECORD, COUNT = "token_usage_record", "event_msg/token_count"

COPIED_WITHIN = 1.0
"""Seconds after the making of a fork in which older versions copied the parent's records into it."""

MODEL_MADE = frozenset(
    f"response_item/{kind}"
    for kind in (
        "reasoning", "function_call", "local_shell_call", "custom_tool_call", "tool_search_call", "web_search_call",
        "image_generation_call", "compaction", "compaction_summary",
    )
)  # fmt: skip


def usage(session: Session) -> Usage:
    """One point for each reply, the compactions, and where the context stands now."""
    known, path = detail(session), path_of(session)
    points: list[UsagePoint] = []
    boundaries: list[Boundary] = []
    with holding(session.files, session.path):
        reporting = _Reporting(session)
        for entry in path:
            if entry.kind in (RECORD, COUNT):
                point = reporting.point(entry)
                if point is not None:
                    points.append(point)
            elif entry.kind == "turn_context":
                reporting.model = str(payload(session, entry).get("model") or reporting.model)
            elif entry.kind == "compacted" and entry.id not in known.skipped:
                boundaries.append(_boundary(session, entry, points))
    stale = _stale(session, points)
    current = points[-1].context if points and not stale else None
    later = tuple(_later(session, points[-1].entry)) if points and not stale else ()
    return Usage(tuple(points), tuple(boundaries), current, later, stale)


class _Reporting:
    """Follows the figures through the file, so that no reply counts twice."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.counts = detail(session).counts
        self.own = detail(session).own
        self.copied_until = _copied_until(session)
        self.model = ""
        self.replies: set[tuple[Any, Any]] = set()
        self.thread: int | None = None
        """The sum over the thread at the last count: one that has not grown is a repetition."""
        self.told: Told | None = None
        """The figures of the last record, which the next count repeats."""

    def point(self, entry: Entry) -> UsagePoint | None:
        """The figures of a reply that was not counted yet; None for repetitions, estimates and empty records."""
        if entry.kind == RECORD:
            stored = payload(self.session, entry)
            reply = _name(stored.get("turn_id")), _name(stored.get("response_id"))
            figures = stored.get("usage")
            if not isinstance(figures, dict) or reply in self.replies:
                return None
            if reply != (None, None):
                self.replies.add(reply)
            self.told = _told(figures)
            return self._point(entry, self.told)
        told = self.counts[entry.id] if entry.id in self.counts else _count(payload(self.session, entry))
        if told is None:
            return None
        repeated = told.thread is not None and told.thread == self.thread
        if told.thread is not None:
            self.thread = told.thread
        if repeated or (self.told is not None and _same(self.told, told)):
            return None
        return self._point(entry, told)

    def _point(self, entry: Entry, told: Told) -> UsagePoint | None:
        if not told.read and not told.written:
            return None
        context = told.total or told.read + told.written
        inherited = entry.index < self.own or (
            self.copied_until is not None and entry.time is not None and entry.time <= self.copied_until
        )
        return UsagePoint(entry.id, context, told.cached, told.written, self.model, inherited)


def _count(stored: Mapping[str, Any]) -> Told | None:
    """The figures in the payload of a `token_count`."""
    info = stored.get("info")
    figures, sums = (info.get(name) if isinstance(info, dict) else None for name in _NAMES)
    if not isinstance(figures, dict):
        return None
    return _told(figures, _whole(sums) if isinstance(sums, dict) else None)


_NAMES = ("last_token_usage", "total_token_usage")
_FIGURES = ("input_tokens", "cached_input_tokens", "output_tokens", "total_tokens")


def _told(figures: Mapping[str, Any], thread: int | None = None) -> Told:
    read, cached, written, total = (_tokens(figures.get(name)) for name in _FIGURES)
    return Told(read, cached, written, total, thread)


def _same(one: Told, other: Told) -> bool:
    return (one.read, one.cached, one.written, one.total) == (other.read, other.cached, other.written, other.total)


def _whole(figures: Mapping[str, Any]) -> int:
    return _tokens(figures.get("total_tokens"))


def _tokens(value: Any) -> int:
    return int(value) if isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0 else 0


def _copied_until(session: Session) -> float | None:
    """Up to when (seconds since 1970) the records of the file were copied from the parent of a fork, which paid."""
    known = detail(session)
    told = known.start.get("timestamp")
    if known.paginated or not known.start.get("forked_from_id") or not isinstance(told, str):
        return None
    made = seconds(told)
    return None if made is None else made + COPIED_WITHIN


def _boundary(session: Session, entry: Entry, points: list[UsagePoint]) -> Boundary:
    stored = payload(session, entry)
    before = stored.get("latest_token_usage_record")
    figures = before.get("usage") if isinstance(before, dict) else None
    tokens = _whole(figures) if isinstance(figures, dict) else 0
    tokens = tokens or (points[-1].context if points else 0)
    by = "seamline" if isinstance(stored.get("seamline"), dict) else "codex"
    return Boundary(entry.id, by, tokens or None, entry.time)


def _stale(session: Session, points: list[UsagePoint]) -> str:
    """Why the last figure no longer tells the size of the view."""
    if not points:
        return "no reply of the session carries the provider's figures"
    known, last = detail(session), points[-1].entry
    for entry in reversed(path_of(session)):
        if entry.id == last:
            return ""
        if entry.id in known.skipped:
            continue
        if entry.kind == "compacted":
            return f"compacted since the last reported reply ({entry.id})"
        if entry.kind == "event_msg/thread_rolled_back":
            return f"turns were taken back since the last reported reply ({entry.id})"
    return ""


def _later(session: Session, last: str) -> Iterator[Source]:
    """The parts that came after what the last reply holds."""
    known, path = detail(session), path_of(session)
    place = next(at for at, entry in enumerate(path) if entry.id == last)
    made = next((at for at in range(place, -1, -1) if _is_model_made(path[at])), place)
    for entry in path[made + 1 :]:
        if entry.id in known.skipped or not entry.kind.startswith(("response_item/", "inter_agent_communication")):
            continue
        stored = payload(session, entry)
        parts = stored.get("content") if isinstance(stored.get("content"), list) else stored.get("output")
        for part in range(len(parts) if isinstance(parts, list) else 1):
            yield Source(entry.id, part)


def _is_model_made(entry: Entry) -> bool:
    return entry.kind in MODEL_MADE or (entry.kind == "response_item/message" and entry.role == "assistant")


def compacts_at_once(session: Session, resume: Resume) -> Iterator[str]:
    """Words where the stored figure says that Codex would compact before the next reply."""
    if resume.window is None:
        return
    limit = int(resume.window.value * COMPACTS_AT)
    for entry in reversed(path_of(session)):
        if entry.kind != COUNT or entry.id in detail(session).skipped:
            continue
        info = payload(session, entry).get("info")
        figures = info.get("last_token_usage") if isinstance(info, dict) else None
        if not isinstance(figures, dict):
            continue
        if _whole(figures) >= limit:
            yield f"Codex would compact before the next reply: {_whole(figures):,} tokens stored, it acts at {limit:,}"
        return


def _name(value: Any) -> str | None:
    return value if isinstance(value, str) else None
