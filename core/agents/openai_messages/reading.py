"""Opens a file of messages: entries with their exact places, damage, and what the view is made of."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from core.agents.openai_messages.heads import ITEMS, Facts, Wire, value_of
from core.agents.openai_messages.layout import Parted, part
from core.agents.openai_messages.records import SERVER_FIELDS, SYSTEM_FIELDS, TOOL_FIELDS, Detail
from core.agents.openai_messages.scanning import QUOTE, Scanner
from core.agents.openai_messages.walking import DIGEST, Piece, between
from core.agents.protocol import Progress
from core.errors import SeamlineError
from core.files import Files, fingerprint, holding, stream
from core.session import Damage, Entry, Session

AGENT_NAME = "openai-messages"

PLACES = frozenset({"broken-message", "broken-line", "torn-tail", "not-a-message"})
"""Damage that stands in the place of an entry."""

NAMED_FIELDS = frozenset(
    {*SYSTEM_FIELDS, *TOOL_FIELDS, *SERVER_FIELDS, "model", "usage", "input", "context_management", "metadata", "id"}
)
"""Members beside the messages that are record types of their own; all others are `field`."""

IDENTITIES = ("session_id", "conversation_id", "thread_id", "id")

PART_OF: dict[str, Wire] = {
    "responses-part": "openai-responses",
    "chat-part": "openai-completions",
    "anthropic-part": "anthropic-messages",
}
"""Content parts that one API alone has → that API."""

LONGEST_TITLE = 200

SMALL = 1 << 20
"""Bytes of a member that is looked into when the file is opened."""


@dataclass
class _Reading:
    """What one pass over the pieces gathers."""

    files: Files
    path: Path
    parted: Parted
    size: int
    entries: list[Entry] = field(default_factory=list[Entry])
    damage: list[Damage] = field(default_factory=list[Damage])
    facts: dict[str, Facts] = field(default_factory=dict[str, Facts])
    fields: dict[str, Entry] = field(default_factory=dict[str, Entry])
    values: dict[str, int] = field(default_factory=dict[str, int])
    sides: dict[str, str] = field(default_factory=dict[str, str])
    """Entry → the side that it stands on."""
    messages: int = 0
    line: int = 1
    counted: int = 0
    """Bytes whose line ends are counted in `line`."""

    def line_at(self, position: int) -> int:
        """The physical line of a position that is not before the last one asked for."""
        for block in stream(self.files, self.path, self.counted, position):
            self.line += block.count(b"\n")
        self.counted = max(self.counted, position)
        return self.line

    def add(self, piece: Piece) -> None:
        line = self.line_at(piece.start)
        length = piece.end - piece.start
        if piece.kind in ("broken", "torn", "no-message"):
            self.damage.append(_damage(piece, line, self.parted.layout))
            return
        if piece.kind == "message" and piece.facts is not None:
            own, kind, role = f"{self.messages}-{piece.digest}", _kind(piece.facts), role_of(piece.facts)
            self.messages += 1
            self.facts[own] = piece.facts
        elif piece.kind == "field":
            own, kind, role = self._named(piece)
        else:
            own = self.parted.others.get(piece.start) or f"line-{line}-{piece.digest}"
            kind, role = ("other" if piece.kind == "other" else _line_kind(self.parted)), ""
        time = piece.facts.time if piece.facts is not None else None
        entry = Entry(own, len(self.entries), line, piece.start, length, kind, time=time, role=role)
        self.entries.append(entry)
        self.sides[own] = piece.side
        if piece.kind == "field":
            self.values[own] = piece.value
            if piece.name not in self.fields or self.sides[self.fields[piece.name].id] == "response":
                self.fields[piece.name] = entry

    def _named(self, piece: Piece) -> tuple[str, str, str]:
        """Id, kind and role of a member beside the messages."""
        whole = hashlib.blake2b(digest_size=DIGEST)
        for block in stream(self.files, self.path, piece.start, piece.end):
            whole.update(block)
        kind = piece.name if piece.name in NAMED_FIELDS else "field"
        role = "system" if kind in SYSTEM_FIELDS else ""
        if kind == "input" and self.files.read(self.path, piece.value, 1)[:1] == bytes([QUOTE]):
            role = "user"
        return f"field-{len(self.entries)}-{whole.hexdigest()}", kind, role

    def add_structure(self, start: int, end: int) -> None:
        own = f"structure-{len(self.entries)}"
        self.entries.append(Entry(own, len(self.entries), self.line_at(start), start, end - start, "structure"))


def read_session(files: Files, path: Path, leaf: str | None = None, progress: Progress | None = None) -> Session:
    """Open a file as it is now. Raises OSError, and SeamlineError where there is no such leaf."""
    with holding(files, path):
        mark = fingerprint(files, path)
        size = files.size(path)
        reading = _Reading(files, path, part(files, path, size, leaf, progress), size)
        _gather(reading)
        return _session(reading, mark, leaf)


def _gather(reading: _Reading) -> None:
    """Entries and damage in the order of the file, structure between them included."""
    pieces = reading.parted.pieces
    gaps = iter(between(Scanner(reading.files, reading.path, 0, reading.size), pieces))
    gap = next(gaps, None)
    for piece in pieces:
        if gap is not None and gap[0] < piece.start:
            reading.add_structure(*gap)
            gap = next(gaps, None)
        reading.add(piece)
    if gap is not None:
        reading.add_structure(*gap)
    if not reading.parted.closed and not any(damage.kind == "torn-tail" for damage in reading.damage):
        words = "the file ends before its list of messages does"
        client = "no JSON reader takes the file: it is read here as far as it goes"
        reading.damage.append(Damage(reading.line_at(reading.size), reading.size, 0, "unclosed", words, client))


def _kind(facts: Facts) -> str:
    return facts.type if facts.type in ITEMS else "message"


def role_of(facts: Facts) -> str:
    """The role of a message; of a Responses item that is none, the one that it speaks for."""
    if facts.role:
        return facts.role
    return "tool" if facts.type.endswith(("_output", "_response")) else "assistant"


def _line_kind(parted: Parted) -> str:
    return "request" if parted.layout == "log" else "conversation"


def _damage(piece: Piece, line: int, layout: str) -> Damage:
    length = piece.end - piece.start
    if piece.kind == "torn":
        words, client = "the file breaks off in the middle of it", "can't be read back: what is left of it is lost"
        return Damage(line, piece.start, length, "torn-tail", words, client)
    if piece.kind == "no-message":
        words = "a value that is no message: it has no role, or no content"
        return Damage(line, piece.start, length, "not-a-message", words, "the API refuses the request (400)")
    kind = "broken-message" if layout == "document" else "broken-line"
    words = "not valid JSON"
    client = "no JSON reader takes the file" if layout == "document" else "a program that reads the line fails at it"
    return Damage(line, piece.start, length, kind, words, f"{client}: it is left out here")


def _session(reading: _Reading, mark: str, leaf: str | None) -> Session:
    parted, path = reading.parted, reading.path
    way = _path(reading)
    if leaf is not None and not any(leaf in (line.entry, f"line-{line.number}") for line in parted.lines):
        way = _up_to(way, leaf, path)
    marks = Counter(mark for entry in way if entry.id in reading.facts for mark in reading.facts[entry.id].marks)
    wire, reason = _wire(marks, parted, reading)
    refusal = ""
    if parted.lines and parted.shown is None:
        first = parted.lines[0].number
        refusal = f"holds {len(parted.lines)} conversations, one a line: choose one with --leaf, such as line-{first}"
    known = Detail(
        layout=parted.layout,
        wire=wire,
        wire_reason=reason,
        path=way,
        facts=reading.facts,
        fields=reading.fields,
        values=reading.values,
        lines=tuple(parted.lines),
        shown=parted.shown,
        mixed=sum(marks[api] > 0 for api in ("responses", "chat", "anthropic")) > 1,
        refusal=refusal,
    )
    reading.damage.sort(key=lambda damage: damage.offset)
    return Session(
        agent=AGENT_NAME,
        path=path,
        files=reading.files,
        identity=_identity(reading),
        cwd="",
        title=_title(reading, way),
        entries=reading.entries,
        damage=reading.damage,
        leaf=way[-1].id if way else None,
        fingerprint=mark,
        detail=known,
    )


def _path(reading: _Reading) -> tuple[Entry, ...]:
    """What the next request would hold, in its order: the system prompt, the history, then the reply to it."""
    system = [reading.fields[name] for name in SYSTEM_FIELDS if name in reading.fields][:1]
    given = reading.fields.get("input")
    asked = [given] if given is not None and given.role == "user" else []
    messages = [entry for entry in reading.entries if entry.id in reading.facts]
    request = [entry for entry in messages if reading.sides[entry.id] == "request"]
    reply = [entry for entry in messages if reading.sides[entry.id] == "response"]
    return (*system, *asked, *request, *reply)


def _up_to(way: tuple[Entry, ...], leaf: str, path: Path) -> tuple[Entry, ...]:
    for at, entry in enumerate(way):
        if entry.id == leaf:
            return way[: at + 1]
    raise SeamlineError(
        f"{path}: no message {leaf!r}: give the id of a message, or line-N for a line that holds a conversation"
    )


def _wire(marks: Counter[str], parted: Parted, reading: _Reading) -> tuple[Wire, str]:
    """Which API the messages are made for, and what tells it."""
    fields = reading.fields
    if marks["responses"]:
        return "openai-responses", "the file holds Responses items"
    if "instructions" in fields or parted.lists & {"input", "output"} or fields.get("input") is not None:
        return "openai-responses", "the file has the members of a Responses request"
    if marks["chat"]:
        return "openai-completions", "the file holds tool calls of Chat Completions"
    if marks["anthropic"] or "system" in fields:
        return "anthropic-messages", "the file holds blocks or the system prompt of Anthropic Messages"
    for mark, wire in PART_OF.items():
        if marks[mark]:
            return wire, "the file holds content parts of this API"
    return "openai-completions", "assumed: the file holds only text, which every API takes"


def _identity(reading: _Reading) -> str:
    for name in IDENTITIES:
        value = _small(reading, name)
        if isinstance(value, str) and value:
            return value
    return ""


def _small(reading: _Reading, name: str) -> Any:
    entry = reading.fields.get(name)
    if entry is None or entry.length > SMALL:
        return None
    end = entry.offset + entry.length
    start = reading.values[entry.id]
    return value_of(reading.files.read(reading.path, start, end - start))


def _title(reading: _Reading, way: tuple[Entry, ...]) -> str:
    """The first line of the first message of the user."""
    for entry in way:
        if entry.role != "user":
            continue
        start = reading.values.get(entry.id, entry.offset)
        value = value_of(reading.files.read(reading.path, start, entry.offset + entry.length - start))
        content = value.get("content") if isinstance(value, dict) else value
        if isinstance(content, list):
            texts = (part.get("text") for part in content if isinstance(part, dict))
            content = next((text for text in texts if isinstance(text, str) and text.strip()), None)
        if isinstance(content, str) and content.strip():
            line = content.strip().split("\n", 1)[0][:LONGEST_TITLE]
            return line.encode("utf-8", "replace").decode()
    return ""
