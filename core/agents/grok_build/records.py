"""What an opened grok session remembers, and the files that lie in its folder."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.agents.grok_build import shapes
from core.errors import SeamlineError
from core.files import Files
from core.session import Entry, Session

HISTORY, UPDATES, SUMMARY = "chat_history.jsonl", "updates.jsonl", "summary.json"
SIGNALS, EVENTS = "signals.json", "events.jsonl"
SYSTEM_PROMPT, TOOLS = "system_prompt.txt", "tool_definitions.json"

LARGEST_SIDE_FILE = 16 << 20
"""Bytes of a file beside the history that are read at once; a larger one is taken for damaged."""

FORMAT = 1
"""The version of the history's format that is rebuilt where it is missing."""


@dataclass(frozen=True)
class Detail:
    """What grok's own code keeps of an opened session, in `Session.detail`."""

    summary: dict[str, Any]
    """The content of summary.json; empty where there is none."""
    refusal: str
    """Why grok would not load the session; empty where it would."""
    version: int
    """Of the history's format, as summary.json names it."""
    is_rebuilt: bool
    """Whether the history is made from updates.jsonl, in which the entries then stand."""
    skipped: int = 0
    """Lines that grok skips."""
    interrupted: bool = False
    """Whether the last turn did not end: a reminder of it is put before the next prompt."""
    window: int | None = None
    """Tokens, as the client last used it."""
    end: int | None = None
    """Position behind the last entry of the view, where the person chose an earlier one."""


def detail(session: Session) -> Detail:
    """The session's detail, with its type."""
    known: Detail = session.detail
    return known


def value(session: Session, entry: Entry) -> Any:
    """The JSON value of one entry. Raises SeamlineError where the bytes have changed since opening."""
    try:
        return shapes.value_of(session.raw(entry))
    except shapes.FAILURES as error:
        raise SeamlineError(
            f"{session.path}: line {entry.line} is no longer what it was: open the session again"
        ) from error


def history_entries(session: Session) -> Iterator[Entry]:
    """The entries that the view is made of, in file order."""
    yield from session.entries[: detail(session).end]


def json_file(files: Files, path: Path) -> dict[str, Any] | None:
    """The object in a small JSON file; None where there is none, or it is damaged. Raises OSError."""
    if not files.exists(path) or files.size(path) > LARGEST_SIDE_FILE:
        return None
    try:
        found = shapes.value_of(files.read(path, 0, LARGEST_SIDE_FILE))
    except shapes.FAILURES:
        return None
    return found if isinstance(found, dict) else None


def size_of(files: Files, path: Path) -> int | None:
    """The size of a file in bytes; None where there is none."""
    return files.size(path) if files.exists(path) else None
