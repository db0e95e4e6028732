"""What all wires share: texts as they go out, pictures, arguments, the text of a tool result."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Iterator, Sequence
from typing import Any

from core.agents.pi.javascript import as_text, sent_json
from core.agents.pi.messages import Message, Part
from core.agents.pi.repair import call_id, result_id
from core.view import Item, Mark, Role, Source

HALF_SURROGATE = re.compile("[\ud800-\udfff]")


def clean(text: str) -> str:
    """`text` without halves of surrogate pairs, which pi takes out of every text."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return HALF_SURROGATE.sub("", text)
    return text


def text_item(role: Role, text: str, source: tuple[Source, ...], mark: Mark = "") -> Item:
    """A text of the session, as sent."""
    return Item(role, "text", clean(text), source=source, mark=mark)


def picture(role: Role, part: Part, source: tuple[Source, ...], mark: Mark = "") -> Item:
    """An image; its bytes are measured and hashed, not kept."""
    data = image_bytes(part.value)
    media_type = part.value.get("mimeType")
    return Item(
        role,
        "image",
        media_type=media_type if isinstance(media_type, str) else "",
        sha256=hashlib.sha256(data).hexdigest(),
        image_bytes=len(data),
        source=source,
        mark=mark,
    )


def image_bytes(part: Any) -> bytes:
    """The bytes of a stored image part; empty where its data is no base64."""
    data = part.get("data")
    if not isinstance(data, str):
        return b""
    try:
        return base64.b64decode(data + "=" * (-len(data) % 4))
    except (binascii.Error, ValueError):
        return b""


def call(message: Message, part: Part, arguments: Any, identity: str | None = None) -> Item:
    """A tool call."""
    name = part.value.get("name")
    return Item(
        "assistant",
        "tool_call",
        call_id=call_id(part) if identity is None else identity,
        name=name if isinstance(name, str) else "",
        arguments=sent_json(arguments),
        source=message.source(part.number),
    )


def result(message: Message, text: str, identity: str | None = None) -> Item:
    """The text of a tool result; its images are items of their own."""
    name = message.fields.get("toolName")
    first = next((part.number for part in message.parts if part.kind == "text"), 0)
    return Item(
        "tool",
        "tool_result",
        clean(text),
        call_id=result_id(message) if identity is None else identity,
        name=name if isinstance(name, str) else "",
        is_error=bool(message.fields.get("isError")),
        source=message.source(first),
        origin=message.origin,
    )


def joined_text(parts: Sequence[Part], separator: str = "\n") -> str:
    """The texts of the parts as JavaScript joins them: what has none counts as empty."""
    return separator.join(_joinable(part.value.get("text")) for part in parts)


def _joinable(text: Any) -> str:
    return "" if text is None else as_text(text)


def images(message: Message, role: Role, mark: Mark = "") -> Iterator[Item]:
    """The images of a message, in order."""
    for part in message.parts:
        if part.kind == "image":
            yield picture(role, part, message.source(part.number), mark)


def first_image(message: Message) -> tuple[Source, ...]:
    """Where the first image of a message stands."""
    return next((message.source(part.number) for part in message.parts if part.kind == "image"), ())


def runs(messages: Sequence[Message]) -> Iterator[list[Message]]:
    """The messages one by one, but neighbouring tool results together."""
    run: list[Message] = []
    for message in messages:
        if message.role == "toolResult":
            run.append(message)
            continue
        if run:
            yield run
            run = []
        yield [message]
    if run:
        yield run


_OTHER = re.compile(r"[^a-zA-Z0-9_-]")


def plain_id(text: str) -> str:
    """`text` with `_` for each UTF-16 unit that is no letter, digit, `_` or `-`."""
    return _OTHER.sub(lambda found: "__" if ord(found[0]) > 0xFFFF else "_", text)


def short_hash(text: str) -> str:
    """The short hash that pi puts into shortened ids: two 32-bit mixes (cyrb53) over UTF-16 units, in base 36."""
    data = text.encode("utf-16-le", "surrogatepass")
    first, second = 0xDEADBEEF, 0x41C6CE57
    for at in range(0, len(data), 2):
        unit = data[at] | data[at + 1] << 8
        first = (first ^ unit) * 2654435761 & 0xFFFFFFFF
        second = (second ^ unit) * 1597334677 & 0xFFFFFFFF
    first = ((first ^ first >> 16) * 2246822507 ^ (second ^ second >> 13) * 3266489909) & 0xFFFFFFFF
    second = ((second ^ second >> 16) * 2246822507 ^ (first ^ first >> 13) * 3266489909) & 0xFFFFFFFF
    return _base36(second) + _base36(first)


def _base36(number: int) -> str:
    digits = ""
    while True:
        number, digit = divmod(number, 36)
        digits = "0123456789abcdefghijklmnopqrstuvwxyz"[digit] + digits
        if not number:
            return digits
