"""One pass over a Claude Code session file: entries, damage, the facts of the chain. Contents are skipped, not decoded.

Every byte belongs to one entry (with its line end) or to one damage of a kind in `PLACES`. Blank lines harm nothing,
but they are no entry either: neighbouring ones make one damage of the kind `blank-line`. A line without a uuid, such
as a title or a recorded request, is an entry that is named after its place, `line:7`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec

from core.agents.claude_code.chain import Chain
from core.agents.claude_code.finding import head_of
from core.agents.claude_code.following import follow
from core.agents.claude_code.heads import HEADS, NONE, Head, MessageHead, plain_head, seconds, tool_ids
from core.agents.claude_code.records import CHAIN_KINDS, SIDE_KINDS, Detail, Line
from core.agents.claude_code.remarks import remarks
from core.agents.claude_code.titles import identity_of, title_of
from core.errors import SeamlineError
from core.files import READ_SIZE, Files, fingerprint, holding
from core.jsonl import BYTE_ORDER_MARK, BrokenLine, TooDeep, decode, lines
from core.jsonl import Line as TextLine
from core.session import Damage, Entry, Session

SKIPPED = "skips it"

PLACES = frozenset(
    {"blank-line", "broken-line", "torn-tail", "nul-line", "long-line", "byte-order-mark", "not-an-object"}
)
"""Kinds of damage that stand for bytes of their own; all others are remarks on an entry."""

NO_TOKENS = (0, 0, 0, 0)

TITLES = frozenset({"custom-title", "ai-title", "summary", "last-prompt"})


@dataclass
class Reading:
    """What the pass has gathered so far."""

    entries: list[Entry] = field(default_factory=list[Entry])
    damage: list[Damage] = field(default_factory=list[Damage])
    stored: list[Line] = field(default_factory=list[Line])
    """Every line of the chain, in file order."""
    leaves: list[tuple[Entry, str]] = field(default_factory=list[tuple[Entry, str]])
    """Each last-prompt line and the leaf that it names."""
    titles: dict[str, Entry] = field(default_factory=dict[str, Entry])
    """The last line of each kind that can name the session."""
    first_user: Entry | None = None
    same: dict[str, str] = field(default_factory=dict[str, str])
    """One object for each text that many lines share."""
    cwd: str = ""
    agent: str = ""

    def take(self, line: TextLine) -> None:
        """Make an entry or a damage of one line."""
        if not line.whole:
            self._place(line, "long-line", f"a line of {line.length} bytes", "cannot hold so long a text")
            return
        try:
            head = HEADS.decode(line.data)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            self._take_slowly(line)
            return
        self._add(line, head)

    def _take_slowly(self, line: TextLine) -> None:
        """The same for a line that is blank, whose fields have unusual types, or that is broken."""
        if line.blank:
            self._place(line, "blank-line", "a line without content", SKIPPED)
            return
        if line.offset == 0 and line.data.startswith(BYTE_ORDER_MARK):
            mark, rest = line.divided()
            self._place(mark, "byte-order-mark", "a byte order mark before the first line", "does not mind it")
            self.take(rest)
            return
        try:
            value = decode(line.data)
        except BrokenLine as error:
            self._broken(line, error)
            return
        if isinstance(value, dict):
            self._add(line, plain_head(value))
        else:
            self._place(line, "not-an-object", "a line that is JSON but no object", SKIPPED)

    def _broken(self, line: TextLine, error: BrokenLine) -> None:
        if isinstance(error, TooDeep):
            self._place(line, "broken-line", "nested too deep for this reader", "may read it")
        elif b"\0" in line.data:
            self._place(line, "nul-line", "a line with NUL bytes", SKIPPED)
        elif not line.end:
            self._place(line, "torn-tail", "the last line is incomplete", "skips it, and goes on in a line of its own")
        else:
            self._place(line, "broken-line", "a line that is no JSON", SKIPPED)

    def _add(self, line: TextLine, head: Head) -> None:
        same = self.same.setdefault
        kind = same(head.kind or "", head.kind or "")
        message = head.message if kind in ("user", "assistant") else None
        role = (message.role or "") if message is not None else ""
        entries, parent, moment = self.entries, head.parent or None, head.timestamp
        if parent is not None and entries and entries[-1].id == parent:
            parent = entries[-1].id
        entry = Entry(
            head.own or f"line:{line.number}",
            len(entries),
            line.number,
            line.offset,
            line.length,
            kind,
            parent,
            None if moment is None else seconds(moment),
            same(role, role),
        )
        self.entries.append(entry)
        self.cwd = self.cwd or head.cwd or ""
        if head.own and kind in CHAIN_KINDS:
            self._chain(entry, head, message)
        elif head.own and kind not in SIDE_KINDS:
            words = f"a line of the unknown type {kind!r} in the chain"
            self._remark(line, "unknown-type", words, "does not follow it: what hangs on it has lost its parent")
        elif kind in CHAIN_KINDS:
            self._remark(line, "no-id", f"a line of the type {kind!r} without a uuid", SKIPPED)
        elif kind in TITLES:
            self.titles[kind] = entry
            if kind == "last-prompt" and head.leaf:
                self.leaves.append((entry, head.leaf))

    def _chain(self, entry: Entry, head: Head, message: MessageHead | None) -> None:
        """A line of the chain; `message` is that of a user's line or a reply. Nearly all lines come here."""
        calls = results = NONE
        message_id = model = ""
        tokens, kind, same = NO_TOKENS, entry.kind, self.same.setdefault
        if message is not None:
            calls, results = tool_ids(message)
            message_id = same(message.id or "", message.id or "")
            model = same(message.model or "", message.model or "")
            if message.usage is not None:
                tokens = message.usage.counts()
        self.agent = self.agent or head.agent or ""
        if kind == "user" and self.first_user is None and not (head.meta or results or head.summary):
            self.first_user = entry
        self.stored.append(
            Line(
                entry,
                entry.id,
                bool(head.sidechain),
                same(head.session or "", head.session or ""),
                head.agent or "",
                head.subtype or "",
                kind == "system" and head.subtype == "compact_boundary",
                message_id,
                model,
                calls if kind == "assistant" else NONE,
                results if kind == "user" else NONE,
                tokens,
                bool(head.api_error),
                bool(head.summary),
                head.logical_parent,
            )
        )

    def _place(self, line: TextLine, kind: str, message: str, client: str) -> None:
        length = line.length + line.end
        if kind == "blank-line" and self.damage and self.damage[-1].kind == kind:
            before = self.damage[-1]
            if before.offset + before.length == line.offset:
                self.damage[-1] = replace(before, length=before.length + length, message="lines without content")
                return
        self.damage.append(Damage(line.number, line.offset, length, kind, message, client))

    def _remark(self, line: TextLine, kind: str, message: str, client: str) -> None:
        self.damage.append(Damage(line.number, line.offset, line.length, kind, message, client))


def read_session(
    files: Files, path: Path, leaf: str | None = None, progress: Callable[[int, int], None] | None = None
) -> Session:
    """Read the file once, as it is when reading begins. Raises SeamlineError for an unknown leaf, OSError."""
    with holding(files, path):
        mark = fingerprint(files, path)
        size = files.size(path)
        reading = Reading()
        reported = 0
        for line in lines(files, path, end=size):
            reading.take(line)
            done = line.offset + line.length + line.end
            if progress is not None and done - reported >= READ_SIZE:
                progress(done, size)
                reported = done
        chain = follow(files, path, reading.stored, reading.leaves, size, leaf)
        return _session(files, path, mark, reading, chain, leaf)


def _session(files: Files, path: Path, mark: str, reading: Reading, chain: Chain, leaf: str | None) -> Session:
    if leaf is not None and (chain.leaf is None or chain.leaf.id != leaf):
        raise SeamlineError(f"{path}: no entry {leaf!r}: give the id of an entry of this session as the leaf")
    identity = identity_of(path, reading.stored, reading.agent if chain.subagent else "")
    reading.damage.extend(remarks(reading.stored, reading.leaves, chain, identity))
    reading.damage.sort(key=lambda damage: (damage.offset, damage.kind not in PLACES))
    known = Detail(
        lines=chain.lines,
        links=chain.links,
        path=chain.path,
        stored=tuple(reading.stored),
        boundary=chain.boundary,
        kept=chain.kept,
        subagent=chain.subagent,
        skipped_before=chain.skipped_before,
        warnings=tuple(chain.warnings),
        asked=leaf is not None,
    )
    return Session(
        agent="claude-code",
        path=path,
        files=files,
        identity=identity,
        cwd=reading.cwd,
        title=title_of(files, path, reading.titles, reading.first_user),
        entries=reading.entries,
        damage=reading.damage,
        leaf=chain.leaf.id if chain.leaf is not None else None,
        fingerprint=mark,
        detail=known,
        parent=head_of(files, path)[1] if chain.subagent else "",
    )
