"""The shapes of Codex's records (0.171.0): what does not fit them, Codex skips without a word.

Only what Codex itself checks is checked. Records keep unknown fields; what is decoded here is looked at and let go.
"""

# ruff: noqa: D101  (the shapes are named as the format names them)

from __future__ import annotations

import re
from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec

AGENT_PATH = re.compile(r"/root(/[a-z0-9_]+)*")

Unsigned = Annotated[int, msgspec.Meta(ge=0)]


class Line(msgspec.Struct, gc=False):
    """The envelope of every record."""

    timestamp: str
    type: str
    payload: msgspec.Raw = msgspec.Raw(b"null")
    ordinal: Unsigned | None = None
    metadata: msgspec.Raw = msgspec.Raw(b"null")


class Instructions(msgspec.Struct, gc=False):
    """The system prompt."""

    text: str


class Start(msgspec.Struct, gc=False):
    """The payload of `session_meta`, as far as Codex insists on it."""

    id: UUID
    timestamp: str
    cwd: str
    originator: str
    cli_version: str
    source: str | dict[str, Any] | None = None
    model_provider: str | None = None
    base_instructions: Instructions | None = None
    history_mode: Literal["paginated", "legacy"] | None = None


class Event(msgspec.Struct, gc=False):
    """The payload of `event_msg`, as far as the view depends on it."""

    type: str
    turn_id: Any = None
    num_turns: Any = None


class Turn(msgspec.Struct, gc=False):
    """The payload of `turn_context`."""

    cwd: str
    model: str
    approval_policy: Any
    sandbox_policy: Any
    turn_id: str | None = None


class WorldState(msgspec.Struct, gc=False):
    """The payload of `world_state`."""

    full: bool
    state: Any


class UsageRecord(msgspec.Struct, gc=False):
    """The payload of `token_usage_record`."""

    thread_id: str
    usage: dict[str, Any]
    turn_token_usage: dict[str, Any]
    thread_token_usage: dict[str, Any]


class Trigger(msgspec.Struct, gc=False):
    """The payload of `inter_agent_communication_metadata`."""

    trigger_turn: bool


class Metadata(msgspec.Struct, gc=False):
    """The `metadata` beside a `response_item`."""

    delivered_assistant_message: str | None = None
    user_input_order: Unsigned | None = None
    history_sequence: Unsigned | None = None
    sampled_through_sequence: Unsigned | None = None
    client_authored: bool | None = None
    retained_source: dict[str, Any] | None = None
    fallback_token_limit_override: Unsigned | None = None


class Agents(msgspec.Struct, gc=False):
    """The payload of `inter_agent_communication`."""

    author: str
    recipient: str
    content: str
    trigger_turn: bool
    encrypted_content: str | None = None

    def __post_init__(self) -> None:
        if not (AGENT_PATH.fullmatch(self.author) and AGENT_PATH.fullmatch(self.recipient)):
            raise ValueError("an agent's name that is no path from /root")


class Tagged(msgspec.Struct, gc=False):
    """Any payload: only its type."""

    type: str


# The parts of contents and outputs.


class Text(msgspec.Struct, gc=False):
    text: str


class InputText(Text, tag="input_text", gc=False):
    pass


class OutputText(Text, tag="output_text", gc=False):
    annotations: list[msgspec.Raw] | None = None
    logprobs: list[msgspec.Raw] | None = None


class InputImage(msgspec.Struct, tag="input_image", gc=False):
    image_url: str | None = None
    file_id: str | None = None
    detail: Literal["auto", "low", "high", "original"] | None = None

    def __post_init__(self) -> None:
        if self.image_url is None and self.file_id is None:
            raise ValueError("an image needs an address or a file id")


class InputAudio(msgspec.Struct, tag="input_audio", gc=False):
    audio_url: str | None = None
    file_id: str | None = None

    def __post_init__(self) -> None:
        if self.audio_url is None and self.file_id is None:
            raise ValueError("a sound needs an address or a file id")


class Encrypted(msgspec.Struct, tag="encrypted_content", gc=False):
    encrypted_content: str


class SummaryText(Text, tag="summary_text", gc=False):
    pass


class ReasoningText(Text, tag="reasoning_text", gc=False):
    pass


class PlainText(Text, tag="text", gc=False):
    pass


Content = InputText | OutputText | InputImage | InputAudio
Output = str | list[InputText | InputImage | InputAudio | Encrypted]


class Passthrough(msgspec.Struct, gc=False):
    turn_id: str | None = None
    create_time: float | None = None


class Item(msgspec.Struct, gc=False):
    """What the items have in common."""

    id: str | None = msgspec.field(default=None)
    internal_chat_message_metadata_passthrough: Passthrough | None = None


class Message(Item, tag="message", gc=False, kw_only=True):
    role: str
    content: list[Content]
    phase: Literal["commentary", "partial_answer", "final_answer"] | None = None
    status: str | None = None
    encrypted_content: str | None = None


class AgentMessage(Item, tag="agent_message", gc=False, kw_only=True):
    author: str
    recipient: str
    content: list[InputText | Encrypted]


class Reasoning(Item, tag="reasoning", gc=False, kw_only=True):
    summary: list[SummaryText]
    content: list[ReasoningText | PlainText] | None = None
    encrypted_content: str | None = None


class FunctionCall(Item, tag="function_call", gc=False, kw_only=True):
    name: str
    arguments: str
    call_id: str
    namespace: str | None = None
    status: str | None = None
    encrypted_function_args: list[str] | None = None


class FunctionCallOutput(Item, tag="function_call_output", gc=False, kw_only=True):
    output: Output
    call_id: str | None = None
    name: str | None = None
    namespace: str | None = None


class Execute(msgspec.Struct, tag="exec", gc=False, kw_only=True):
    command: list[str]
    timeout_ms: Unsigned | None = None
    working_directory: str | None = None
    env: dict[str, str] | None = None
    user: str | None = None


class LocalShellCall(Item, tag="local_shell_call", gc=False, kw_only=True):
    action: Execute
    status: Literal["completed", "in_progress", "incomplete"]
    call_id: str | None = None


class CustomToolCall(Item, tag="custom_tool_call", gc=False, kw_only=True):
    name: str
    input: str
    call_id: str
    namespace: str | None = None
    status: str | None = None


class CustomToolCallOutput(Item, tag="custom_tool_call_output", gc=False, kw_only=True):
    output: Output
    call_id: str
    name: str | None = None


class ToolSearchCall(Item, tag="tool_search_call", gc=False, kw_only=True):
    arguments: msgspec.Raw
    execution: str
    call_id: str | None = None
    status: str | None = None


class ToolSearchOutput(Item, tag="tool_search_output", gc=False, kw_only=True):
    execution: str
    status: str
    tools: list[msgspec.Raw]
    call_id: str | None = None


class Search(msgspec.Struct, gc=False):
    """An action of a web search; of an unknown type it may hold anything."""

    type: str
    query: Any = None
    queries: Any = None
    url: Any = None
    pattern: Any = None

    def __post_init__(self) -> None:
        words = {"search": (self.query,), "open_page": (self.url,), "find_in_page": (self.url, self.pattern)}
        if any(not isinstance(word, str | None) for word in words.get(self.type, ())):
            raise ValueError("an action of a web search with something else than words")
        if self.type == "search" and not _are_words(self.queries):
            raise ValueError("a web search whose queries are no words")


def _are_words(value: Any) -> bool:
    return value is None or (isinstance(value, list) and all(isinstance(word, str) for word in value))


class WebSearchCall(Item, tag="web_search_call", gc=False, kw_only=True):
    action: Search | None = None
    status: str | None = None


class ImageGenerationCall(Item, tag="image_generation_call", gc=False, kw_only=True):
    result: str
    status: str
    revised_prompt: str | None = None


class Compaction(Item, tag="compaction", gc=False, kw_only=True):
    encrypted_content: str


class CompactionSummary(Compaction, tag="compaction_summary", gc=False, kw_only=True):
    pass


class ContextCompaction(Item, tag="context_compaction", gc=False, kw_only=True):
    encrypted_content: str | None = None


class AdditionalTools(Item, tag="additional_tools", gc=False, kw_only=True):
    role: str
    tools: list[msgspec.Raw]


class ConfigurationUpdate(msgspec.Struct, tag="configuration_update", gc=False):
    reasoning: dict[str, Any]


class CompactionTrigger(msgspec.Struct, tag="compaction_trigger", gc=False):
    pass


KnownItem = (
    Message
    | AgentMessage
    | Reasoning
    | FunctionCall
    | FunctionCallOutput
    | LocalShellCall
    | CustomToolCall
    | CustomToolCallOutput
    | ToolSearchCall
    | ToolSearchOutput
    | WebSearchCall
    | ImageGenerationCall
    | Compaction
    | CompactionSummary
    | ContextCompaction
    | AdditionalTools
    | ConfigurationUpdate
    | CompactionTrigger
)

ITEM_TYPES = frozenset(
    {
        "message", "agent_message", "reasoning", "function_call", "function_call_output", "local_shell_call",
        "custom_tool_call", "custom_tool_call_output", "tool_search_call", "tool_search_output", "web_search_call",
        "image_generation_call", "compaction", "compaction_summary", "context_compaction", "additional_tools",
        "configuration_update", "compaction_trigger",
    }
)  # fmt: skip
"""All that has a shape; anything else with a type is `other` to Codex, whatever its fields."""


class Compacted(msgspec.Struct, gc=False, kw_only=True):
    """The payload of `compacted`."""

    message: str
    replacement_history: list[msgspec.Raw] | None = None
    replacement_history_metadata: list[Metadata] | None = None
    window_number: Unsigned | None = None
    first_window_id: str | None = None
    previous_window_id: str | None = None
    window_id: str | Unsigned | None = None
    guardian_history: list[Any] | dict[str, Any] | None = None
    retained_context: dict[str, Any] | None = None
    mcp_resource_origins: list[Any] | dict[str, Any] | None = None
    latest_token_usage_record: dict[str, Any] | None = None
    resume_metadata: dict[str, Any] | None = None
    compaction_response_id: str | None = None
