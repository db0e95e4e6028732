"""The provider's figures in a grok session, each turn counted once, and where the context stands now.

They stand in updates.jsonl, one `turn_completed` a turn. Its figures are sums over all requests of the turn: only where
there was one request, they are the size of the context. Else that is the running total that the client noted with the
turn's updates; of the last turn, the one in signals.json. Cached tokens are part of the input.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from core.agents.grok_build.history import updates
from core.agents.grok_build.rebuilding import OWN_METHOD, is_checkpoint
from core.agents.grok_build.records import SIGNALS, UPDATES, detail, history_entries, json_file, value
from core.agents.protocol import Boundary, Usage, UsagePoint
from core.session import Entry, Session
from core.view import Source

ABSENT = "no turn of the session carries the provider's figures"


def usage(session: Session) -> Usage:
    """One point for each turn with figures, the compactions, and where the context stands now."""
    path = session.path.parent / UPDATES
    summary = detail(session).summary
    following = _Following(_turns(session), str(summary.get("current_model_id") or ""), _forked(summary))
    if session.files.exists(path):
        for name, stored in updates(session, path):
            following.take(name, stored)
    points, boundaries = tuple(following.points), tuple(following.boundaries)
    if not points:
        return Usage(points, boundaries, None, (), ABSENT)
    if following.is_compacted:
        return Usage(points, boundaries, None, (), "compacted since the last reported reply")
    last = session.entry(points[-1].entry)
    if last is None:
        return Usage(points, boundaries, None, (), "the last reported reply is no longer in the history")
    current = points[-1].context if following.is_single else _noted(session)
    if not current:
        return Usage(points, boundaries, None, (), "the last turn reports only the sum of its requests")
    later = tuple(Source(entry.id, 0) for entry in history_entries(session) if entry.index > last.index)
    return Usage(points, boundaries, current, later)


def _forked(summary: dict[str, Any]) -> float:
    """When the session was forked, in seconds since 1970: what its updates tell from before, the parent has paid."""
    try:
        return datetime.fromisoformat(str(summary.get("forked_at"))).timestamp()
    except (ValueError, OverflowError, OSError):
        return 0.0


def _written(about: Any) -> float | None:
    """When an update was first written, in seconds since 1970: its `timestamp` is that of the copy, in a fork."""
    time = about.get("agentTimestampMs") if isinstance(about, dict) else None
    return time / 1000 if isinstance(time, (int, float)) else None


def _noted(session: Session) -> int:
    """The running total that the client noted last."""
    signals = json_file(session.files, session.path.parent / SIGNALS) or {}
    return _tokens(signals.get("contextTokensUsed"))


def _turns(session: Session) -> dict[int, Entry]:
    """Number of a prompt → the last reply to it that stands in the history."""
    found: dict[int, Entry] = {}
    number: int | None = None
    if detail(session).is_rebuilt:
        return found
    for entry in history_entries(session):
        if entry.kind == "user":
            stored = value(session, entry)
            index = stored.get("prompt_index")
            number = index if isinstance(index, int) else number
        elif entry.kind == "assistant" and number is not None:
            found[number] = entry
    return found


class _Following:
    """Follows the updates from one turn to the next."""

    def __init__(self, turns: dict[int, Entry], model: str, forked: float) -> None:
        self.turns = turns
        self.forked = forked
        self.model = model
        self.prompt: int | None = None
        self.points: list[UsagePoint] = []
        self.boundaries: list[Boundary] = []
        self.seen: set[str] = set()
        self.is_compacted = False
        self.is_single = False
        """Whether the last turn was one request."""
        self.running = 0
        """The running total that the updates of this turn carry."""

    def take(self, name: str, stored: dict[str, Any]) -> None:
        """One update."""
        update, about = stored["params"]["update"], stored["params"].get("_meta")
        kind = update["sessionUpdate"]
        if isinstance(about, dict):
            self.running = _tokens(about.get("totalTokens")) or self.running
        if kind == "user_message_chunk":
            meta = update.get("_meta")
            index = meta.get("promptIndex") if isinstance(meta, dict) else None
            self.prompt = index if isinstance(index, int) else None
        elif stored.get("method") != OWN_METHOD:
            return
        elif is_checkpoint(update):
            time = stored.get("timestamp")
            seconds = float(time) if isinstance(time, (int, float)) else None
            self.boundaries.append(Boundary(name, "grok-build", None, seconds))
            self.is_compacted = True
        elif kind == "auto_compact_completed" and self.boundaries:
            last = self.boundaries[-1]
            before = _tokens(update.get("tokens_before")) or None
            self.boundaries[-1] = Boundary(last.entry, last.by, last.tokens_before or before, last.time)
        elif kind == "turn_completed":
            self._completed(name, update, _written(about))

    def _completed(self, name: str, update: dict[str, Any], time: float | None) -> None:
        figures, turn = update.get("usage"), update.get("prompt_id")
        if not isinstance(figures, dict) or not _tokens(figures.get("totalTokens")):
            return
        if isinstance(turn, str):
            if turn in self.seen:
                return
            self.seen.add(turn)
        if self.prompt is None:
            return  # a command of the client, such as a compaction: its requests are not the session's context
        entry = self.turns.get(self.prompt)
        self.is_single = figures.get("modelCalls") == 1
        context = _tokens(figures.get("totalTokens")) if self.is_single else self.running
        models = figures.get("modelUsage")
        model = next(iter(models), self.model) if isinstance(models, dict) else self.model
        cached, output = _tokens(figures.get("cachedReadTokens")), _tokens(figures.get("outputTokens"))
        inherited = time is not None and time < self.forked
        self.points.append(UsagePoint(entry.id if entry else name, context, cached, output, str(model), inherited))
        self.is_compacted = False


def _tokens(found: Any) -> int:
    return int(found) if isinstance(found, (int, float)) and not isinstance(found, bool) and 0 < found < 1e15 else 0
