"""The items of a history as grok holds them in memory, before they are put into the words of a request."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Literal

from core.view import Origin, Source

Kind = Literal["system", "user", "assistant", "tool_result", "reasoning", "server_call"]

SUMMARY_PREAMBLE = (
    "This session is being continued from a previous conversation that ran out of context. "
    "The summary below covers the earlier portion of the conversation."
)
"""How the summary of a compaction begins (1.0.41)."""

COMPACTION = "compaction_meta"
AGENT_MESSAGE = frozenset({"agent_message", "parent_agent_message"})

_RUNTIME_BLOCK = re.compile(
    r"<(user_info|project_layout|git_status|fork-context|system-reminder|agent-memory|rules|command-[\w-]*)\b[^>]*>"
    r".*?</\1>",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Picture:
    """An image of a message; its bytes stay in the file."""

    media_type: str = ""
    sha256: str = ""
    size: int = 0
    """Bytes."""
    url_length: int = 0
    """Bytes of the address or the data that stand in its place in a request."""
    fault: str = ""
    """Why grok takes it out; empty where it sends it."""


@dataclass(frozen=True, slots=True)
class Part:
    """A text or an image of a message."""

    source: Source
    text: str = ""
    picture: Picture | None = None
    origin: Origin = "stored"


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call of the assistant."""

    source: Source
    id: str
    name: str
    arguments: str
    """As stored: JSON, or what should be."""


@dataclass(frozen=True, slots=True)
class ServerRun:
    """A tool that the provider's server ran."""

    name: str
    call_id: str
    arguments: dict[str, Any]
    told: str
    """Its words where the wire knows no such item."""


@dataclass(slots=True)
class Message:
    """One item of the history."""

    kind: Kind
    source: Source
    text: str = ""
    """Of a user's message: empty, its texts are parts."""
    parts: list[Part] = field(default_factory=list[Part])
    """The parts of a user's message, or the images of a tool result."""
    calls: list[Call] = field(default_factory=list[Call])
    call_id: str = ""
    encrypted: str = ""
    synthetic: str | None = None
    """Why the program wrote a user's message; None where it does not say so."""
    run: ServerRun | None = None
    origin: Origin = "stored"
    trimmed: bool = False
    """Whether its text is shortened in this request only."""

    @property
    def is_summary(self) -> bool:
        """Whether a user's message is the summary of a compaction."""
        return self.kind == "user" and any(part.text.startswith(SUMMARY_PREAMBLE) for part in self.parts)

    @property
    def is_typed(self) -> bool:
        """Whether a person wrote the message: there is more in it than what the program adds."""
        if self.kind != "user" or self.synthetic is not None or self.is_summary:
            return False
        return any(part.picture is not None or _RUNTIME_BLOCK.sub("", part.text).strip() for part in self.parts)
