"""The shapes of stored records, as strict as grok's own reader: what does not fit, it skips."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

Unsigned = Annotated[int, Meta(ge=0)]

TOO_LARGE = 1 << 64
"""The first whole number that the client has no room for."""

EFFORTS = frozenset({"none", "minimal", "low", "medium", "high", "xhigh", "max"})

FAILURES = (msgspec.DecodeError, msgspec.ValidationError, RecursionError, UnicodeDecodeError)
"""What decoding raises at a line that grok skips."""

DEEPEST = 127
"""Levels of nesting that grok's JSON reader follows."""


class Text(Struct, tag="text"):
    """A text part."""

    text: str


class Image(Struct, tag="image"):
    """An image part: its address, or its data as one."""

    url: str


class Call(Struct):
    """A tool call of the assistant."""

    id: str
    name: str
    arguments: str


class System(Struct, tag="system"):
    """A system message."""

    content: str


class User(Struct, tag="user"):
    """A message in the user's role, typed or written by the program."""

    content: list[Text | Image]
    synthetic_reason: str | UnsetType = UNSET
    cwd_generation: Unsigned | None = None
    prior_turn_interrupt: str | None = None
    prompt_index: Unsigned | None = None


class Assistant(Struct, tag="assistant"):
    """A reply."""

    content: str
    tool_calls: list[Call] = []
    model_id: str | None = None
    model_fingerprint: str | UnsetType | None = UNSET
    system_fingerprint: str | UnsetType | None = UNSET
    reasoning_effort: str | None = None


class ToolResult(Struct, tag="tool_result"):
    """The result of one call."""

    tool_call_id: str
    content: str
    images: list[Text | Image] = []


class Summary(Struct):
    """A part of a reasoning summary."""

    type: Literal["summary_text"]
    text: str


class Thought(Struct):
    """A part of the reasoning itself."""

    text: str


class Reasoning(Struct, tag="reasoning"):
    """Reasoning, as the provider gave it."""

    id: str
    summary: list[Summary]
    content: list[Thought] | None = None
    encrypted_content: str | None = None
    status: Literal["in_progress", "completed", "incomplete"] | None = None


class ServerCall(Struct, tag="backend_tool_call"):
    """A tool that the provider's server ran."""

    kind: dict[str, Any]


class Search(Struct, tag="search"):
    """A search for a query."""

    query: str
    sources: list[dict[str, Any]] | None = None


class OpenPage(Struct, tag="open_page"):
    """A page that was opened."""

    url: str | None = None


class Find(Struct, tag="find"):
    """A search inside a page."""

    url: str
    pattern: str


class FindInPage(Struct, tag="find_in_page"):
    """The same under another name."""

    url: str
    pattern: str


class WebSearch(Struct):
    """One step of a web search."""

    id: str
    status: Literal["in_progress", "searching", "completed", "failed"]
    action: Search | OpenPage | Find | FindInPage


class CustomCall(Struct):
    """A call of a tool of the provider's own."""

    id: str
    call_id: str
    name: str
    input: str


class CodeRun(Struct):
    """Code that the server ran."""

    id: str
    container_id: str
    status: Literal["in_progress", "completed", "incomplete", "interpreting", "failed"]
    code: str | None = None
    outputs: list[dict[str, Any]] | None = None


ServerKind = WebSearch | CustomCall | CodeRun

KINDS: dict[str, type[ServerKind]] = {"web_search": WebSearch, "x_search": CustomCall, "code_interpreter": CodeRun}
"""What the provider's server runs, by the `tool_type` of an item."""

OUTPUTS: dict[str, type[ServerKind]] = {
    "web_search_call": WebSearch,
    "custom_tool_call": CustomCall,
    "code_interpreter_call": CodeRun,
}
"""The same by the type of an output item, in what earlier clients stored."""


class Block(Struct, tag="text"):
    """A text in a message with a role."""

    text: str


class Address(Struct):
    """Where an image is."""

    url: str


class ImageBlock(Struct, tag="image_url"):
    """An image in a message with a role."""

    image_url: Address


class Function(Struct):
    """Which function was called, and how."""

    name: str
    arguments: str


class RoleCall(Struct):
    """A tool call in a message with a role."""

    type: Literal["function"]
    function: Function
    id: str | None = None


class RoleMessage(Struct):
    """A message in the form of Chat Completions, as the first clients stored it."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str | list[Block | ImageBlock]
    name: str | None = None
    tool_calls: list[RoleCall] = []
    tool_call_id: str | None = None
    model_id: str | None = None
    reasoning_content: str | None = None


TaggedItem = System | User | Assistant | ToolResult | Reasoning | ServerCall

_JSON: msgspec.json.Decoder[Any] = msgspec.json.Decoder()


def value_of(line: bytes) -> Any:
    """The JSON value of a line. Raises one of FAILURES, also where grok's reader would not follow the nesting."""
    line = line.strip(b" \t\n\f\r")
    value = _JSON.decode(line)
    if line.count(b"[") + line.count(b"{") > DEEPEST and _is_deeper(value, DEEPEST):
        raise RecursionError("nested too deep")
    return value


def _is_deeper(value: Any, levels: int) -> bool:
    if not isinstance(value, (dict, list)):
        return False
    inner = value.values() if isinstance(value, dict) else value
    return levels == 0 or any(_is_deeper(one, levels - 1) for one in inner)


def item(value: Any, version: int) -> TaggedItem | RoleMessage:
    """One stored item, in the form that this version of the format is tried in first. Raises ValidationError."""
    first, second = (tagged, role_message) if version >= 1 else (role_message, tagged)
    try:
        return first(value)
    except msgspec.ValidationError as error:
        try:
            return second(value)
        except msgspec.ValidationError:
            raise error from None


def tagged(value: Any) -> TaggedItem:
    """An item with a `type`. Raises ValidationError."""
    found: TaggedItem = msgspec.convert(value, TaggedItem)
    if isinstance(found, ServerCall):
        server_kind(found.kind)
    elif isinstance(found, User) and max(found.prompt_index or 0, found.cwd_generation or 0) >= TOO_LARGE:
        raise msgspec.ValidationError("a number that is too large")
    elif isinstance(found, Assistant) and UNSET not in (found.model_fingerprint, found.system_fingerprint):
        raise msgspec.ValidationError("one field under two names")
    elif isinstance(found, Assistant) and not is_effort(found.reasoning_effort):
        raise msgspec.ValidationError(f"the unknown effort {found.reasoning_effort!r}")
    return found


def is_effort(word: str | None) -> bool:
    """Whether the client knows this reasoning effort."""
    return word is None or word.lower() in EFFORTS


def role_message(value: Any) -> RoleMessage:
    """A message with a `role`. Raises ValidationError."""
    return msgspec.convert(value, RoleMessage)


def server_kind(value: dict[str, Any]) -> tuple[str, ServerKind]:
    """What the server ran, and its name. Raises ValidationError."""
    name = value.get("tool_type")
    if not isinstance(name, str) or name not in KINDS:
        raise msgspec.ValidationError(f"a tool of the unknown type {name!r}")
    return name, msgspec.convert(value, KINDS[name])


def output(value: Any) -> tuple[str, Reasoning | ServerKind] | None:
    """An output item of the provider with the name of its kind; None where it is another one, or unfit."""
    kind = value.get("type") if isinstance(value, dict) else None
    try:
        if kind == "reasoning":
            return kind, msgspec.convert(value, Reasoning)
        if isinstance(kind, str) and kind in OUTPUTS:
            name = next(name for name, shape in KINDS.items() if shape is OUTPUTS[kind])
            return name, msgspec.convert(value, OUTPUTS[kind])
    except msgspec.ValidationError:
        return None
    return None
