"""Opens a session: one pass over its history, which keeps where each item stands and small facts of it."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from core.agents.grok_build import shapes
from core.agents.grok_build.detecting import is_empty
from core.agents.grok_build.images import picture
from core.agents.grok_build.records import (
    EVENTS,
    FORMAT,
    HISTORY,
    SIGNALS,
    SUMMARY,
    UPDATES,
    Detail,
    json_file,
    size_of,
)
from core.errors import SeamlineError
from core.files import READ_SIZE, Files, fingerprint, holding
from core.jsonl import Line, lines
from core.session import Damage, Entry, Session

LONGEST_TITLE = 200

END_OF_EVENTS = 1 << 16
"""Bytes at the end of events.jsonl in which its last record is looked for."""

ROLES = {
    "system": "system",
    "user": "user",
    "assistant": "assistant",
    "tool_result": "tool",
    "reasoning": "assistant",
    "backend_tool_call": "assistant",
}


class _Info(msgspec.Struct):
    id: str
    cwd: str


class _Summary(msgspec.Struct):
    """What summary.json must hold, and of which type the rest must be."""

    info: _Info
    session_summary: str
    created_at: str
    updated_at: str
    num_messages: shapes.Unsigned
    current_model_id: str
    num_chat_messages: shapes.Unsigned = 0
    parent_session_id: str | None = None
    forked_at: str | None = None
    next_trace_turn: shapes.Unsigned = 0
    chat_format_version: int = 0
    session_kind: str | None = None
    request_id: str | None = None
    last_active_at: str | None = None
    generated_title: str | None = None
    agent_name: str | None = None
    sandbox_profile: str | None = None
    cwd_generation: shapes.Unsigned = 0
    cwd_switch_bookkeeping_generation: shapes.Unsigned = 0
    previous_cwd: str | None = None
    collection_id: str | None = None
    prompt_display_cwd: str | None = None
    fork_context_source: str | None = None
    fork_parent_prompt_id: str | None = None
    inherited_prefix_len: shapes.Unsigned | None = None
    hidden: bool | None = None
    source_workspace_dir: str | None = None
    git_root_dir: str | None = None
    git_remotes: list[str] = []
    head_commit: str | None = None
    head_branch: str | None = None
    grok_home: str | None = None
    title_is_manual: bool = False
    worktree_label: str | None = None
    reasoning_effort: str | None = None
    last_turn_summary: str | None = None
    last_turn_summary_prompt_id: str | None = None
    last_recap: str | None = None


@dataclass
class _Reading:
    """What is gathered while lines pass by."""

    version: int
    is_updates: bool
    """Whether the lines are updates, not items."""
    path: Path | None
    """The file of the entries, where it is not the session's own."""
    entries: list[Entry] = field(default_factory=list[Entry])
    damage: list[Damage] = field(default_factory=list[Damage])
    skipped: int = 0

    def take(self, line: Line) -> None:
        """One physical line: an entry, or a place that grok skips."""
        if not line.data.strip(b" \t\n\f\r") and line.whole:
            self._blank(line)
            return
        try:
            stored = shapes.value_of(line.data) if line.whole else None
            kind, role, time = self._update(stored) if self.is_updates else self._item(line, stored)
        except shapes.FAILURES as error:
            self.skipped += 1
            torn = not line.end
            self._place(line, "torn-tail" if torn else "broken-line", f"grok can't read it: {error}", "skips the line")
            return
        identity = f"{line.number}-{zlib.crc32(line.data):08x}"
        entry = Entry(
            identity, len(self.entries), line.number, line.offset, line.length, kind, None, time, role, self.path
        )
        self.entries.append(entry)

    def _item(self, line: Line, stored: Any) -> tuple[str, str, float | None]:
        if not isinstance(stored, dict):
            raise msgspec.ValidationError("it is no object")
        found = shapes.item(stored, self.version)
        if isinstance(found, shapes.RoleMessage):
            return "message", found.role, None
        self._remark(line, found)
        kind = str(type(found).__struct_config__.tag)
        return kind, ROLES[kind], None

    def _update(self, stored: Any) -> tuple[str, str, float | None]:
        update = stored["params"]["update"] if _is_update(stored) else None
        if update is None:
            raise msgspec.ValidationError("it is no update")
        time = stored.get("timestamp")
        kind = update["sessionUpdate"]
        role = "user" if kind == "user_message_chunk" else "assistant" if kind.startswith("agent_") else ""
        return kind, role, float(time) if isinstance(time, (int, float)) else None

    def _remark(self, line: Line, found: shapes.TaggedItem) -> None:
        """Say what grok takes out of an item when it loads it."""
        parts = found.content if isinstance(found, shapes.User) else []
        parts = found.images if isinstance(found, shapes.ToolResult) else parts
        for part in parts:
            fault = picture(part.url).fault if isinstance(part, shapes.Image) else ""
            if fault:
                client = "puts a text in its place" if isinstance(found, shapes.User) else "drops the image"
                self._note(line, "invalid-image", f"an image that is not sent: {fault}", client)
        for call in found.tool_calls if isinstance(found, shapes.Assistant) else ():
            if not _is_json(call.arguments):
                words = f"the arguments of call {call.id!r} are no JSON"
                self._note(line, "broken-arguments", words, "sends {} in their place; the file keeps them")

    def _blank(self, line: Line) -> None:
        length, before = line.length + line.end, self.damage[-1] if self.damage else None
        if before is not None and before.kind == "blank-line" and before.offset + before.length == line.offset:
            self.damage[-1] = replace(before, length=before.length + length, message="lines without content")
            return
        self._place(line, "blank-line", "a line without content", "skips the line")

    def _place(self, line: Line, kind: str, message: str, client: str) -> None:
        if self.path is None:
            self.damage.append(Damage(line.number, line.offset, line.length + line.end, kind, message, client))

    def _note(self, line: Line, kind: str, message: str, client: str) -> None:
        self.damage.append(Damage(line.number, line.offset, line.length, kind, message, client))


def _is_update(stored: Any) -> bool:
    params = stored.get("params") if isinstance(stored, dict) else None
    update = params.get("update") if isinstance(params, dict) else None
    return isinstance(update, dict) and isinstance(update.get("sessionUpdate"), str)


def _is_json(text: str) -> bool:
    try:
        shapes.value_of(text.encode())
    except shapes.FAILURES:
        return False
    return True


def read_session(
    files: Files, path: Path, leaf: str | None = None, progress: Callable[[int, int], None] | None = None
) -> Session:
    """Open the session that `path` is the history of. Raises OSError, and SeamlineError where `leaf` names no entry."""
    folder = path.parent
    with holding(files, path):
        mark = fingerprint(files, path)
        summary = json_file(files, folder / SUMMARY) or {}
        version = _whole(summary.get("chat_format_version")) or 0
        source, is_rebuilt = _source(files, path, version)
        reading = _Reading(version, is_rebuilt or path.name == UPDATES, None if source == path else source)
        if path.name == SUMMARY:
            reading.entries.append(Entry("summary", 0, 1, 0, files.size(path), "summary"))
        elif source is not None:
            _read(files, source, reading, progress)
    refusal = _refusal(files, folder, summary)
    signals = json_file(files, folder / SIGNALS) or {}
    end = None if leaf is None else _position(reading, leaf, path)
    known = Detail(
        summary,
        refusal,
        version,
        is_rebuilt,
        reading.skipped,
        _is_interrupted(files, folder / EVENTS, summary),
        _whole(signals.get("contextWindowTokens")),
        end,
    )
    return _session(files, path, mark, reading, known)


def _source(files: Files, path: Path, version: int) -> tuple[Path | None, bool]:
    """The file that the entries stand in, and whether a history is made from them."""
    if path.name == UPDATES:
        return path, version == FORMAT
    if path.name == SUMMARY or not is_empty(files, path):
        return path, False
    updates = path.parent / UPDATES
    is_rebuilt = path.name == HISTORY and version == FORMAT and bool(size_of(files, updates))
    return (updates, True) if is_rebuilt else (path, False)


def _read(files: Files, path: Path, reading: _Reading, progress: Callable[[int, int], None] | None) -> None:
    size, reported = files.size(path), 0
    line = None
    for line in lines(files, path, end=size):
        reading.take(line)
        if progress is not None and line.offset - reported >= READ_SIZE:
            reported = line.offset
            progress(reported, size)
    if progress is not None:
        progress(size, size)
    if line is not None and not line.end and reading.entries and reading.entries[-1].line == line.number:
        client = "takes it as it is, and ends the line before it goes on"
        reading.damage.append(Damage(line.number, size, 0, "no-final-newline", "the last line has no line end", client))


def _position(reading: _Reading, leaf: str, path: Path) -> int:
    for entry in reading.entries:
        if entry.id == leaf:
            return entry.index + 1
    raise SeamlineError(f"{path}: no entry {leaf!r}: give the id of an entry of this session as the leaf")


def _refusal(files: Files, folder: Path, summary: dict[str, Any]) -> str:
    """Why grok would not load the session."""
    if not files.exists(folder / SUMMARY):
        return f"{SUMMARY} is missing beside it, so grok does not find the session"
    try:
        found = msgspec.convert(summary, _Summary)
        if not 0 <= found.chat_format_version < 256:
            raise ValueError("chat_format_version is out of range")
        if not shapes.is_effort(found.reasoning_effort):
            raise ValueError("an unknown reasoning_effort")
        for time in (found.created_at, found.updated_at, found.forked_at, found.last_active_at):
            if time is not None and datetime.fromisoformat(time).tzinfo is None:
                raise ValueError("a time has no zone")
    except (msgspec.ValidationError, ValueError) as error:
        return f"{SUMMARY} is not what grok expects ({error}): to grok the session does not exist"
    return ""


def _is_interrupted(files: Files, events: Path, summary: dict[str, Any]) -> bool:
    """Whether the last event is the start of the turn that comes next by the summary."""
    size = size_of(files, events)
    if not size or not isinstance(summary.get("request_id"), str) or "next_trace_turn" not in summary:
        return False
    tail = files.read(events, max(0, size - END_OF_EVENTS), END_OF_EVENTS)
    for line in reversed(tail.split(b"\n")):
        try:
            last = shapes.value_of(line)
        except shapes.FAILURES:
            continue
        if isinstance(last, dict) and last.get("type") in ("turn_started", "turn_ended"):
            return last["type"] == "turn_started" and last.get("turn_number") == summary["next_trace_turn"]
    return False


def _whole(found: Any) -> int | None:
    return found if isinstance(found, int) and not isinstance(found, bool) and found > 0 else None


def _session(files: Files, path: Path, mark: str, reading: _Reading, known: Detail) -> Session:
    info = known.summary.get("info")
    info = info if isinstance(info, dict) else {}
    shown = reading.entries[: known.end]
    reading.damage.sort(key=lambda damage: damage.offset)
    return Session(
        agent="grok-build",
        path=path,
        files=files,
        identity=_text(info.get("id")) or path.parent.name,
        cwd=_text(info.get("cwd")),
        title=_title(known.summary),
        entries=reading.entries,
        damage=reading.damage,
        leaf=shown[-1].id if shown else None,
        fingerprint=mark,
        detail=known,
        parent=_text(known.summary.get("parent_session_id")),
        updated=_moment(known.summary.get("updated_at")),
    )


def _moment(value: Any) -> float | None:
    try:
        return datetime.fromisoformat(_text(value)).timestamp()
    except (ValueError, OverflowError, OSError):
        return None


def _title(summary: dict[str, Any]) -> str:
    text = _text(summary.get("generated_title")) or _text(summary.get("session_summary"))
    return text.strip().split("\n", 1)[0][:LONGEST_TITLE]


def _text(found: Any) -> str:
    return found if isinstance(found, str) else ""
