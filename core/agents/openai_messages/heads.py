"""The head of a stored message: the few facts that need no second look, decoded while its content is skipped."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any, Literal, NamedTuple

import msgspec

from core.agents.openai_messages.summaries import START
from core.jsonl import BrokenLine, decode

Wire = Literal["openai-completions", "openai-responses", "anthropic-messages"]
WIRES: tuple[Wire, ...] = ("openai-completions", "openai-responses", "anthropic-messages")

ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function"})
"""Roles of messages in Chat Completions, Responses and Anthropic Messages."""

CALLS = frozenset(
    {
        "function_call",
        "custom_tool_call",
        "web_search_call",
        "file_search_call",
        "code_interpreter_call",
        "computer_call",
        "local_shell_call",
        "shell_call",
        "apply_patch_call",
        "image_generation_call",
        "mcp_call",
        "mcp_approval_request",
        "tool_search_call",
    }
)
"""Responses items that are calls."""

OUTPUTS = frozenset(
    {
        "function_call_output",
        "custom_tool_call_output",
        "computer_call_output",
        "local_shell_call_output",
        "shell_call_output",
        "apply_patch_call_output",
        "mcp_approval_response",
        "tool_search_output",
    }
)
"""Responses items that answer a call."""

COMPACTIONS = frozenset({"compaction", "compaction_summary"})

ITEMS = CALLS | OUTPUTS | COMPACTIONS | {"reasoning", "item_reference", "mcp_list_tools"}
"""Responses items that are no messages."""

_BLOCK = re.compile(
    rb'"type"\s*:\s*"(?:(tool_use|tool_result|thinking|redacted_thinking|server_tool_use)'
    rb'|(input_text|output_text|input_image|input_file)|(image_url|input_audio)|(image)|(compaction))"'
)
"""Types of content parts that belong to one API; inside a JSON string the quotes would be escaped."""

_BLOCK_MARKS = ("anthropic", "responses-part", "chat-part", "anthropic-part", "compaction")


class Head(msgspec.Struct, gc=False):
    """What a message tells of itself."""

    role: str | None = None
    type: str | None = None
    id: str | None = None
    model: str | None = None
    content: msgspec.Raw = msgspec.Raw()
    tool_calls: msgspec.Raw = msgspec.Raw()
    function_call: msgspec.Raw = msgspec.Raw()
    usage: msgspec.Raw = msgspec.Raw()
    tool_call_id: str | None = None
    call_id: str | None = None
    created_at: float | str | None = None
    timestamp: float | str | None = None
    created: float | str | None = None

    @property
    def is_message(self) -> bool:
        """Whether it is something that one of the three APIs would take as an item of a conversation."""
        if self.role in ROLES:
            return any(map(_given, (self.content, self.tool_calls, self.function_call)))
        return self.role is None and self.type in ITEMS

    @property
    def time(self) -> float | None:
        """Seconds since 1970, UTC; None where the message does not tell."""
        for value in (self.timestamp, self.created_at, self.created):
            moment = seconds(value)
            if moment is not None:
                return moment
        return None

    @property
    def marks(self) -> frozenset[str]:
        """What speaks for one of the APIs: `responses`, `chat`, `anthropic`, and weaker ones that end in `-part`.

        And `seamline`, where the content is perhaps a summary of ours.
        """
        marks: set[str] = set()
        if self.type in ITEMS:
            marks.add("responses")
        if self.role in ("tool", "function") or self.tool_call_id is not None:
            marks.add("chat")
        if _given(self.tool_calls) or (_given(self.function_call) and self.type is None):
            marks.add("chat")
        content = bytes(self.content)
        if self.role == "user" and START.encode() in content[:256]:
            marks.add("seamline")
        if content[:1] == b"[":
            for found in _BLOCK.finditer(content):
                marks.update(mark for mark, group in zip(_BLOCK_MARKS, found.groups(), strict=True) if group)
        return frozenset(marks)


def _given(raw: msgspec.Raw) -> bool:
    return len(bytes(raw)) > 0


class Facts(NamedTuple):
    """What is remembered of a message: it holds no bytes of its content."""

    role: str
    type: str
    model: str
    time: float | None
    """Seconds since 1970, UTC."""
    marks: frozenset[str]
    reports_usage: bool


def facts_of(head: Head) -> Facts:
    """The facts of a head that `is_message`."""
    return Facts(head.role or "", head.type or "", head.model or "", head.time, head.marks, _given(head.usage))


_HEADS = msgspec.json.Decoder(Head)


def head_of(data: bytes) -> Head | None:
    """The head of one JSON object; None for another JSON value. Raises BrokenLine where it is no JSON."""
    try:
        return _HEADS.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        value = decode(data)
    return _plain_head(value) if isinstance(value, dict) else None


def _plain_head(value: dict[str, Any]) -> Head:
    """The head of a message whose fields have unusual types, or that only a tolerant decoder reads."""

    def text(name: str) -> str | None:
        found = value.get(name)
        return found if isinstance(found, str) else None

    def raw(name: str) -> msgspec.Raw:
        if name not in value:
            return msgspec.Raw()
        try:
            return msgspec.Raw(msgspec.json.encode(value[name]))
        except (ValueError, TypeError, RecursionError):
            return msgspec.Raw(b"null")

    def moment(name: str) -> float | str | None:
        found = value.get(name)
        return found if isinstance(found, (int, float, str)) and not isinstance(found, bool) else None

    return Head(
        role=text("role"),
        type=text("type"),
        id=text("id"),
        model=text("model"),
        content=raw("content"),
        tool_calls=raw("tool_calls"),
        function_call=raw("function_call"),
        usage=raw("usage"),
        tool_call_id=text("tool_call_id"),
        call_id=text("call_id"),
        created_at=moment("created_at"),
        timestamp=moment("timestamp"),
        created=moment("created"),
    )


def value_of(data: bytes) -> Any:
    """The JSON value in some bytes; None where they hold none."""
    try:
        return decode(data)
    except BrokenLine:
        return None


_MILLISECONDS = 1e11
"""A larger number of seconds would lie beyond the year 5000: it counts milliseconds."""


def seconds(value: float | str | None) -> float | None:
    """Seconds since 1970 of a time as APIs and logs write it; None where it is none."""
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value)
            return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
        except (ValueError, OverflowError, OSError):
            return None
    if value is None or not 0 < value < _MILLISECONDS * 1e3:
        return None
    return value / 1000 if value > _MILLISECONDS else float(value)
