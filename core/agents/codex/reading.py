"""One pass over a Codex rollout and what it inherits: entries, damage, and the few facts that the view needs.

Every byte of the (unpacked) file belongs to one entry (with its line end) or to one damage of a kind in `PLACES`.
Records have no ids of their own: an entry is named after its line and a checksum of its bytes, `12-9f3a1c22`; one that
was inherited has its thread's id before that.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zlib import crc32

import msgspec

from core.agents.codex import common, decoding, shapes
from core.agents.codex.context import is_real_user, is_user_context, texts
from core.agents.codex.detecting import origin_of
from core.agents.codex.lineage import PAGINATED, Segment, Unreachable, segments, start_of
from core.agents.codex.rebuilding import base_of
from core.agents.codex.records import DELIVERED, DELIVERY, LINE_TYPES, Detail, Fact, Told
from core.compressed import Unpacked, is_compressed
from core.errors import SeamlineError
from core.files import READ_SIZE, Files, fingerprint
from core.jsonl import BYTE_ORDER_MARK, BrokenLine, Line, decode, lines
from core.session import Damage, Entry, Session

SKIPPED = "skips it"

LONGEST_TITLE = 120
"""Characters."""

PLACES = frozenset(
    {"blank-line", "broken-line", "torn-tail", "nul-line", "long-line", "not-a-record", "byte-order-mark"}
)
"""Kinds of damage that stand for bytes of their own; all others are remarks on an entry or on the end of the file."""


@dataclass
class Reading:
    """What the passes have gathered so far."""

    entries: list[Entry] = field(default_factory=list[Entry])
    damage: list[Damage] = field(default_factory=list[Damage])
    facts: dict[str, Fact] = field(default_factory=dict[str, Fact])
    skipped: set[str] = field(default_factory=set[str])
    user_turns: set[str] = field(default_factory=set[str])
    models: list[Entry] = field(default_factory=list[Entry])
    counts: dict[str, Told | None] = field(default_factory=dict[str, "Told | None"])
    kinds: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    title: str = ""
    start: dict[str, Any] = field(default_factory=dict[str, Any])
    paginated: bool = False
    path: Path | None = None
    """The parent that is being read; None for the session's own file."""
    prefix: str = ""
    own: int = 0
    ordinal: int | None = None
    """The last one of the own file."""
    undecodable: int = 0
    """The first line that is no UTF-8; 0 where all are."""
    unnumbered: int | None = None
    """The line of the last record that Codex can read, where it has no ordinal."""

    def take(self, line: Line) -> None:
        """Make an entry or a damage of one line."""
        data = line.data
        if len(data) < line.length:
            self._take_slowly(line)
            return
        try:
            found = common.RECORDS.decode(data)
        except decoding.FAILURES:
            self._take_slowly(line)
            return
        # Nearly all lines go on here: each call less counts.
        payload, moment, role = found.payload, found.timestamp, ""
        kind = common.KINDS.get(type(payload))
        if kind is None:
            kind, role = self._usual_message(line, found)
        own = f"{self.prefix}{line.number}-{crc32(data):08x}"
        time = (moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)).timestamp()
        entries, path = self.entries, self.path
        entries.append(Entry(own, len(entries), line.number, line.offset, line.length, kind, None, time, role, path))
        if isinstance(payload, common.TokenCount):
            self.counts[own] = common.told(payload)
        elif isinstance(payload, common.UserMessage):
            self.user_turns.add(own)
        if path is None and (self.paginated or found.ordinal is not None):
            self._number(line, found.ordinal)

    def _take_slowly(self, line: Line) -> None:
        """The same for a line that differs from what the client mostly writes, or that is broken."""
        if not line.data.strip():
            self._place(line, "blank-line", "a line without content", SKIPPED)
            return
        if line.offset == 0 and self.path is None and line.data.startswith(BYTE_ORDER_MARK):
            mark, line = line.divided()
            words = "a byte order mark before the first line"
            self._place(mark, "byte-order-mark", words, "does not load the session")
        if not line.whole:
            self._place(line, "long-line", f"a line of {line.length} bytes", "may read it, but this reader cannot")
            return
        if not line.data.isascii() and not _is_utf8(line.data):
            self.undecodable = self.undecodable or line.number
            client = SKIPPED if self.paginated else "does not load the session"
            self._place(line, "broken-line", "a line that is no UTF-8", client)
            return
        try:
            envelope = decoding.LINES.decode(line.data)
        except msgspec.ValidationError as error:
            self._misshapen(line, str(error))
            return
        except decoding.FAILURES:
            self._broken(line)
            return
        if decoding.is_too_deep(line.data):
            self._place(line, "broken-line", "a line that is nested too deep for Codex", SKIPPED)
            return
        self._record(line, envelope)

    def _misshapen(self, line: Line, why: str) -> None:
        """A line that is JSON, but no record."""
        try:
            value = decode(line.data)
        except BrokenLine:
            self._broken(line)
            return
        kind = value.get("type") if isinstance(value, dict) else None
        if isinstance(value, dict) and isinstance(kind, str) and "payload" in value:
            self._skip(line, self._add(line, kind, "", None), f"its envelope is unfit: {why}")
        else:
            self._place(line, "not-a-record", "JSON that is no record of Codex", SKIPPED)

    def _broken(self, line: Line) -> None:
        if b"\0" in line.data:
            self._place(line, "nul-line", "a line with NUL bytes", SKIPPED)
        elif not line.end:
            client = "skips it, ends the line and goes on behind it"
            self._place(line, "torn-tail", "the last line is incomplete", client)
        else:
            self._place(line, "broken-line", "a line that is no JSON", SKIPPED)

    def _record(self, line: Line, envelope: shapes.Line) -> None:
        """An entry, and what it tells."""
        if envelope.type not in LINE_TYPES:
            entry = self._add(line, envelope.type, "", seconds(envelope.timestamp))
            self._skip(line, entry, f"a record of the unknown type {envelope.type!r}", "unknown-record")
            return
        try:
            fact, kind, role = self._payload(line, envelope)
        except decoding.FAILURES as error:
            entry = self._add(line, envelope.type, "", seconds(envelope.timestamp))
            if envelope.type == "turn_context":
                self.models.append(entry)
            self._skip(line, entry, f"it is unfit: {error}")
            return
        entry = self._add(line, kind, role, seconds(envelope.timestamp))
        if fact is not None:
            self.facts[entry.id] = fact
        if envelope.type == "turn_context":
            self.models.append(entry)
        if self.path is None:
            self._number(line, envelope.ordinal)

    def _payload(self, line: Line, envelope: shapes.Line) -> tuple[Fact | None, str, str]:
        """The fact, the kind and the role of a record. Raises one of decoding.FAILURES."""
        payload, kind = envelope.payload, envelope.type
        if kind == "response_item":
            return self._item(line, envelope)
        if kind == "compacted":
            found = decoding.compacted(payload)
            number = found.window_id if isinstance(found.window_id, int) else None
            number = found.window_number if found.window_number is not None else number
            whole = found.replacement_history is not None
            return Fact(checkpoint=whole, final=whole and number is not None), kind, ""
        if kind == "event_msg":
            event = decoding.event(payload)
            rolled = event.num_turns if event.type == "thread_rolled_back" else 0
            if not isinstance(rolled, int) or not 0 <= rolled < 1 << 32:
                raise decoding.Misfit("it does not say how many turns were taken back")
            turn = event.turn_id if isinstance(event.turn_id, str) else None
            if event.type == "user_message":
                self.user_turns.add(self._id(line))
            return Fact(turn, rolled) if turn or rolled else None, self._kind(kind, event.type), ""
        if kind == "turn_context":
            return Fact(decoding.TURNS.decode(payload).turn_id), kind, ""
        if kind == "inter_agent_communication":
            decoding.AGENTS.decode(payload)
            self.user_turns.add(self._id(line))
        elif kind == "session_meta":
            found = decoding.STARTS.decode(payload)
            if len(self.entries) > self.own and self.path is None and str(found.id) != self.start.get("id"):
                self._remark(line, "foreign-session", f"the start of another session, {found.id}", "ignores it")
        elif kind in decoding.OTHERS:
            decoding.OTHERS[kind].decode(payload)
        return None, kind, ""

    def _item(self, line: Line, envelope: shapes.Line) -> tuple[Fact | None, str, str]:
        beside = decoding.metadata(envelope.metadata)
        item = decoding.item(envelope.payload)
        if isinstance(item, shapes.Tagged):
            self._remark(line, "unknown-item", f"an item of the unknown type {item.type!r}", "leaves it out")
            return None, self._kind("response_item", item.type), ""
        if isinstance(item, shapes.Message):
            return None, *self._message(line, item, beside)
        return None, self._kind("response_item", str(type(item).__struct_config__.tag)), ""

    def _usual_message(self, line: Line, found: common.ItemRecord | common.EventRecord) -> tuple[str, str]:
        assert isinstance(found, common.ItemRecord) and isinstance(found.payload, common.Message)
        return self._message(line, found.payload, found.metadata)

    def _message(self, line: Line, message: shapes.Message, beside: shapes.Metadata | None) -> tuple[str, str]:
        """The kind and the role of a message; the user's own begin a turn."""
        kind, role = "message", message.role
        if is_real_user(role, message.content):
            self.user_turns.add(self._id(line))
            self.title = self.title or _first_line(message)
        elif role == "user" and is_user_context(role, message.content):
            role = "context"
        elif beside is not None and _is_delivered(message, beside):
            kind = DELIVERED
        return self._kind("response_item", kind), role

    def _id(self, line: Line) -> str:
        return f"{self.prefix}{line.number}-{crc32(line.data):08x}"

    def _kind(self, kind: str, inner: str) -> str:
        """One text for each kind, however often it occurs."""
        known = self.kinds.get((kind, inner))
        if known is None:
            known = self.kinds[kind, inner] = f"{kind}/{inner}"
        return known

    def _add(self, line: Line, kind: str, role: str, time: float | None) -> Entry:
        entry = Entry(
            f"{self.prefix}{line.number}-{crc32(line.data):08x}",
            len(self.entries),
            line.number,
            line.offset,
            line.length,
            kind,
            None,
            time,
            role,
            self.path,
        )
        self.entries.append(entry)
        return entry

    def _number(self, line: Line, ordinal: int | None) -> None:
        """Follow the numbers of a paginated file, and remark where they are not in order."""
        self.unnumbered = line.number if ordinal is None else None
        if not self.paginated:
            if ordinal is not None:
                words = f"the number {ordinal} in a file whose records have none"
                self._remark(line, "ordinal-in-legacy-file", words, "ignores it")
            return
        if ordinal is None:
            client = "goes on numbering from the last record; as the last one: does not load the session"
            self._remark(line, "missing-ordinal", "a record without a number", client)
            return
        if self.ordinal is not None and ordinal != self.ordinal + 1:
            kind = "ordinal-repeated" if ordinal <= self.ordinal else "ordinal-gap"
            self._remark(line, kind, f"the number {ordinal} behind {self.ordinal}", "does not mind")
        self.ordinal = ordinal

    def _skip(self, line: Line, entry: Entry, why: str, kind: str = "unfit-record") -> None:
        self.skipped.add(entry.id)
        self._remark(line, kind, why, "skips the line")

    def _place(self, line: Line, kind: str, message: str, client: str) -> None:
        if self.path is not None:
            return
        length = line.length + line.end
        before = self.damage[-1] if self.damage else None
        adjoins = before is not None and before.offset + before.length == line.offset
        if kind == "blank-line" and adjoins and before is not None and before.kind == kind:
            self.damage[-1] = replace(before, length=before.length + length, message="lines without content")
            return
        self.damage.append(Damage(line.number, line.offset, length, kind, message, client))

    def _remark(self, line: Line, kind: str, message: str, client: str) -> None:
        if self.path is None:
            self.damage.append(Damage(line.number, line.offset, line.length, kind, message, client))


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _is_delivered(message: shapes.Message, beside: shapes.Metadata) -> bool:
    """Whether an assistant's message is a note of what Codex told the user: known by its metadata."""
    mark, passed = beside.delivered_assistant_message, message.internal_chat_message_metadata_passthrough
    whole, part = DELIVERY
    return (
        message.role == "assistant"
        and mark is not None
        and (mark == whole or mark.startswith(part))
        and beside.user_input_order is not None
        and passed is not None
        and passed.turn_id is not None
        and len(message.content) == 1
        and isinstance(message.content[0], shapes.OutputText)
    )


def _first_line(message: shapes.Message) -> str:
    text = next((text.strip() for text in texts(message.content) if text.strip()), "")
    return text[: LONGEST_TITLE * 4].split("\n", 1)[0][:LONGEST_TITLE]


def seconds(timestamp: str | None) -> float | None:
    """Seconds since 1970 of an RFC 3339 time; None where it is none."""
    if timestamp is None:
        return None
    try:
        moment = datetime.fromisoformat(timestamp)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError, OSError):
        return None


def read_session(
    files: Files, path: Path, leaf: str | None = None, progress: Callable[[int, int], None] | None = None
) -> Session:
    """Open a Codex session with what it inherits. Raises OSError, and SeamlineError where `leaf` names no entry."""
    mark = fingerprint(files, path)
    content = Unpacked(files)
    size = content.size(path)
    reading = Reading()
    first = next((line.data for line in lines(content, path, end=size)), b"")
    reading.start = start_of(first.removeprefix(BYTE_ORDER_MARK))
    reading.paginated = reading.start.get("history_mode") == PAGINATED
    refusal = "" if reading.start else "it does not start with session metadata"
    if reading.start and first.startswith(BYTE_ORDER_MARK):
        refusal = "it does not start with session metadata, but with a byte order mark"
    if path.name.endswith(".zst") and not is_compressed(files, path):
        refusal = "unknown frame descriptor: the name says that it is compressed, but it is not"
    try:
        inherited = segments(content, path, reading.start) if reading.paginated else []
    except Unreachable as error:
        inherited, refusal = [], str(error)
    for segment in inherited:
        _read_segment(reading, content, segment)
    reading.path, reading.prefix, reading.own = None, "", len(reading.entries)
    _read_own(reading, content, path, size, progress)
    if reading.paginated and reading.unnumbered is not None and not refusal:
        refusal = f"the final paginated rollout record (line {reading.unnumbered}) is missing an ordinal"
    if not reading.paginated and reading.undecodable and not refusal:
        refusal = f"stream did not contain valid UTF-8 (line {reading.undecodable})"
    return _session(content, path, mark, reading, refusal, leaf)


def _read_segment(reading: Reading, files: Unpacked, segment: Segment) -> None:
    """The beginning of a parent that counts."""
    reading.path, reading.prefix = segment.path, f"{segment.thread}:"
    for line in lines(files, segment.path, end=segment.end):
        reading.take(line)


def _read_own(
    reading: Reading, files: Unpacked, path: Path, size: int, progress: Callable[[int, int], None] | None
) -> None:
    line, reported = None, 0
    for line in lines(files, path, end=size):
        reading.take(line)
        if progress is not None and line.offset - reported >= READ_SIZE:
            reported = line.offset
            progress(reported, size)
    if progress is not None:
        progress(size, size)
    number = 1 if line is None else line.number
    fault = files.fault(path)
    if fault:
        reading.damage.append(Damage(number, size, 0, "broken-compression", fault, "does not load the session"))
    elif line is not None and not line.end and reading.entries and reading.entries[-1].line == line.number:
        client = "takes it as it is, and ends the line before it goes on"
        reading.damage.append(Damage(number, size, 0, "no-final-newline", "the last line has no line end", client))


def _session(content: Unpacked, path: Path, mark: str, reading: Reading, refusal: str, leaf: str | None) -> Session:
    fault = content.fault(path)
    known = Detail(
        start=reading.start,
        paginated=reading.paginated,
        refusal=fault or refusal,
        facts=reading.facts,
        counts=reading.counts,
        skipped=frozenset(reading.skipped),
        user_turns=frozenset(reading.user_turns),
        models=tuple(reading.models),
        ordinal=reading.ordinal,
        own=reading.own,
    )
    entries = reading.entries
    reads = (lambda entry: entry.id not in known.skipped) if leaf is None else (lambda entry: entry.id == leaf)
    last = next((entry for entry in reversed(entries) if reads(entry)), None)
    if leaf is not None and last is None:
        raise SeamlineError(f"{path}: no entry {leaf!r}: give the id of an entry of this session as the leaf")
    known = replace(known, base=base_of(known, entries[: 0 if last is None else last.index + 1]))
    own, cwd = reading.start.get("id"), reading.start.get("cwd")
    reading.damage.sort(key=lambda damage: (damage.offset, damage.kind not in PLACES))
    return Session(
        agent="codex",
        path=path,
        files=content,
        identity=own if isinstance(own, str) else "",
        cwd=cwd if isinstance(cwd, str) else "",
        title=reading.title,
        entries=entries,
        damage=reading.damage,
        leaf=None if last is None else last.id,
        fingerprint=mark,
        detail=known,
        parent=origin_of(reading.start),
    )
