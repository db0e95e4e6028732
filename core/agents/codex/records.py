"""What an opened Codex session remembers, and its records decoded in full."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from core.errors import SeamlineError
from core.jsonl import BrokenLine, decode
from core.session import Entry, Session

LINE_TYPES = frozenset(
    {
        "session_meta", "response_item", "compacted", "turn_context", "world_state", "event_msg",
        "token_usage_record", "inter_agent_communication", "inter_agent_communication_metadata",
        "retained_context", "realtime_item", "security_risk_score", "rollout_reference",
    }
)  # fmt: skip
"""Record types that some version of Codex writes; a line of any other type is skipped by 0.171.0."""

DELIVERED = "delivered_message"
"""The kind of an assistant's message that Codex takes for a note of what it told the user: it is never sent again."""

DELIVERY = ("codex:code-mode-delivery:v1:complete", "codex:code-mode-delivery:v1:incomplete:")
"""What such a message is known by: the whole mark, or its beginning."""

SUMMARY_PREFIX = (
    "Another language model started to solve this problem and produced a summary of its thinking process. You also "
    "have access to the state of the tools that were used by that language model. Use this to build on the work that "
    "has already been done and avoid duplicating work. Here is the summary produced by the other language model, use "
    "the information in this summary to assist with your own analysis:"
)
"""How the summary of a compaction begins (0.171.0); a line end and the summary follow."""


@dataclass(frozen=True, slots=True)
class Fact:
    """What the rebuilding of the history must know of a record that is no item."""

    turn: str | None = None
    """The turn's id."""
    rolled_back: int = 0
    """Turns that a `thread_rolled_back` takes back."""
    checkpoint: bool = False
    """Whether a `compacted` holds a complete history."""
    final: bool = False
    """Whether it counts, in a paginated file, whatever is rolled back behind it: it has a window number."""


class Told(msgspec.Struct, frozen=True, gc=False):
    """What a record tells of the tokens of one reply; 0 for what it does not tell."""

    read: int
    """Input, cached or not."""
    cached: int
    written: int
    """Output."""
    total: int
    thread: int | None = None
    """The sum over all replies of the thread; None where the record has none."""


@dataclass(frozen=True)
class Detail:
    """What Codex's own code keeps of an opened session, in `Session.detail`."""

    start: Mapping[str, Any]
    """The payload of the session's own `session_meta`; empty where the file does not begin with one."""
    paginated: bool
    refusal: str = ""
    """Why Codex would not load the session; empty where it would."""
    facts: Mapping[str, Fact] = field(default_factory=dict[str, Fact])
    """Entry → what it tells, for records that are no items."""
    counts: Mapping[str, Told | None] = field(default_factory=dict[str, "Told | None"])
    """Entry → the figures of a `token_count`, None where it has none; a record that is not here must be read again."""
    skipped: frozenset[str] = frozenset()
    """Entries that Codex skips: unknown types, unfit fields."""
    user_turns: frozenset[str] = frozenset()
    """Entries that begin a turn of the user."""
    base: int | None = None
    """Position, up to the leaf, of the checkpoint that the history begins with; None where there is none."""
    models: tuple[Entry, ...] = ()
    """The `turn_context` entries that name a model, in file order."""
    ordinal: int | None = None
    """The last number of the session's own records; None where they have none."""
    own: int = 0
    """Position of the session's own first entry: what stands before it was inherited from the parents of a fork."""


def detail(session: Session) -> Detail:
    """The session's detail, with its type."""
    known: Detail = session.detail
    return known


def record(session: Session, entry: Entry) -> dict[str, Any]:
    """One stored record, decoded. Raises SeamlineError where the bytes have changed since opening."""
    try:
        value = decode(session.raw(entry))
    except BrokenLine as error:
        where = entry.path or session.path
        raise SeamlineError(f"{where}: line {entry.line} is no longer what it was: open the session again") from error
    return value if isinstance(value, dict) else {}


def payload(session: Session, entry: Entry) -> dict[str, Any]:
    """The payload of one stored record; empty where it is no object."""
    found = record(session, entry).get("payload")
    return found if isinstance(found, dict) else {}
