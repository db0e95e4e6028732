"""One pass over a dsh log: entries, damage, and what dsh makes of the events.

Every byte of the (unpacked) log belongs to one entry (with its line end) or to one damage of a kind in `PLACES`. An
event is named after its place in the log (`seq`), the header `header`; where the numbers fail, a row is named after
its line, `line-12`. A row of packed stream events is one entry, named after the first of them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from core.agents.dsh import folding, shapes
from core.agents.dsh.folding import STATE, Event, Folding
from core.agents.dsh.frames import Frames
from core.agents.dsh.legacy import STEERING
from core.agents.dsh.records import HEADER, PACKED, SURFACE, Detail
from core.agents.dsh.shapes import Misfit
from core.compressed import Unpacked, is_compressed
from core.files import READ_SIZE, Files, fingerprint
from core.jsonl import BYTE_ORDER_MARK, BrokenLine, Line, decode, lines
from core.session import Damage, Entry, Session

REFUSES = "does not load the session"
CUTS = "cuts it off and goes on before it"

TORN_RECORD = "corrupt Zstandard session log: complete frame contains a torn JSONL record"

PLACES = frozenset({"broken-line", "torn-tail", "not-a-record", "byte-order-mark"})
"""Kinds of damage that stand for bytes of their own; all others are remarks on an entry or a place."""

ROLES = {"user/message": "user", STEERING: "user", "assistant/message": "assistant", "tool/result": "tool"}

TELLING = SURFACE | STATE | PACKED | {STEERING}
"""Types of rows whose data must be read."""

_ROWS = msgspec.json.Decoder(dict[str, msgspec.Raw])
_FAILURES = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)


@dataclass
class Reading:
    """What the pass has gathered so far."""

    files: Files
    path: Path
    size: int
    complete: int
    """Bytes of the content that dsh takes for written whole."""
    packed: bool
    """Whether the log is compressed."""
    leaf: str | None = None
    entries: list[Entry] = field(default_factory=list[Entry])
    damage: list[Damage] = field(default_factory=list[Damage])
    failures: dict[int, str] = field(default_factory=dict[int, str])
    header: dict[str, Any] = field(default_factory=dict[str, Any])
    usage_chunks: list[str] = field(default_factory=list[str])
    last: str | None = None
    """The last entry that counts."""
    expected: int = 0
    """The place in the log of the next event."""
    next_seq: int = 0
    """The same behind the last entry that counts."""
    end: int = 0
    """Where that entry ends, in bytes of the content, its line end with it."""
    issue: str = ""
    """The first row that dsh can't take: an error only where more was written behind it."""
    places: dict[str, Entry] = field(default_factory=dict[str, Entry])
    """The entries of messages."""
    at_leaf: bool = False
    folding: Folding = field(init=False)
    line: Line | None = None

    def __post_init__(self) -> None:
        self.folding = Folding("", self._row, self._fail)

    def take(self, line: Line) -> None:
        """Make an entry or a damage of one line."""
        self.line = line
        if line.number == 1:
            self._header(line)
            return
        ends = line.offset + line.length + line.end
        if self.packed and line.offset < self.complete and not (line.end and ends <= self.complete):
            self._fail(folding.ROWS, TORN_RECORD, "half-line")
        if not line.end:
            self._place("torn-tail", "the last line is incomplete", self._of_tail())
            return
        try:
            row = self._decoded(line)
        except BrokenLine:
            self._issue(f"corrupt session log: unparsable committed event at line {line.number - 1}")
            self._place("broken-line", "a line that is no JSON", self._of_issue())
            return
        if row is None:
            self._no_row()
        else:
            self._take_row(line, row)

    def _decoded(self, line: Line) -> dict[str, Any] | None:
        """A row, with the data left as it is where nothing depends on it; None where it is no object."""
        if line.whole:
            try:
                if not line.data.isascii():
                    line.data.decode()
                raw = _ROWS.decode(line.data)
                kind = decode(bytes(raw["type"])) if "type" in raw else None
                matters = not isinstance(kind, str) or kind in TELLING
                row: dict[str, Any] = {name: value for name, value in raw.items() if name == "data" and not matters}
                row |= {name: decode(bytes(value)) for name, value in raw.items() if name not in row}
                return row
            except _FAILURES:
                value = decode(line.data)
                return value if isinstance(value, dict) else None
        raise BrokenLine("longer than any string of the client")

    def _no_row(self) -> None:
        self._issue(self._gap(None))
        self._place("not-a-record", "JSON that is no event", self._of_issue())

    def _take_row(self, line: Line, row: dict[str, Any]) -> None:
        kind, count = row.get("type"), 1
        packed = isinstance(kind, str) and kind in PACKED
        seq, time = (row.get("seq0"), row.get("time0")) if packed else (row.get("seq"), row.get("time"))
        if packed:
            try:
                count = shapes.members(row)
            except Misfit as misfit:
                entry = self._add(line, row, seq, time)
                self._issue(f"corrupt session log: unparsable committed event at line {line.number - 1}")
                self._remark("malformed-row", f"entry {entry.id}: {misfit}", self._of_issue())
                return
        fits = shapes.is_count(seq) and seq == self.expected
        if not fits:
            self._issue(self._gap(seq))
            self._remark("sequence-gap", f"event {seq} where {self.expected} belongs", self._of_issue())
        if kind == "turn/end" and self.issue:
            self._fail(folding.ROWS, self.issue, "")
        entry = self._add(line, row, seq, time)
        if shapes.is_count(seq):
            self.expected = int(seq) + count
        if not self.at_leaf and not (self.issue and (not self.packed or line.offset >= self.complete)):
            self._counts(entry, line)
            self._fold(entry, seq, row)
        self.at_leaf = self.at_leaf or entry.id == self.leaf

    def _counts(self, entry: Entry, line: Line) -> None:
        self.last, self.next_seq, self.end = entry.id, self.expected, line.offset + line.length + line.end

    def _fold(self, entry: Entry, seq: Any, row: dict[str, Any]) -> None:
        if entry.kind in PACKED or not shapes.is_count(seq):
            return
        if entry.role:
            self.places[entry.id] = entry
        self.folding.take(Event(entry.id, int(seq), entry.kind, row))
        if entry.kind == "assistant/chunk" and _reports(row.get("data")):
            self.usage_chunks.append(entry.id)

    def _gap(self, found: Any) -> str:
        line = 0 if self.line is None else self.line.number - 1
        seq = "undefined" if found is None else found
        words = f"seq gap in committed region at line {line} (expected {self.expected}, got {seq})"
        return f"corrupt session log: {words}"

    def _issue(self, words: str) -> None:
        """A row that dsh can't take."""
        assert self.line is not None
        self.issue = self.issue or words
        if self.packed and self.line.offset < self.complete:
            self.failures.setdefault(folding.ROWS, "")

    def _of_issue(self) -> str:
        assert self.line is not None
        if self.packed and self.line.offset < self.complete:
            return REFUSES
        return f"{CUTS}; {REFUSES} where a later turn has ended"

    def _of_tail(self) -> str:
        assert self.line is not None
        return REFUSES if self.packed and self.line.offset < self.complete else CUTS

    def _header(self, line: Line) -> None:
        """The first line: it alone stands in the first frame."""
        ends = line.offset + line.length + line.end
        value: Any = None
        marked = line.data.startswith(BYTE_ORDER_MARK)
        try:
            value = decode(line.data.removeprefix(BYTE_ORDER_MARK)) if line.whole else None
        except BrokenLine:
            self._fail(folding.ROWS, "corrupt session log: header line is not valid JSON", "")
        if marked and isinstance(value, dict):
            self._fail(folding.ROWS, "corrupt session log: header line is not valid JSON", "")
            self.line, line = line.divided()
            self._place("byte-order-mark", "a byte order mark before the header", REFUSES)
            self.line = line
        if not line.end:
            self._fail(folding.ROWS, "empty or header-less session log", "")
        foreign = shapes.foreign_version(value)
        try:
            shapes.check_header(value)
        except Misfit as misfit:
            self._fail(folding.ROWS, foreign or str(misfit), "")
        if foreign:
            self._fail(folding.ROWS, foreign, "")
        if not isinstance(value, dict):
            words = self.failures.get(folding.ROWS, "no header")
            self._place("not-a-record" if line.end else "torn-tail", words, REFUSES)
            return
        self._known_header(value)
        entry = Entry(
            HEADER, 0, 1, line.offset, line.length, str(value.get("type")), None, _time(value.get("createdAt"))
        )
        self.entries.append(entry)
        self._counts(entry, line)
        self.at_leaf = self.leaf == HEADER
        if folding.ROWS in self.failures:
            self._remark("refused-header", self.failures[folding.ROWS], REFUSES)
        elif ends == self.size and not line.end:
            self._remark("no-final-newline", "the header has no line end", REFUSES)

    def _known_header(self, value: dict[str, Any]) -> None:
        self.header = value
        self.folding.session = str(value.get("id") or "")
        seeded = value.get("seedLength")
        self.folding.inbox.seeded = int(seeded) if shapes.is_count(seeded) else 0
        try:
            shapes.check_restored(value)
        except Misfit as misfit:
            self._fail(folding.HEADER, str(misfit), "invalid-header")

    def _add(self, line: Line, row: dict[str, Any], seq: Any, time: Any) -> Entry:
        named = shapes.is_count(seq) and seq >= self.expected
        kind = row.get("type")
        kind = sys.intern(kind) if isinstance(kind, str) else "?"
        identity = str(int(seq)) if named else f"line-{line.number}"
        role = ROLES.get(kind, "")
        entry = Entry(identity, len(self.entries), line.number, line.offset, line.length, kind, None, _time(time), role)
        self.entries.append(entry)
        return entry

    def _fail(self, step: int, words: str, kind: str) -> None:
        """Remember why dsh refuses the session; of one step the first reason counts."""
        if not self.failures.get(step):
            self.failures[step] = words
        if kind:
            self._remark(kind, words, REFUSES)

    def _row(self, entry_id: str) -> dict[str, Any]:
        entry = self.places[entry_id]
        value = decode(self.files.read(self.path, entry.offset, entry.length))
        return value if isinstance(value, dict) else {}

    def _place(self, kind: str, message: str, client: str) -> None:
        assert self.line is not None
        length = self.line.length + self.line.end
        self.damage.append(Damage(self.line.number, self.line.offset, length, kind, message, client))

    def _remark(self, kind: str, message: str, client: str) -> None:
        assert self.line is not None
        self.damage.append(Damage(self.line.number, self.line.offset, self.line.length, kind, message, client))


def _reports(data: Any) -> bool:
    """Whether a stream event holds the provider's figures."""
    return isinstance(data, msgspec.Raw) and b'"usage"' in bytes(data)


def _time(milliseconds: Any) -> float | None:
    return milliseconds / 1000 if shapes.is_whole(milliseconds) else None


def read_session(
    files: Files, path: Path, leaf: str | None = None, progress: Callable[[int, int], None] | None = None
) -> Session:
    """Open a dsh log. Raises OSError, and SeamlineError where `leaf` names no entry."""
    mark = fingerprint(files, path)
    packed, frames = is_compressed(files, path), Frames()
    content = Unpacked(files, frames.unpack)
    size = content.size(path)
    reading = Reading(content, path, size, frames.complete if packed else size, packed, leaf)
    _check_frames(reading, frames, content.fault(path), path)
    reported = 0
    for line in lines(content, path, end=size):
        if line.number == 1 and packed and frames.contents and frames.contents[0] != line.length + line.end:
            words = "corrupt Zstandard session log: first frame is not exactly one header line"
            reading.failures.setdefault(folding.ROWS, words)
        reading.take(line)
        if progress is not None and line.offset - reported >= READ_SIZE:
            reported = line.offset
            progress(reported, size)
    if progress is not None:
        progress(size, size)
    return _session(content, mark, reading, frames)


def _check_frames(reading: Reading, frames: Frames, fault: str, path: Path) -> None:
    """What the frames alone tell."""
    if not reading.packed:
        if path.suffix == ".zstd":
            reading.failures[folding.FRAMES] = "corrupt Zstandard session log: invalid frame magic at byte 0"
        elif not reading.size:
            reading.failures[folding.FRAMES] = "empty or header-less session log"
        return
    if frames.faults or fault:
        reading.failures[folding.FRAMES] = frames.faults[0].message if frames.faults else fault
    elif not frames.ends:
        reading.failures[folding.FRAMES] = "empty or header-less Zstandard session log"


def _about_frames(reading: Reading, frames: Frames) -> None:
    line = reading.line.number if reading.line is not None else 1
    for fault in frames.faults:
        reading.damage.append(Damage(line, fault.at, 0, "broken-compression", fault.message, REFUSES))
    if frames.torn is not None:
        words = f"the last append, at byte {frames.torn} of the compressed file, breaks off"
        client = "takes what whole blocks of it give, and writes over the rest"
        reading.damage.append(Damage(line, reading.size, 0, "torn-frame", words, client))


def _session(content: Unpacked, mark: str, reading: Reading, frames: Frames) -> Session:
    from core.errors import SeamlineError

    if reading.leaf is not None and all(entry.id != reading.leaf for entry in reading.entries):
        words = f"no entry {reading.leaf!r}: give the id of an entry of this session as the leaf"
        raise SeamlineError(f"{reading.path}: {words}")
    _about_frames(reading, frames)
    reading.damage.sort(key=lambda damage: (damage.offset, damage.kind not in PLACES))
    fold, header = reading.folding, reading.header
    cwd, parent = header.get("cwd"), header.get("parentSession")
    return Session(
        agent="dsh",
        path=reading.path,
        files=content,
        identity=fold.session,
        cwd=cwd if isinstance(cwd, str) else "",
        title=_title(reading) or fold.first_prompt,
        entries=reading.entries,
        damage=reading.damage,
        leaf=reading.last,
        fingerprint=mark,
        detail=_detail(reading, frames),
        parent=parent if isinstance(parent, str) else "",
    )


def _detail(reading: Reading, frames: Frames) -> Detail:
    fold = reading.folding
    return Detail(
        header=reading.header,
        refusal=_refusal(reading),
        surface=tuple(fold.entries[seq] for seq in fold.nodes),
        past=tuple(fold.entries[seq] for seq in fold.past),
        left=fold.left,
        seqs={entry: seq for seq, entry in fold.entries.items()},
        unanswered=fold.unanswered,
        is_open=fold.is_open,
        next_step=fold.inbox.next_step,
        next_turn=fold.inbox.next_turn,
        checkpoints=tuple(fold.checkpoints),
        summaries=fold.summaries,
        replaced_at=fold.replaced_at,
        header_entry=fold.header_entry,
        context_entry=fold.context_entry,
        usage_chunks=tuple(reading.usage_chunks),
        seeded=fold.inbox.seeded,
        ours=frozenset(fold.ours),
        last_turn=fold.last_turn,
        next_seq=reading.next_seq,
        end=reading.end,
        whole=reading.end == reading.size and frames.torn is None,
        frames=frames if reading.packed else None,
    )


def _refusal(reading: Reading) -> str:
    """The reason of the earliest step in which dsh fails."""
    for step in sorted(reading.failures):
        return reading.failures[step] or TORN_RECORD
    return ""


def _title(reading: Reading) -> str:
    """What the session calls itself, last."""
    found = reading.folding.title_entry
    entry = next((entry for entry in reversed(reading.entries) if entry.id == found), None) if found else None
    if entry is None:
        return ""
    row = decode(reading.files.read(reading.path, entry.offset, entry.length))
    data = row.get("data") if isinstance(row, dict) else None
    title = data.get("title") if isinstance(data, dict) else None
    return title[: folding.LONGEST_TITLE] if isinstance(title, str) else ""
