"""One pass over a pi session file: entries, damage, the path to the leaf. Contents are skipped, not decoded.

Every byte belongs to one entry (with its line end) or to one damage of a kind in `PLACES`. The header is an entry too.
Blank lines harm nothing, but they are no entry either: neighbouring ones make one damage of the kind `blank-line`.
An entry without an id of its own is named after its line, `line:7`; an id that is a number, `number:7.0`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec

from core.agents.pi.heads import HEADS, Head, identity, plain_head, seconds, stored_version
from core.agents.pi.records import CURRENT_VERSION, KINDS, ROLES, WIRES, Detail
from core.errors import SeamlineError
from core.files import READ_SIZE, Files, fingerprint
from core.jsonl import BYTE_ORDER_MARK, BrokenLine, Line, TooDeep, decode, lines
from core.session import Damage, Entry, Session

SKIPPED = "skips it"
CUTS_HISTORY = "skips it; what hangs on it loses all older history"

LONGEST_TITLE = 120
"""Characters."""

PLACES = frozenset(
    {
        "blank-line",
        "broken-line",
        "torn-tail",
        "nul-line",
        "long-line",
        "byte-order-mark",
        "empty-value",
        "not-json-lines",
        "empty-file",
    }
)
"""Kinds of damage that stand for bytes of their own; all others are remarks on an entry or on the end of the file."""


@dataclass
class Reading:
    """What the pass has gathered so far."""

    entries: list[Entry] = field(default_factory=list[Entry])
    damage: list[Damage] = field(default_factory=list[Damage])
    header: dict[str, Any] = field(default_factory=dict[str, Any])
    header_fault: str = ""
    byte_order_mark: bool = False
    version: int = CURRENT_VERSION
    by_id: dict[str, Entry] = field(default_factory=dict[str, Entry])
    last: Entry | None = None
    """The entry that the last line of the tree made; the leaf, if it has an id."""
    last_named: bool = False
    nulls: int = 0
    refusal: str = ""
    named: dict[tuple[str, str], None] = field(default_factory=dict[tuple[str, str], None])
    replies: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    other_apis: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    title_line: Entry | None = None
    first_user: Entry | None = None

    def take(self, line: Line) -> None:
        """Make an entry or a damage of one line."""
        if not line.whole:
            self._place(line, "long-line", f"a line of {line.length} bytes", "cannot hold so long a text")
            return
        try:
            head = HEADS.decode(line.data)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            self._take_slowly(line)
            return
        self._add(line, head, head.id or None, head.parent or None)

    def _take_slowly(self, line: Line) -> None:
        """The same for a line that is blank, whose fields have unusual types, or that is broken."""
        if line.blank:
            self._place(line, "blank-line", "a line without content", SKIPPED)
            return
        if line.offset == 0 and line.data.startswith(BYTE_ORDER_MARK):
            mark, rest = line.divided()
            self._place(
                mark,
                "byte-order-mark",
                "a byte order mark before the first line",
                "1.6.0 cannot read the line behind it; 0.73.1 does not mind",
            )
            self.byte_order_mark = True
            self.take(rest)
            return
        try:
            value = decode(line.data)
        except BrokenLine as error:
            self._broken(line, error)
            return
        if value is None or value == 0 or value == "":
            self.nulls += value is None
            client = "1.6.0 skips it; 0.73.1 fails at it" if value is None else SKIPPED
            self._place(line, "empty-value", f"a line that is only {line.data[:10].decode(errors='replace')}", client)
            return
        if not isinstance(value, dict):
            if self.version < 2 and not isinstance(value, list):
                self.refusal = f"line {line.number} is no object, and a version 1 file has to be given ids"
            self._remark(
                line, "not-an-object", "a line that is JSON but no object", "as the last line: forgets all history"
            )
            self._add(line, Head(), None, None)
            return
        head = plain_head(value)
        self._add(line, head, identity(value.get("id"), line.number), identity(value.get("parentId"), 0))

    def _broken(self, line: Line, error: BrokenLine) -> None:
        if isinstance(error, TooDeep):
            self._place(line, "broken-line", "nested too deep for this reader", "may read it")
        elif b"\0" in line.data:
            self._place(line, "nul-line", "a line with NUL bytes", CUTS_HISTORY)
        elif not line.end:
            client = "skips it and adds a line end (0.73.1: glues its next entry onto it, and loses that one)"
            self._place(line, "torn-tail", "the last line is incomplete", client)
        else:
            self._place(line, "broken-line", "a line that is no JSON", CUTS_HISTORY)

    def _add(self, line: Line, head: Head, own: str | None, parent: str | None) -> None:
        kind = head.kind or ""
        message = head.message
        role = (message.role or "") if message is not None and kind == "message" else ""
        index = len(self.entries)
        if kind == "session":
            own, parent = None, None
        elif self.version < 2:
            own, parent = f"{index:08x}", self.last.id if self.last else None
        entry = Entry(
            own or f"line:{line.number}",
            index,
            line.number,
            line.offset,
            line.length,
            kind,
            parent,
            seconds(head.timestamp),
            role,
        )
        if index == 0:
            self._first(line, entry)
        self.entries.append(entry)
        if kind == "session":
            if index:
                self._remark(line, "second-header", "a second session header", "ignores it")
            return
        self._note(line, entry, head, own)
        if own is not None:
            self.by_id[entry.id] = entry
        self.last, self.last_named = entry, own is not None

    def _first(self, line: Line, entry: Entry) -> None:
        """Judge the first record: only a header makes a session."""
        value = decode(line.data) if entry.kind == "session" else {}
        if not isinstance(value, dict) or entry.kind != "session":
            self.header_fault = f"the first record (line {line.number}) is no session header"
            self.version = CURRENT_VERSION
            return
        if not isinstance(value.get("id"), str):
            self.header_fault = f"the session header (line {line.number}) has no id that is a text"
            return
        self.header = value
        self.version = stored_version(value.get("version"))
        self.name(value.get("provider"), value.get("modelId"))

    def _note(self, line: Line, entry: Entry, head: Head, own: str | None) -> None:
        """Remember what the whole file tells about models and titles, and remark on what is odd."""
        if entry.kind == "message":
            message = head.message
            if entry.role == "assistant" and message is not None:
                if self.name(message.provider, message.model) and message.api:
                    apis = self.replies if message.api in WIRES else self.other_apis
                    apis[message.provider or "", message.model or ""] = message.api
            elif entry.role == "user" and self.first_user is None:
                self.first_user = entry
            if entry.role not in ROLES:
                self._remark(line, "unknown-role", f"a message of the unknown role {entry.role!r}", "leaves it out")
        elif entry.kind == "session_info":
            self.title_line = entry
        elif entry.kind not in KINDS:
            self._remark(line, "unknown-record", f"a record of the unknown type {entry.kind!r}", "ignores it")
        elif head.provider is not None:
            self.name(head.provider, head.model)
        if own is None:
            self._remark(line, "no-id", "a record without an id", "as the last line: forgets all history")
        elif own in self.by_id:
            first = self.by_id[own].line
            message_ = f"the id {own!r} was used before, in line {first}"
            self._remark(line, "duplicate-id", message_, "lets the last line of an id win")

    def name(self, provider: Any, model: Any) -> bool:
        """Remember that the file names this model; False where it is no proper name."""
        if not (isinstance(provider, str) and isinstance(model, str) and provider and model):
            return False
        self.named.setdefault((provider, model))
        return True

    def _place(self, line: Line, kind: str, message: str, client: str) -> None:
        length = line.length + line.end
        if kind == "blank-line" and self.damage and self.damage[-1].kind == kind:
            before = self.damage[-1]
            if before.offset + before.length == line.offset:
                self.damage[-1] = replace(before, length=before.length + length, message="lines without content")
                return
        self.damage.append(Damage(line.number, line.offset, length, kind, message, client))

    def _remark(self, line: Line, kind: str, message: str, client: str) -> None:
        self.damage.append(Damage(line.number, line.offset, line.length, kind, message, client))


def read_session(
    files: Files, path: Path, leaf: str | None = None, progress: Callable[[int, int], None] | None = None
) -> Session:
    """Open a pi session. Raises OSError, and SeamlineError where `leaf` names no entry."""
    mark = fingerprint(files, path)
    size = files.size(path)
    reading = Reading()
    line, reported = None, 0
    for line in lines(files, path, end=size):
        reading.take(line)
        if progress is not None and line.offset - reported >= READ_SIZE:
            reported = line.offset
            progress(reported, size)
    if progress is not None:
        progress(size, size)
    if line is not None and not line.end and reading.entries and reading.entries[-1].line == line.number:
        client = "adds one (0.73.1: glues its next entry onto the line, and loses both)"
        reading.damage.append(Damage(line.number, size, 0, "no-final-newline", "the last line has no line end", client))
    return _session(files, path, mark, size, reading, leaf)


def _session(files: Files, path: Path, mark: str, size: int, reading: Reading, leaf: str | None) -> Session:
    _judge_file(reading, size)
    for entry in reading.entries:
        if entry.parent is not None and entry.parent not in reading.by_id:
            words = f"the parent {entry.parent!r} of {entry.id!r} is not in the file"
            client = "ends the history there: nothing older is sent"
            reading.damage.append(Damage(entry.line, entry.offset, entry.length, "missing-parent", words, client))
    end = reading.last if reading.last_named else None
    if leaf is not None:
        end = reading.by_id.get(leaf)
        if end is None:
            raise SeamlineError(f"{path}: no entry {leaf!r}: give the id of an entry of this session as the leaf")
    way, refusal = _path(reading, end)
    forgotten = _path(reading, reading.last)[0] if end is None else ()
    known = Detail(
        header=reading.header,
        version=reading.version,
        path=way,
        forgotten=forgotten,
        header_fault=reading.header_fault,
        byte_order_mark=reading.byte_order_mark,
        refusal=reading.refusal or refusal,
        nulls=reading.nulls,
        named=tuple(reading.named),
        replies=reading.replies,
        other_apis=reading.other_apis,
    )
    reading.damage.sort(key=lambda damage: (damage.offset, damage.kind not in PLACES))
    own, cwd = reading.header.get("id"), reading.header.get("cwd")
    origin = reading.header.get("parentSession")
    return Session(
        agent="pi",
        path=path,
        files=files,
        identity=own if isinstance(own, str) else "",
        cwd=cwd if isinstance(cwd, str) else "",
        title=_title(files, path, reading),
        entries=reading.entries,
        damage=reading.damage,
        leaf=end.id if end is not None else None,
        fingerprint=mark,
        detail=known,
        parent=origin if isinstance(origin, str) else "",
    )


def _judge_file(reading: Reading, size: int) -> None:
    """What only the whole file tells: that nothing in it is a record, or that 1.6.0 cannot see its header."""
    entries = reading.entries
    if not entries and size:
        broken = next((damage for damage in reading.damage if damage.kind == "broken-line"), None)
        pretty = broken is not None and len(reading.damage) > 1
        reading.header_fault = "no line of it is a record" + (
            ": it is no JSON Lines file (one record a line)" if pretty else ""
        )
        kind, words = "not-json-lines", "no line of the file is a record"
        if broken is None and all(damage.kind == "blank-line" for damage in reading.damage):
            kind, words = "empty-file", "an empty session: the file holds nothing but white space"
        reading.damage[:] = [Damage(1, 0, size, kind, words, "does not take it for a session")]
    second = entries[1].kind == "session" if len(entries) > 1 else False
    reading.byte_order_mark = reading.byte_order_mark and bool(entries) and entries[0].line == 1 and not second


def _path(reading: Reading, leaf: Entry | None) -> tuple[tuple[Entry, ...], str]:
    """The entries from the root to `leaf`, and why they can not be followed, if so."""
    way: list[Entry] = []
    seen: set[str] = set()
    current = leaf
    while current is not None:
        if current.id in seen:
            words = f"the parents of {current.id!r} (line {current.line}) lead back to itself, without end"
            client = "never comes to an end, fills the memory and dies"
            reading.damage.append(Damage(current.line, current.offset, current.length, "parent-cycle", words, client))
            return (), words
        seen.add(current.id)
        way.append(current)
        current = reading.by_id.get(current.parent) if current.parent is not None else None
    way.reverse()
    return tuple(way), ""


def _title(files: Files, path: Path, reading: Reading) -> str:
    """The session's name (its last one), else the first line of the first message of the user."""
    for entry in (reading.title_line, reading.first_user):
        if entry is None:
            continue
        try:
            value = decode(files.read(path, entry.offset, entry.length))
        except BrokenLine:
            continue
        words = value.get("name") if entry.kind == "session_info" else _first_text(value.get("message"))
        line = words.strip().split("\n", 1)[0][:LONGEST_TITLE] if isinstance(words, str) else ""
        line = line.encode("utf-8", "replace").decode()
        if line:
            return line
    return ""


def _first_text(message: Any) -> Any:
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, list):
        content = next((part.get("text") for part in content if isinstance(part, dict) and part.get("text")), None)
    return content
