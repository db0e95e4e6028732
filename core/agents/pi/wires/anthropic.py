"""The wire `anthropic-messages`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from core.agents.pi.client import Client
from core.agents.pi.javascript import cut, truthy
from core.agents.pi.messages import Message, Part, Target
from core.agents.pi.repair import Rename, result_id, without_images
from core.agents.pi.wires.common import (
    call,
    clean,
    first_image,
    images,
    joined_text,
    picture,
    plain_id,
    result,
    runs,
    text_item,
)
from core.jsonl import trim
from core.view import Item

LONGEST_ID = 64
SEE_IMAGE = "(see attached image)"
ERROR_IMAGE = "(image attached after the tool results)"


def rename(client: Client) -> Rename:
    """How this wire writes the call ids of other models."""
    return lambda identity, target, message: cut(plain_id(identity), LONGEST_ID)


def items(messages: Sequence[Message], client: Client, target: Target) -> Iterator[Item]:
    """The messages as items of a request on this wire. Raises ClientRefuses."""
    for run in runs(messages):
        first = run[0]
        if first.role == "user":
            yield from _user(first)
        elif first.role == "assistant":
            yield from _assistant(first, client)
        else:
            yield from _results(run, client)


def _user(message: Message) -> Iterator[Item]:
    """Texts of nothing but white space are left out, and so is a message of nothing else."""
    for part in message.parts:
        source = message.source(part.number)
        if part.kind != "text":
            yield picture("user", part, source, message.mark)
        elif trim(clean(message.text_of(part))):
            yield text_item("user", message.text_of(part), source, message.mark)


def _assistant(message: Message, client: Client) -> Iterator[Item]:
    for part in message.parts:
        if part.kind == "text":
            if trim(message.text_of(part)):
                yield text_item("assistant", message.text_of(part), message.source(part.number))
        elif part.kind == "thinking":
            yield from _thinking(message, part, client)
        elif part.kind == "toolCall":
            arguments = part.value.get("arguments")
            yield call(message, part, {} if arguments is None else arguments)


def _thinking(message: Message, part: Part, client: Client) -> Iterator[Item]:
    """Signed thinking as it is; without a signature it goes out as plain text."""
    source = message.source(part.number)
    if truthy(part.value.get("redacted")):
        yield Item("assistant", "thinking", opaque=True, signed=True, source=source)
        return
    text = clean(message.thought_of(part))
    signature = part.value.get("thinkingSignature")
    signed = isinstance(signature, str) and bool(trim(signature))
    if not trim(message.thought_of(part)) and not (signed and client.modern):
        return
    if signed:
        readable = text if text.strip() else ""
        yield Item("assistant", "thinking", readable, opaque=not readable, signed=True, source=source)
    else:
        yield text_item("assistant", text, source)


def _results(run: Sequence[Message], client: Client) -> Iterator[Item]:
    """A failed result may hold no image on this wire: 1.6.0 moves it behind the run of results."""
    moved = [message for message in run if client.modern and _fails_with_image(message)]
    for message in run:
        if message in moved:
            yield result(message, _text(without_images(message.parts, ERROR_IMAGE)))
        else:
            yield result(message, _text(message.parts))
            yield from images(message, "tool")
    for message in moved:
        name = message.fields.get("toolName")
        caption = f"Images from the error result of tool call {result_id(message)} ({name}):"
        yield Item("user", "text", clean(caption), source=first_image(message), origin="repair", mark="bundled_image")
        yield from images(message, "user", "bundled_image")


def _fails_with_image(message: Message) -> bool:
    return truthy(message.fields.get("isError")) and any(part.kind == "image" for part in message.parts)


def _text(parts: Sequence[Part]) -> str:
    """The text of a result; one of images alone is given a text."""
    if not any(part.kind == "image" for part in parts):
        return joined_text(parts)
    texts = [part for part in parts if part.kind == "text"]
    return joined_text(texts) if texts else SEE_IMAGE
