"""The records that make up nearly all of a rollout, exactly as the client writes them, checked in a single step.

A line that fits has nothing else in it: only known fields, none of them nested deeply, every text in UTF-8. So it needs
no further look, and is decoded once. Whatever does not fit is no fault: it is read the long way, by `decoding`.
"""

# ruff: noqa: D101  (the shapes are named as the format names them)

from __future__ import annotations

from datetime import datetime

import msgspec

from core.agents.codex import shapes
from core.agents.codex.records import Told
from core.agents.codex.shapes import Unsigned

Plain = None | bool | int | float | str


class Passthrough(shapes.Passthrough, gc=False, forbid_unknown_fields=True):
    content_item_kinds: list[str] | None = None
    content_item_metadata: list[dict[str, dict[str, Plain]]] | None = None


class InputText(shapes.InputText, tag="input_text", gc=False, forbid_unknown_fields=True):
    pass


class OutputText(shapes.OutputText, tag="output_text", gc=False, forbid_unknown_fields=True):
    annotations: list[None] | None = None  # type: ignore[assignment]  # an empty list, then: nothing nested
    logprobs: list[None] | None = None  # type: ignore[assignment]


class SummaryText(shapes.SummaryText, tag="summary_text", gc=False, forbid_unknown_fields=True):
    pass


class Item(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    id: str | None = None
    internal_chat_message_metadata_passthrough: Passthrough | None = None


class Message(shapes.Message, tag="message", gc=False, kw_only=True, forbid_unknown_fields=True):
    content: list[InputText | OutputText]  # type: ignore[assignment]
    internal_chat_message_metadata_passthrough: Passthrough | None = None  # type: ignore[assignment]


class Reasoning(Item, tag="reasoning", gc=False, kw_only=True, forbid_unknown_fields=True):
    summary: list[SummaryText]
    content: None = None
    encrypted_content: str | None = None


class FunctionCall(Item, tag="function_call", gc=False, kw_only=True, forbid_unknown_fields=True):
    name: str
    arguments: str
    call_id: str
    namespace: str | None = None
    status: str | None = None


class FunctionCallOutput(Item, tag="function_call_output", gc=False, kw_only=True, forbid_unknown_fields=True):
    output: str
    call_id: str | None = None


class CustomToolCall(Item, tag="custom_tool_call", gc=False, kw_only=True, forbid_unknown_fields=True):
    name: str
    input: str
    call_id: str
    status: str | None = None


class CustomToolCallOutput(Item, tag="custom_tool_call_output", gc=False, kw_only=True, forbid_unknown_fields=True):
    output: str
    call_id: str


class Figures(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    """Tokens of one reply, or of all replies so far."""

    input_tokens: Unsigned = 0
    cached_input_tokens: Unsigned = 0
    cache_write_input_tokens: Unsigned = 0
    output_tokens: Unsigned = 0
    reasoning_output_tokens: Unsigned = 0
    total_tokens: Unsigned = 0


class TokenInfo(msgspec.Struct, gc=False, kw_only=True, forbid_unknown_fields=True):
    last_token_usage: Figures
    total_token_usage: Figures
    model_context_window: Unsigned | None = None


class TokenCount(msgspec.Struct, tag="token_count", gc=False, forbid_unknown_fields=True):
    info: TokenInfo | None = None
    rate_limits: dict[str, Plain | dict[str, Plain]] | None = None


class UserMessage(msgspec.Struct, tag="user_message", gc=False, kw_only=True, forbid_unknown_fields=True):
    message: str
    kind: str | None = None


class AgentMessage(msgspec.Struct, tag="agent_message", gc=False, kw_only=True, forbid_unknown_fields=True):
    message: str


class AgentReasoning(msgspec.Struct, tag="agent_reasoning", gc=False, kw_only=True, forbid_unknown_fields=True):
    text: str


class Record(msgspec.Struct, tag_field="type", gc=False, kw_only=True, forbid_unknown_fields=True):
    timestamp: datetime
    ordinal: Unsigned | None = None


class Metadata(shapes.Metadata, gc=False, forbid_unknown_fields=True):
    retained_source: None = None  # type: ignore[assignment]
    model_search_state: str | None = None
    mcp_attribution: dict[str, Plain] | None = None


class ItemRecord(Record, tag="response_item", gc=False, kw_only=True, forbid_unknown_fields=True):
    payload: Message | Reasoning | FunctionCall | FunctionCallOutput | CustomToolCall | CustomToolCallOutput
    metadata: Metadata | None = None


class EventRecord(Record, tag="event_msg", gc=False, kw_only=True, forbid_unknown_fields=True):
    payload: TokenCount | UserMessage | AgentMessage | AgentReasoning


RECORDS: msgspec.json.Decoder[ItemRecord | EventRecord] = msgspec.json.Decoder(ItemRecord | EventRecord)

KINDS: dict[type, str] = {
    Reasoning: "response_item/reasoning",
    FunctionCall: "response_item/function_call",
    FunctionCallOutput: "response_item/function_call_output",
    CustomToolCall: "response_item/custom_tool_call",
    CustomToolCallOutput: "response_item/custom_tool_call_output",
    TokenCount: "event_msg/token_count",
    UserMessage: "event_msg/user_message",
    AgentMessage: "event_msg/agent_message",
    AgentReasoning: "event_msg/agent_reasoning",
}
"""The kind of the entry for each payload; of messages it depends on what they say."""


def told(count: TokenCount) -> Told | None:
    """The figures of a `token_count`, as few as are needed; None where it has none."""
    info = count.info
    if info is None:
        return None
    last = info.last_token_usage
    return Told(
        last.input_tokens,
        last.cached_input_tokens,
        last.output_tokens,
        last.total_tokens,
        info.total_token_usage.total_tokens,
    )
