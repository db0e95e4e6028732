"""Claude Code's lines as they are stored: what an opened session remembers, and one line decoded in full."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import msgspec

from core.errors import SeamlineError
from core.jsonl import BrokenLine, decode
from core.session import Entry, Session

CHAIN_KINDS = frozenset({"user", "assistant", "attachment", "system", "progress"})
"""Types of lines that the client follows from child to parent; any other type with a uuid breaks the chain."""

SIDE_KINDS = frozenset(
    {
        "last-prompt",
        "queue-operation",
        "mode",
        "permission-mode",
        "atis-latch",
        "tools-used",
        "cost-state",
        "api-request",
        "api-request-shape",
        "api-request-blob",
        "summary",
        "custom-title",
        "ai-title",
        "agent-name",
        "agent-color",
        "agent-setting",
        "pr-link",
        "tag",
        "file-history-snapshot",
        "attribution-snapshot",
        "content-replacement",
        "marble-origami-commit",
        "marble-origami-snapshot",
        "worktree-state",
        "result",
    }
)
"""Types of lines beside the chain, of which the model never gets anything."""


class Line(msgspec.Struct, frozen=True, gc=False, eq=False):
    """What of one line of the chain decides the view, without its texts. One of each line is held: it is small."""

    entry: Entry
    id: str
    sidechain: bool = False
    session: str = ""
    """The session id that stands on the line; the client does not look at it."""
    agent: str = ""
    """The sub-agent's id, on the lines of a sub-agent."""
    subtype: str = ""
    boundary: bool = False
    """Whether it is a compaction."""
    message_id: str = ""
    model: str = ""
    calls: tuple[str, ...] = ()
    """Ids of the tool calls in it."""
    results: tuple[str, ...] = ()
    """Ids of the calls that its results answer."""
    tokens: tuple[int, int, int, int] = (0, 0, 0, 0)
    """The provider's figures on a reply: input that no cache had, written to it, read from it; output."""
    api_error: bool = False
    summary: bool = False
    logical_parent: str | None = None


@dataclass(frozen=True)
class Detail:
    """What Claude Code's own code keeps of an opened session, in `Session.detail`."""

    lines: Mapping[str, Line]
    """Lines of the chain by uuid, but for reports of progress: of one uuid the last, at the place of the first."""
    links: Mapping[str, str | None]
    """Lines that only report progress, and the line above them that does not."""
    path: tuple[Line, ...]
    """The lines that the client takes for the conversation, oldest first, sidelong results included."""
    stored: tuple[Line, ...]
    """Every line of the chain in file order, also those that a later one of the same uuid replaces."""
    boundary: Line | None = None
    """The last compaction in the file."""
    kept: tuple[str, ...] = ()
    """The lines that it keeps, in their new order; empty where it keeps none."""
    subagent: bool = False
    """Whether the conversation is that of a sub-agent: in its own file, or chosen by its leaf."""
    skipped_before: int = 0
    """Bytes before the last boundary that a client would not read, as the file is so large; else 0."""
    warnings: tuple[str, ...] = ()
    asked: bool = False
    """Whether a person chose where the conversation ends."""

    @cached_property
    def past(self) -> tuple[Line, ...]:
        """The lines of `core.agents.claude_code.past`, worked out once: usage, leaves and history ask for them."""
        from core.agents.claude_code.past import past_of

        return past_of(self)


def detail(session: Session) -> Detail:
    """The session's detail, with its type."""
    known: Detail = session.detail
    return known


def record(session: Session, entry: Entry) -> dict[str, Any]:
    """One stored line, decoded as JavaScript would.

    Raises SeamlineError where the bytes have changed since opening.
    """
    try:
        value = decode(session.raw(entry))
    except BrokenLine as error:
        raise SeamlineError(
            f"{session.path}: line {entry.line} is no longer what it was: open the session again"
        ) from error
    return value if isinstance(value, dict) else {}
