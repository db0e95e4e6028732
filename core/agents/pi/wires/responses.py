"""The wire `openai-responses`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from core.agents.pi.client import Client
from core.agents.pi.messages import Message, Part, Target
from core.agents.pi.repair import Rename
from core.agents.pi.wires.common import (
    call,
    first_image,
    images,
    joined_text,
    picture,
    plain_id,
    result,
    short_hash,
    text_item,
)
from core.errors import ClientRefuses
from core.jsonl import BrokenLine, decode, trim
from core.view import Item

LONGEST_PART = 64
SEE_IMAGE = "(see attached image)"
NO_OUTPUT = "(no tool output)"

PAIRED_PROVIDERS = frozenset({"openai", "openai-codex", "opencode"})
"""Providers whose call ids keep their two parts, `call|item`."""


def rename(client: Client) -> Rename:
    """How this wire writes the call ids of other models."""
    return _foreign_id


def _foreign_id(identity: str, target: Target, message: Message) -> str:
    if target.provider not in PAIRED_PROVIDERS or "|" not in identity:
        return _id_part(identity)
    first, second = identity.split("|")[:2]
    foreign = message.fields.get("provider") != target.provider or message.fields.get("api") != target.wire
    item = f"fc_{short_hash(second)}"[:LONGEST_PART] if foreign else _id_part(second)
    if not item.startswith("fc_"):
        item = _id_part(f"fc_{item}")
    return f"{_id_part(first)}|{item}"


def _id_part(text: str) -> str:
    return plain_id(text)[:LONGEST_PART].rstrip("_")


def items(messages: Sequence[Message], client: Client, target: Target) -> Iterator[Item]:
    """The messages as items of a request on this wire. Raises ClientRefuses."""
    for message in messages:
        if message.role == "user":
            yield from _user(message)
        elif message.role == "assistant":
            yield from _assistant(message)
        else:
            identity = _first_part(message.fields.get("toolCallId"), message)
            yield result(message, _text(message, client, target), identity)
            if target.image_input:
                yield from images(message, "tool")


def _user(message: Message) -> Iterator[Item]:
    for part in message.parts:
        source = message.source(part.number)
        if part.kind == "text":
            yield text_item("user", message.text_of(part), source, message.mark)
        else:
            yield picture("user", part, source, message.mark)


def _assistant(message: Message) -> Iterator[Item]:
    for part in message.parts:
        if part.kind == "text":
            yield text_item("assistant", message.text_of(part), message.source(part.number))
        elif part.kind == "thinking":
            if part.value.get("thinkingSignature"):
                yield _reasoning(message, part)
        elif part.kind == "toolCall":
            yield call(message, part, part.value.get("arguments"), _first_part(part.value.get("id"), message))


def _first_part(identity: Any, message: Message) -> str:
    if not isinstance(identity, str):
        raise ClientRefuses(f"line {message.line}: a tool call or result without an id: pi fails at it")
    return identity.split("|")[0]


def _reasoning(message: Message, part: Part) -> Item:
    """The reasoning item that the signature holds; opaque where it has no readable summary."""
    signature = part.value["thinkingSignature"]
    try:
        stored = decode(signature.encode("utf-8", "surrogatepass")) if isinstance(signature, str) else None
    except BrokenLine as error:
        words = f"line {message.line}: the signature of part {part.number} is no JSON: pi fails at it on this wire"
        raise ClientRefuses(words) from error
    text = "\n\n".join(_texts(stored)) if isinstance(stored, dict) else ""
    return Item("assistant", "thinking", text, opaque=not text, signed=True, source=message.source(part.number))


def _texts(stored: dict[str, Any]) -> Iterator[str]:
    parts = stored.get("summary") or stored.get("content")
    for part in parts if isinstance(parts, list) else ():
        if isinstance(part, dict) and isinstance(part.get("text"), str):
            yield part["text"]


def _text(message: Message, client: Client, target: Target) -> str:
    text = joined_text([part for part in message.parts if part.kind == "text"])
    with_image = bool(first_image(message))
    if trim(text) if client.modern else text:
        return text
    if with_image and target.image_input:
        return ""
    return SEE_IMAGE if with_image or not client.modern else NO_OUTPUT
