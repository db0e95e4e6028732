"""What an opened dsh session remembers, and its events decoded in full."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from core.agents.dsh.frames import Frames
from core.errors import SeamlineError
from core.jsonl import BrokenLine, decode
from core.session import Entry, Session
from core.view import Sight

HEADER = "header"
"""The id of the entry that the header is."""

PACKED = frozenset({"text-chunks", "reasoning-chunks", "tool-call-chunks"})
"""Rows that stand for several events of a stream."""

SURFACE = frozenset({"user/message", "assistant/message", "tool/result"})
"""Events that the model sees."""

KNOWN = frozenset(
    {
        "agent-preset/selected", "agent/inbox/spliced", "approval/asked", "approval/decided", "approval/policy",
        "assistant/chunk", "assistant/message", "command/done", "command/run", "compaction/end", "compaction/prune",
        "compaction/start", "compaction/summary", "feedback/record", "goal/change", "hook/invoked", "hook/result",
        "llm/retry", "llm/retry-started", "permission/preset", "plan/mode", "request/context", "request/header",
        "sandbox/mode", "schedule/change", "session/end-seed", "session/title", "session/title-llm-request",
        "step/end", "step/start", "subagent/descriptor", "team/member", "team/message/delivered",
        "team/message/queued", "team/task", "todo/write", "tool-workflow/agent-end", "tool-workflow/agent-start",
        "tool-workflow/run-end", "tool-workflow/run-start", "tool/call", "tool/code-dispatch",
        "tool/code-dispatch-start", "tool/result", "turn/end", "turn/start", "user/message",
        "web/deepseek-search-llm-request",
    }
)  # fmt: skip
"""The types that 0.1.0-rc.8 knows; of any other it refuses the session, unless the event is marked ignorable."""

COMPACTOR = "compact"
"""The plugin that writes checkpoints."""

SNAPSHOT = "@deepseek-ai/dsh-system-prompt"
"""The plugin that writes the runtime context."""

INSTRUCTIONS = "agent-instructions"
"""The source of the rules for a folder (AGENTS.md), which dsh gives as long as they stand there."""

OURS = "seamline/commit"
"""The record that a commit puts before its events. It is marked ignorable: dsh keeps it and makes nothing of it."""


@dataclass(frozen=True, slots=True)
class Unanswered:
    """A call of an open turn that dsh answers itself when it resumes."""

    call_id: str
    entry: str
    """The message that made the call."""
    started: bool
    """Whether dsh recorded that it began to carry it out."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A message in the stored inbox."""

    entry: str
    position: int
    """Among the messages that the entry put in."""


@dataclass(frozen=True, slots=True)
class Left:
    """How a message left the surface."""

    by: str
    """The entry that stands there instead."""
    sight: Sight


@dataclass(frozen=True)
class Detail:
    """What dsh's own code keeps of an opened session, in `Session.detail`."""

    header: Mapping[str, Any]
    refusal: str = ""
    """Why dsh would not load the session; empty where it would."""
    surface: tuple[str, ...] = ()
    """The entries that the model sees, in the order in which they are sent."""
    past: tuple[str, ...] = ()
    """All entries that were ever sent; what left stands where it stood, before what came in its place."""
    left: Mapping[str, Left] = field(default_factory=dict[str, Left])
    seqs: Mapping[str, int] = field(default_factory=dict[str, int])
    """Entries that were ever sent → their place in the log."""
    unanswered: tuple[Unanswered, ...] = ()
    is_open: bool = False
    """Whether the last turn has no end."""
    next_step: tuple[Waiting, ...] = ()
    next_turn: tuple[Waiting, ...] = ()
    checkpoints: tuple[str, ...] = ()
    """The checkpoints that were ever put in place, in file order."""
    summaries: Mapping[str, str] = field(default_factory=dict[str, str])
    """Checkpoint → the entry of its `compaction/summary`, where one stands before it."""
    replaced_at: int = -1
    """The place in the log of the last event that replaced something on the surface."""
    header_entry: str | None = None
    """The last `request/header`."""
    context_entry: str | None = None
    """The last `request/context`."""
    usage_chunks: tuple[str, ...] = ()
    """The stream events in which the provider reported figures."""
    seeded: int = 0
    """Events that a fork has copied from its parent: all before this place in the log."""
    ours: frozenset[str] = frozenset()
    """Those of the checkpoints that we made."""
    last_turn: int = 0
    """The number of the last turn that was begun."""
    next_seq: int = 0
    """The place in the log of the event behind the view's end."""
    end: int = 0
    """Where the row at the view's end ends, in bytes of the content."""
    whole: bool = True
    """Whether nothing stands behind that: no later event, and no beginning of an append."""
    frames: Frames | None = None
    """The frames of a compressed log."""


def detail(session: Session) -> Detail:
    """The session's detail, with its type."""
    known: Detail = session.detail
    return known


def record(session: Session, entry: Entry) -> dict[str, Any]:
    """One stored row, decoded. Raises SeamlineError where the bytes have changed since opening."""
    try:
        value = decode(session.raw(entry))
    except BrokenLine as error:
        raise SeamlineError(
            f"{session.path}: line {entry.line} is no longer what it was: open the session again"
        ) from error
    return value if isinstance(value, dict) else {}


def data_of(session: Session, entry_id: str) -> dict[str, Any]:
    """The `data` of a stored event; empty where it is no object or there is no such entry."""
    entry = session.entry(entry_id)
    found = record(session, entry).get("data") if entry is not None else None
    return found if isinstance(found, dict) else {}


def message_of(session: Session, entry_id: str) -> tuple[str, dict[str, Any]]:
    """A surface event's type and its message in today's shape."""
    from core.agents.dsh.legacy import migrated

    entry = session.entry(entry_id)
    stored = record(session, entry) if entry is not None else {}
    kind, data = migrated(str(stored.get("type")), entry_seq(session, entry_id), stored.get("data"), session.identity)
    record_of = data if isinstance(data, dict) else {}
    found: Any = record_of if kind == "user/message" else record_of.get("message")
    return kind, found if isinstance(found, dict) else {}


def entry_seq(session: Session, entry_id: str) -> int:
    """The place in the log of an entry that was ever sent; -1 of any other."""
    return detail(session).seqs.get(entry_id, -1)
