"""The pass that pi runs over every request: images a model cannot take, foreign thinking, call ids, missing results."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from core.agents.pi.client import Client
from core.agents.pi.javascript import truthy
from core.agents.pi.messages import Message, Part, Target
from core.errors import ClientRefuses
from core.jsonl import trim

USER_IMAGE = "(image omitted: model does not support images)"
RESULT_IMAGE = "(tool image omitted: model does not support images)"
NO_RESULT = "No result provided"

DROPPED = ("error", "aborted")
"""Stop reasons of replies that are left out; their tool results stay."""

Rename = Callable[[str, Target, Message], str]
"""How a wire writes the id of another model's call."""


def without_images(parts: Sequence[Part], placeholder: str) -> list[Part]:
    """The parts with each run of images replaced by one text."""
    out: list[Part] = []
    after_placeholder = False
    for part in parts:
        if part.kind != "image":
            out.append(part)
            after_placeholder = part.value.get("text") == placeholder
            continue
        if not after_placeholder:
            out.append(Part({"type": "text", "text": placeholder}, part.number))
        after_placeholder = True
    return out


def repaired(messages: Sequence[Message], client: Client, target: Target, rename: Rename) -> list[Message]:
    """The messages as they go to the wire. Raises ClientRefuses."""
    renamed: dict[str, str] = {}
    changed: list[Message] = []
    for stored in messages:
        message = stored
        if not target.image_input and message.role != "assistant" and not isinstance(message.content, str):
            placeholder = USER_IMAGE if message.role == "user" else RESULT_IMAGE
            message = message.with_content(without_images(message.content, placeholder))
        if message.role == "toolResult":
            message = _with_id(message, renamed)
        elif message.role == "assistant":
            message = message.with_content(_reply(message, client, target, rename, renamed))
        changed.append(message)
    return _answered(changed)


def call_id(part: Part) -> str:
    """The id of a tool call; empty where it is no text."""
    found = part.value.get("id")
    return found if isinstance(found, str) else ""


def result_id(message: Message) -> str:
    """The id of the call that a result answers; empty where it is no text."""
    found = message.fields.get("toolCallId")
    return found if isinstance(found, str) else ""


def _with_id(message: Message, renamed: dict[str, str]) -> Message:
    new = renamed.get(result_id(message))
    return replace(message, fields={**message.fields, "toolCallId": new}) if new else message


def _reply(message: Message, client: Client, target: Target, rename: Rename, renamed: dict[str, str]) -> Iterator[Part]:
    """The parts of a reply that this target gets."""
    own = target.wrote(message)
    for part in message.parts:
        if part.kind == "thinking":
            yield from _thinking(part, client, own)
        elif part.kind == "toolCall" and not own:
            old = call_id(part)
            if not isinstance(part.value.get("id"), str):
                raise ClientRefuses(
                    f"line {message.line}: part {part.number} is a tool call without an id: pi fails at it"
                )
            new = rename(old, target, message)
            if new != old:
                renamed[old] = new
            value = {key: value for key, value in part.value.items() if key != "thoughtSignature"}
            yield Part({**value, "id": new}, part.number)
        elif part.kind == "text" and not own:
            yield Part({"type": "text", "text": part.value.get("text")}, part.number)
        else:
            yield part


def _thinking(part: Part, client: Client, own: bool) -> Iterator[Part]:
    text = part.value.get("thinking")
    blank = not isinstance(text, str) or not trim(text)
    if own and (truthy(part.value.get("redacted")) or truthy(part.value.get("thinkingSignature"))):
        yield part
    elif blank or (not client.modern and truthy(part.value.get("redacted"))):
        return
    elif own:
        yield part
    elif not client.modern:
        yield Part({"type": "text", "text": text}, part.number)


def _answered(messages: Sequence[Message]) -> list[Message]:
    """Leave out failed replies, and answer the calls that nothing answers before the next reply or user message."""
    out: list[Message] = []
    open_calls: list[tuple[Message, Part]] = []
    answered: set[str] = set()

    def close() -> None:
        out.extend(_filler(message, part) for message, part in open_calls if call_id(part) not in answered)
        open_calls.clear()
        answered.clear()

    for message in messages:
        if message.role == "toolResult":
            answered.add(result_id(message))
            out.append(message)
            continue
        close()
        if message.role == "user":
            out.append(message)
        elif message.fields.get("stopReason") not in DROPPED:
            open_calls.extend((message, part) for part in message.parts if part.kind == "toolCall")
            out.append(message)
    close()
    return out


def _filler(message: Message, part: Part) -> Message:
    text = Part({"type": "text", "text": NO_RESULT}, part.number)
    fields = {"toolCallId": call_id(part), "toolName": part.value.get("name"), "isError": True}
    return Message("toolResult", (text,), message.entry, message.line, origin="repair", fields=fields)
