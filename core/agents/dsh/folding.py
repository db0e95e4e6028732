"""From events to the surface: which messages the model is sent, and in which order, as dsh rebuilds it on load.

A message is put behind the others, or in place of a range of them. A range is named by the messages at its ends and
counts positions on the surface as it then is: after earlier replacements its start may be the larger number.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from core.agents.dsh import shapes
from core.agents.dsh.inbox import Inbox
from core.agents.dsh.legacy import STEERING, check_turn_end, check_turn_start, migrated
from core.agents.dsh.records import COMPACTOR, KNOWN, OURS, SURFACE, Left, Unanswered
from core.agents.dsh.shapes import Misfit
from core.view import Sight

FRAMES, ROWS, OLD_DELTA, OLD_MODE, OLD_REASON, ADOPTION, UNKNOWN, CLOSING, HEADER, REPLAY, INBOX = range(11)
"""The steps in which dsh reads a session: of several reasons to refuse it, that of the earliest step is given."""


@dataclass
class Event:
    """One event, and where it is stored."""

    entry: str
    seq: int
    kind: str
    row: dict[str, Any]


@dataclass
class Folding:
    """What the events have come to so far."""

    session: str
    read: Callable[[str], dict[str, Any]]
    """Gives a stored row anew."""
    fail: Callable[[int, str, str], None]
    """Told of a step, a reason to refuse the session, and the kind of damage."""
    nodes: list[int] = field(default_factory=list[int])
    past: list[int] = field(default_factory=list[int])
    entries: dict[int, str] = field(default_factory=dict[int, str])
    left: dict[str, Left] = field(default_factory=dict[str, Left])
    inbox: Inbox = field(default_factory=Inbox)
    checkpoints: list[str] = field(default_factory=list[str])
    summaries: dict[str, str] = field(default_factory=dict[str, str])
    replaced_at: int = -1
    header_entry: str | None = None
    context_entry: str | None = None
    title_entry: str | None = None
    is_open: bool = False
    last_turn: int = 0
    ours: set[str] = field(default_factory=set[str])
    first_prompt: str = ""
    _ids: dict[int, str] = field(default_factory=dict[int, str])
    _calls: dict[str, tuple[str, bool]] = field(default_factory=dict[str, tuple[str, bool]])
    _summary: str | None = None
    _told: dict[int, Sight] = field(default_factory=dict[int, Sight])
    """What our own records say became of messages, where what stands in their place does not tell."""
    _our_compactions: set[str] = field(default_factory=set[str])

    @property
    def unanswered(self) -> tuple[Unanswered, ...]:
        """The calls that dsh answers when it resumes: those of a turn without an end."""
        if not self.is_open:
            return ()
        return tuple(Unanswered(call, entry, started) for call, (entry, started) in self._calls.items())

    def take(self, event: Event) -> None:
        """Carry out one event."""
        self._check(event)
        if event.kind in SURFACE or event.kind == STEERING:
            self._message(event)
        elif event.kind in _STATE:
            _STATE[event.kind](self, event)

    def _check(self, event: Event) -> None:
        """What dsh demands of every event."""
        row, kind, seq = event.row, event.kind, event.seq
        if kind == "request/header-delta":
            self.fail(OLD_DELTA, f"unsupported legacy request/header-delta event at seq {seq}", "unknown-type")
        elif kind == "mode/set":
            self.fail(OLD_MODE, f"unsupported legacy mode/set event at seq {seq}", "unknown-type")
        elif kind not in KNOWN and kind != STEERING and row.get("ignorable") is not True:
            words = f'session "{self.session}" contains event type "{kind}" (seq {seq}) unknown to this harness and not'
            why = "marked ignorable; refusing to interpret the log — it was likely written by a newer harness"
            self.fail(UNKNOWN, f"{words} {why}", "unknown-type")
        fits = (
            row.keys() <= shapes.ENVELOPE
            and shapes.is_whole(row.get("time"))
            and "data" in row
            and row.get("ignorable", True) is True
        )
        if not fits:
            self.fail(REPLAY, f"seed event at index {seq} has an invalid event envelope", "invalid-event")
        if kind not in SURFACE and kind != STEERING:
            for name in ("surfaceOp", "sourceEventSeqs"):
                if name in row:
                    words = f'session event "{kind}" is not surface-eligible and cannot carry {name}'
                    self._refuse(event, words)

    def _refuse(self, event: Event, words: str) -> None:
        self.fail(REPLAY, f"invalid seed event at index {event.seq}: {words}", "invalid-surface")

    def _message(self, event: Event) -> None:
        """Put a message in its place."""
        operation = event.row.get("surfaceOp")
        replaced = operation.get("start") if isinstance(operation, dict) else None
        known = self._ids.get(replaced) if isinstance(replaced, int) else None
        try:
            kind, data = migrated(event.kind, event.seq, event.row.get("data"), self.session, known)
            shapes.check_message(kind, data, f"session event at seq {event.seq}")
        except Misfit as misfit:
            self.fail(ADOPTION, str(misfit), "invalid-message")
            return
        message = data if kind == "user/message" else data["message"]
        self._ids[event.seq] = message["id"]
        self._answer(event, kind, message)
        try:
            self._place(event, kind, data, operation)
        except Misfit as misfit:
            self._refuse(event, str(misfit))

    def _answer(self, event: Event, kind: str, message: dict[str, Any]) -> None:
        """Follow the calls that wait for a result."""
        if kind == "tool/result":
            self._calls.pop(message["source"]["callId"], None)
        elif kind == "assistant/message":
            for block in message["content"]:
                if block is None:
                    words = "Cannot read properties of null (reading 'type')"
                    self.fail(CLOSING, words, "invalid-message")
                elif isinstance(block, dict) and block.get("type") == "tool-call" and isinstance(block.get("id"), str):
                    self._calls[block["id"]] = event.entry, False
        elif not self.first_prompt and message["source"]["kind"] == "user":
            self.first_prompt = _first_line(message["content"])

    def _place(self, event: Event, kind: str, data: dict[str, Any], operation: Any) -> None:
        """Put it behind the others, or in place of a range. Raises Misfit."""
        if "surfaceOp" not in event.row:
            raise Misfit(f'session event "{kind}" is surface-eligible and requires a surfaceOp marker')
        if operation == "append":
            _check_sources(event, kind, [])
            self.nodes.append(event.seq)
            self.past.append(event.seq)
            self.entries[event.seq] = event.entry
            return
        first, last = self._range(kind, operation)
        shadowed = self.nodes[first : last + 1]
        _check_sources(event, kind, shadowed)
        if kind == "tool/result":
            self._check_rewrite(data, shadowed)
        self._replace(event, kind, data, first, last)

    def _range(self, kind: str, operation: Any) -> tuple[int, int]:
        """The positions that are replaced. Raises Misfit."""
        if not isinstance(operation, dict):
            raise Misfit(f'session event "{kind}" carries an invalid surfaceOp')
        start, end = operation.get("start"), operation.get("end")
        named = operation.keys() == {"op", "start", "end"} and operation["op"] == "replace"
        if not named or not shapes.is_count(start) or not shapes.is_count(end):
            raise Misfit(f'session event "{kind}" carries an invalid replace surfaceOp')
        for name, seq in (("start", start), ("end", end)):
            if seq not in self.nodes:
                raise Misfit(f"surface replace: {name} seq {seq} not found in surface")
        first, last = self.nodes.index(start), self.nodes.index(end)
        if first > last:
            where = f"start seq {start} (index {first}) is after end seq {end} (index {last})"
            raise Misfit(f"surface replace: {where}")
        return first, last

    def _check_rewrite(self, data: dict[str, Any], shadowed: list[int]) -> None:
        """A result may stand in place of one result only, and may differ only in what it holds. Raises Misfit."""
        if len(shadowed) != 1:
            raise Misfit("tool/result surface replacement must rewrite exactly one current node")
        seq = shadowed[0]
        stored = self.read(self.entries[seq])
        kind, original = migrated(str(stored.get("type")), seq, stored.get("data"), self.session, self._ids.get(seq))
        if kind != "tool/result":
            raise Misfit("tool/result surface replacement must target a current tool/result")
        if not shapes.same(_without_content(original), _without_content(data)):
            raise Misfit("tool/result surface replacement may change only content")

    def _replace(self, event: Event, kind: str, data: dict[str, Any], first: int, last: int) -> None:
        source = data["source"] if kind == "user/message" else {}
        checkpoint = source.get("kind") == "plugin" and source.get("plugin") == COMPACTOR
        sight: Sight = "summarized" if checkpoint else "pruned" if kind == "tool/result" else "dropped"
        for seq in self.nodes[first : last + 1]:
            self.left[self.entries[seq]] = Left(event.entry, self._told.pop(seq, sight))
        self.past.insert(self.past.index(self.nodes[last]) + 1, event.seq)
        self.nodes[first : last + 1] = [event.seq]
        self.entries[event.seq] = event.entry
        self.replaced_at = event.seq
        if checkpoint:
            self.checkpoints.append(event.entry)
            if str(source.get("compactionId")) in self._our_compactions:
                self.ours.add(event.entry)
            if self._summary is not None:
                self.summaries[event.entry] = self._summary
            self._summary = None

    def _turn_start(self, event: Event) -> None:
        data = event.row.get("data")
        try:
            check_turn_start(event.seq, data, self.session)
        except Misfit as misfit:
            self.fail(ADOPTION, str(misfit), "invalid-event")
        turn = data.get("turn", 0) if isinstance(data, dict) else 0
        self.is_open = turn is not None
        self.last_turn = int(turn) if shapes.is_count(turn) else self.last_turn
        self._calls.clear()

    def _turn_end(self, event: Event) -> None:
        try:
            check_turn_end(event.seq, event.row.get("data"), self.session)
        except Misfit as misfit:
            self.fail(ADOPTION, str(misfit), "invalid-event")
        self.is_open = False
        self._calls.clear()

    def _step_end(self, event: Event) -> None:
        self._calls.clear()

    def _tool_call(self, event: Event) -> None:
        data = event.row.get("data")
        call = data.get("callId") if isinstance(data, dict) else None
        if isinstance(call, str) and call in self._calls:
            self._calls[call] = self._calls[call][0], True

    def _request_header(self, event: Event) -> None:
        data = event.row.get("data")
        self.header_entry = event.entry
        if isinstance(data, dict) and data.get("reason") == "fallback":
            words = f'unsupported legacy request/header reason "fallback" at seq {event.seq}'
            self.fail(OLD_REASON, words, "invalid-event")
        try:
            shapes.check_request_header(data, event.seq)
        except Misfit as misfit:
            self.fail(REPLAY, str(misfit), "invalid-event")

    def _request_context(self, event: Event) -> None:
        self.context_entry = event.entry

    def _title(self, event: Event) -> None:
        self.title_entry = event.entry

    def _spliced(self, event: Event) -> None:
        if not self.inbox.apply(event.entry, event.seq, event.row.get("data")):
            words = f"invalid persisted inbox splice at session seq {event.seq}"
            self.fail(INBOX, words, "invalid-inbox")

    def _summarized(self, event: Event) -> None:
        self._summary = event.entry

    def _commit(self, event: Event) -> None:
        """A record of our own."""
        data = event.row.get("data")
        record = data if isinstance(data, dict) else {}
        self._our_compactions.add(str(record.get("compactionId")))
        fates: tuple[tuple[str, Sight], ...] = (("dropped", "dropped"), ("summarized", "summarized"))
        for name, sight in fates:
            seqs = record.get(name)
            self._told.update((seq, sight) for seq in (seqs if isinstance(seqs, list) else ()) if shapes.is_count(seq))


_STATE: dict[str, Callable[[Folding, Event], None]] = {
    "turn/start": Folding._turn_start,  # pyright: ignore[reportPrivateUsage]
    "turn/end": Folding._turn_end,  # pyright: ignore[reportPrivateUsage]
    "step/end": Folding._step_end,  # pyright: ignore[reportPrivateUsage]
    "tool/call": Folding._tool_call,  # pyright: ignore[reportPrivateUsage]
    "request/header": Folding._request_header,  # pyright: ignore[reportPrivateUsage]
    "request/context": Folding._request_context,  # pyright: ignore[reportPrivateUsage]
    "session/title": Folding._title,  # pyright: ignore[reportPrivateUsage]
    "agent/inbox/spliced": Folding._spliced,  # pyright: ignore[reportPrivateUsage]
    "compaction/summary": Folding._summarized,  # pyright: ignore[reportPrivateUsage]
    OURS: Folding._commit,  # pyright: ignore[reportPrivateUsage]
}

STATE = frozenset(_STATE)
"""Events that are no messages, but whose data matters."""


def _check_sources(event: Event, kind: str, shadowed: list[int]) -> None:
    """What the message says it was made from: earlier events, each once, and all that it replaces. Raises Misfit."""
    cited = event.row.get("sourceEventSeqs", [])
    if not isinstance(cited, list):
        raise Misfit(f"sourceEventSeqs on event at seq {event.seq} must be an array when present")
    if "sourceEventSeqs" in event.row and not cited and kind != "assistant/message":
        raise Misfit("sourceEventSeqs must not be empty except on assistant/message")
    if not all(shapes.is_count(seq) for seq in cited):
        raise Misfit(f'session event "{kind}" sourceEventSeqs must densely contain non-negative safe integers')
    if len(set(cited)) != len(cited):
        raise Misfit("sourceEventSeqs must not contain duplicates")
    later = next((seq for seq in cited if seq >= event.seq), None)
    if later is not None:
        raise Misfit(f"sourceEventSeqs must reference earlier events: {later} >= current seq {event.seq}")
    missing = [str(seq) for seq in shadowed if seq not in set(cited)]
    if missing:
        words = "surface replace: sourceEventSeqs must include every shadowed surface node; missing"
        raise Misfit(f"{words} {', '.join(missing)}")


def _without_content(data: dict[str, Any]) -> dict[str, Any]:
    message = data["message"]
    return {**data, "message": {**message, "content": [{**message["content"][0], "content": None}]}}


LONGEST_TITLE = 120
"""Characters."""


def _first_line(content: list[Any]) -> str:
    texts = (block.get("text") for block in content if isinstance(block, dict) and block.get("type") == "text")
    text = next((text.strip() for text in texts if isinstance(text, str) and text.strip()), "")
    return text[: LONGEST_TITLE * 4].split("\n", 1)[0][:LONGEST_TITLE]
