"""pi's records as they are stored: what an opened session remembers, and one record decoded in full."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from core.errors import SeamlineError
from core.jsonl import BrokenLine, decode
from core.session import Entry, Session

CURRENT_VERSION = 3
"""The header version that pi 0.58 to 1.6.0 write; older files are migrated, newer ones taken as they are."""

KINDS = frozenset(
    {
        "message",
        "compaction",
        "branch_summary",
        "custom_message",
        "context_edit",
        "custom",
        "label",
        "session_info",
        "model_change",
        "thinking_level_change",
        "usage",
    }
)
"""Record types that some version of pi knows, beside the header's `session`."""

WIRES = frozenset({"anthropic-messages", "openai-completions", "openai-responses"})
"""The APIs of replies over which a session can be shown to resume."""

ROLES = frozenset(
    {
        "system",
        "user",
        "assistant",
        "toolResult",
        "bashExecution",
        "custom",
        "hookMessage",
        "branchSummary",
        "compactionSummary",
    }
)


@dataclass(frozen=True)
class Detail:
    """What pi's own code keeps of an opened session, in `Session.detail`."""

    header: Mapping[str, Any]
    """The header as stored; empty where the file has none that pi accepts."""
    version: int
    """The header's version as stored; 1 where it names none."""
    path: tuple[Entry, ...]
    """The entries from the root to the leaf."""
    forgotten: tuple[Entry, ...] = ()
    """The path to a last record without an id: 1.6.0 has no leaf then and sends nothing, 0.73.1 still sends it."""
    header_fault: str = ""
    """Why pi 1.6.0 takes the file for no session at all; empty where it loads."""
    byte_order_mark: bool = False
    """Whether the header stands behind a byte order mark on its own line, which only 1.6.0 minds."""
    refusal: str = ""
    """Why no version of pi could send this history, such as a cycle of parents."""
    nulls: int = 0
    """Lines that are just `null`: pi 0.73.1 fails at them."""
    named: tuple[tuple[str, str], ...] = ()
    """Every provider and model that the file names, in order of first mention."""
    replies: Mapping[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    """Provider and model → the API that the file's last reply of that model came over, where it is one of `WIRES`."""
    other_apis: Mapping[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    """The same for all other APIs, which are not modelled."""


def detail(session: Session) -> Detail:
    """The session's detail, with its type."""
    known: Detail = session.detail
    return known


def record(session: Session, entry: Entry) -> dict[str, Any]:
    """One stored record, decoded as JavaScript would and brought to version 3 in memory.

    Empty for a line that is JSON but no object. Raises SeamlineError where the bytes have changed since opening.
    """
    try:
        value = decode(session.raw(entry))
    except BrokenLine as error:
        raise SeamlineError(
            f"{session.path}: line {entry.line} is no longer what it was: open the session again"
        ) from error
    if not isinstance(value, dict):
        return {}
    return migrated(session, entry, value)


def migrated(session: Session, entry: Entry, value: dict[str, Any]) -> dict[str, Any]:
    """`value`, changed in place to what pi makes of it on load (versions 1 and 2)."""
    known = detail(session)
    if entry.kind == "session" or known.version >= CURRENT_VERSION:
        return value
    if known.version < 2:
        value["id"], value["parentId"] = entry.id, entry.parent
        index = value.pop("firstKeptEntryIndex", None) if entry.kind == "compaction" else None
        if isinstance(index, int) and not isinstance(index, bool) and 0 <= index < len(session.entries):
            target = session.entries[index]
            value["firstKeptEntryId"] = None if target.kind == "session" or index > entry.index else target.id
    message = value.get("message")
    if entry.kind == "message" and isinstance(message, dict) and message.get("role") == "hookMessage":
        message["role"] = "custom"
    return value
