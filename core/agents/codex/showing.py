"""Codex's items as items of the view, part by part."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import msgspec

from core.agents.codex.context import is_context, is_summary, is_user_context
from core.agents.codex.pairing import Sent
from core.agents.codex.pictures import seen
from core.agents.codex.rebuilding import Stored
from core.view import Item, Kind, Mark, Role, Source

NO_SOUND = "audio content omitted because you do not support audio input"

SHELL_FIELDS = ("type", "command", "timeout_ms", "working_directory", "env", "user")
SEARCH_FIELDS = {
    "search": ("type", "query", "queries"),
    "open_page": ("type", "url"),
    "find_in_page": ("type", "url", "pattern"),
}
"""What Codex knows of an action, and so sends of it."""

OPAQUE = frozenset({"compaction", "compaction_summary", "context_compaction"})


class Showing:
    """Turns the items of one request into items of the view; remembers the names of calls for their results."""

    def __init__(self, image_input: bool = True) -> None:
        self.image_input = image_input
        self.names: dict[str, str] = {}
        self.shrunk: list[Source] = []
        """Pictures that Codex sends smaller than they are stored: their bytes are not known here."""

    def items(self, sent: Sent) -> Iterator[Item]:
        """One item of the request, part by part."""
        item = sent.stored
        kind = item.type
        if kind in ("message", "agent_message"):
            yield from self._message(item)
        elif kind == "reasoning":
            yield _reasoning(item)
        elif kind in ("function_call", "custom_tool_call", "local_shell_call", "tool_search_call", "web_search_call"):
            yield self._call(item)
        elif kind in ("function_call_output", "custom_tool_call_output"):
            yield from self._output(item, sent)
        elif kind == "tool_search_output":
            yield self._result(item, sorted_json(item.payload.get("tools")), sent)
        elif kind == "image_generation_call":
            yield _generated(item)
        elif kind in OPAQUE:
            yield Item("assistant", "thinking", opaque=True, signed=True, source=_source(item), mark="summary")
        else:
            shown = kind if kind in ("additional_tools", "configuration_update", "compaction_trigger") else "other"
            yield Item("assistant", cast(Kind, shown), source=_source(item))

    def _message(self, item: Stored) -> Iterator[Item]:
        role = _role(item)
        for number, part in enumerate(item.content):
            source = (Source(item.entry, item.first_part + number),)
            kind = part.get("type") if isinstance(part, dict) else None
            if kind == "input_image":
                yield self._image(role, part, source)
            elif kind == "input_audio":
                yield Item(role, "text", NO_SOUND, source=source)
            elif kind == "encrypted_content":
                yield Item(role, "thinking", opaque=True, signed=True, source=source)
            else:
                yield Item(role, "text", _text(part, "text"), source=source, mark=_mark(item, part))

    def _image(self, role: Role, part: Mapping[str, Any], source: tuple[Source, ...]) -> Item:
        """A picture, or the words that Codex puts in its place."""
        found = seen(part, self.image_input)
        if isinstance(found, str):
            return Item(role, "text", found, source=source)
        if found is None:
            return Item(role, "image", source=source)
        if found.shrunk:
            self.shrunk.append(source[0])
        return _picture(role, found.media_type, found.data, source)

    def _call(self, item: Stored) -> Item:
        fields, kind = item.payload, item.type
        name = _text(fields, "name") or kind.removesuffix("_call")
        arguments: Any = fields.get("arguments")
        if kind == "function_call":
            arguments = parsed(_text(fields, "arguments"))
        elif kind == "custom_tool_call":
            arguments = _text(fields, "input")
        elif kind in ("local_shell_call", "web_search_call"):
            arguments = _action(fields.get("action"), kind)
        call_id = _text(fields, "call_id")
        if call_id:
            self.names[call_id] = name
        return Item("assistant", "tool_call", call_id=call_id, name=name, arguments=arguments, source=_source(item))

    def _output(self, item: Stored, sent: Sent) -> Iterator[Item]:
        output = item.payload.get("output")
        if isinstance(output, str):
            yield self._result(item, output, sent)
            return
        parts: list[Any] = output if isinstance(output, list) else []
        shown = [(number, self._part(item, number, part)) for number, part in enumerate(parts)]
        said = [one.text for _, one in shown if one.kind == "text"]
        first = next((number for number, one in shown if one.kind == "text"), 0)
        yield self._result(item, "\n".join(said), sent, first)
        yield from (one for _, one in shown if one.kind != "text")

    def _part(self, item: Stored, number: int, part: Any) -> Item:
        """One part of an output: text, a picture, or what is encrypted."""
        source = (Source(item.entry, item.first_part + number),)
        kind = part.get("type") if isinstance(part, dict) else None
        if kind == "input_image":
            return self._image("tool", part, source)
        if kind == "input_audio":
            return Item("tool", "text", NO_SOUND, source=source)
        if kind == "encrypted_content":
            return Item("tool", "thinking", opaque=True, signed=True, source=source)
        return Item("tool", "text", _text(part, "text"), source=source)

    def _result(self, item: Stored, text: str, sent: Sent, part: int = 0) -> Item:
        call_id = _text(item.payload, "call_id")
        name = self.names.get(call_id) or _text(item.payload, "name")
        source = (Source(item.entry, item.first_part + part),)
        return Item("tool", "tool_result", text, call_id=call_id, name=name, source=source, origin=sent.origin)


def _role(item: Stored) -> Role:
    """The neutral role: a developer's words are the system's, another agent's are a user's."""
    if item.type == "agent_message":
        return "user"
    return cast(Role, {"developer": "system"}.get(item.role, item.role))


def _mark(item: Stored, part: Mapping[str, Any]) -> Mark:
    """What a text stands for where it is no message of the user."""
    text = _text(part, "text")
    if item.type == "agent_message":
        return "custom"
    if item.role != "user":
        return ""
    if item.summary or is_summary(text):
        return "summary"
    if not is_user_context(item.role, item.content):
        return ""
    return "shell" if is_context(text) and text.lstrip()[:20].lower() == "<user_shell_command>" else "custom"


def _reasoning(item: Stored) -> Item:
    parts = item.payload.get("content") or item.payload.get("summary")
    said = [_text(part, "text") for part in parts] if isinstance(parts, list) else []
    text = "\n".join(said)
    signed = isinstance(item.payload.get("encrypted_content"), str)
    return Item("assistant", "thinking", text, opaque=not text, signed=signed, source=_source(item))


def _source(item: Stored) -> tuple[Source, ...]:
    return (Source(item.entry, item.first_part),)


def _text(fields: Any, name: str) -> str:
    value = fields.get(name) if isinstance(fields, Mapping) else None
    return value if isinstance(value, str) else ""


def _action(action: Any, kind: str) -> Any:
    """An action without what Codex does not know of it, and without empty members."""
    if not isinstance(action, dict):
        return None
    if kind == "web_search_call" and action.get("type") not in SEARCH_FIELDS:
        return {"type": "other"}
    known: Sequence[str] = SHELL_FIELDS if kind == "local_shell_call" else SEARCH_FIELDS[action["type"]]
    return {name: action[name] for name in known if action.get(name) is not None}


def parsed(arguments: str) -> Any:
    """The arguments of a call as JSON, or as they stand where they are none."""
    try:
        return msgspec.json.decode(arguments)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return arguments


def sorted_json(value: Any) -> str:
    """Compact JSON with sorted keys."""
    return msgspec.json.encode(value, order="deterministic").decode() if value else "[]"


def _generated(item: Stored) -> Item:
    """A picture that the model made: sent as it is stored, whatever it holds."""
    result = _text(item.payload, "result")
    try:
        data = base64.b64decode(result)
    except (binascii.Error, ValueError):
        data = result.encode("utf-8", "surrogatepass")
    return _picture("assistant", "image/png", data, _source(item))


def _picture(role: Role, media_type: str, data: bytes, source: tuple[Source, ...]) -> Item:
    """A picture; its bytes are measured and hashed, not kept."""
    digest = hashlib.sha256(data).hexdigest()
    return Item(role, "image", media_type=media_type, sha256=digest, image_bytes=len(data), source=source)
