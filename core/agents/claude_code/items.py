"""The blocks of the request as items of the view."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Iterator, Sequence
from typing import Any

from core.agents.claude_code.messages import Block, Message
from core.agents.pi.javascript import sent_json
from core.jsonl import is_one_of, trim
from core.tokens.counting import compact_json
from core.view import Item, Role, Source

RENAMED = {"Task": "Agent"}
"""Tools that are sent under their new name."""

PICTURES = frozenset({"image", "document"})
"""Types of blocks that hold the bytes of a picture or of pages."""

_HALF_SURROGATE = re.compile("[\ud800-\udfff]")


def clean(text: str) -> str:
    """A text as it arrives: half surrogates become U+FFFD."""
    return text if text.isascii() else _HALF_SURROGATE.sub("\ufffd", text)


def items_of(messages: Sequence[Message]) -> Iterator[Item]:
    """One item a block, in order; a picture in a result follows the result."""
    names: dict[str, str] = {}
    for message in messages:
        for block in message.blocks:
            if block.kind == "tool_result":
                yield from _result(block, names.get(block.call_id, ""))
            elif block.kind == "tool_call":
                item = _call(block)
                names[item.call_id] = item.name
                yield item
            else:
                yield from _part(block, message.role)


def _part(block: Block, role: Role) -> Iterator[Item]:
    if block.kind == "text":
        yield Item(role, "text", clean(block.text), source=block.source, origin=block.origin, mark=block.mark)
    elif block.kind == "image":
        yield picture(block.value, role, block.source)
    elif block.kind == "thinking":
        signed = bool(block.value.get("signature") or block.value.get("data"))
        yield Item(role, "thinking", clean(block.text), opaque=not block.text, signed=signed, source=block.source)
    elif block.kind == "other" and isinstance(block.value.get("type"), str):
        yield _other(block.value, role, block.source)


def _call(block: Block) -> Item:
    name = block.value.get("name")
    name = clean(name) if isinstance(name, str) else ""
    return Item(
        "assistant",
        "tool_call",
        call_id=clean(block.call_id),
        name=RENAMED.get(name, name),
        arguments=_clean_value(sent_json(block.value.get("input"))),
        source=block.source,
    )


def _clean_value(value: Any) -> Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {clean(key): _clean_value(part) for key, part in value.items()}
    return [_clean_value(part) for part in value] if isinstance(value, list) else value


def _result(block: Block, name: str) -> Iterator[Item]:
    content = block.value.get("content")
    parts: list[Any] = content if isinstance(content, list) else []
    yield Item(
        "tool",
        "tool_result",
        clean(block.text if block.origin == "repair" else _result_text(content, parts, block.folded)),
        call_id=clean(block.call_id),
        name=name,
        is_error=bool(block.value.get("is_error")),
        source=block.source,
        origin=block.origin,
    )
    for number, part in enumerate(parts):
        if isinstance(part, dict) and is_one_of(part.get("type"), PICTURES):
            yield picture(part, "tool", (block.source[0], Source(block.source[0].entry, number)))
        elif isinstance(part, dict) and isinstance(part.get("type"), str) and part["type"] != "text":
            yield _other(part, "tool", block.source[:1])


def _result_text(content: Any, parts: Sequence[Any], folded: Sequence[str]) -> str:
    """The text of a result with the reminders that were folded into it."""
    if isinstance(content, str):
        return "\n\n".join(text for text in (trim(content), *folded) if text) if folded else content
    if isinstance(content, dict):
        return _result_text(compact_json(sent_json(content)), (), folded)
    texts = [(part["text"], at) for at, part in enumerate(parts) if _is_text(part)]
    words = [text for text, _ in texts]
    if not folded:
        return "\n".join(words)
    if texts and texts[-1][1] == len(parts) - 1:
        words[-1] += "\n"
    return "\n".join([*words, "\n\n".join(folded)])


def _is_text(part: Any) -> bool:
    return isinstance(part, dict) and part.get("type") == "text" and isinstance(part.get("text"), str)


def _other(value: dict[str, Any], role: Role, source: tuple[Source, ...]) -> Item:
    """A block that the view has no kind of its own for: a text that names its type."""
    words = value.get("tool_name")
    text = clean(words) if isinstance(words, str) else ""
    return Item(role, "text", text, source=source, wire_type=clean(str(value.get("type"))))


def picture(value: dict[str, Any], role: Role, place: tuple[Source, ...]) -> Item:
    """The item of an image block, or of a document."""
    data = picture_bytes(value)
    source = value.get("source")
    kind = source.get("media_type") if isinstance(source, dict) else None
    return Item(
        role,
        "image",
        media_type=kind if isinstance(kind, str) else "",
        sha256=hashlib.sha256(data).hexdigest(),
        image_bytes=len(data),
        source=place,
        wire_type="" if value.get("type") == "image" else "document",
    )


def picture_bytes(value: dict[str, Any]) -> bytes:
    """The bytes of an image block; of one that is only named, its address."""
    source = value.get("source")
    if not isinstance(source, dict):
        return b""
    data = next((source[name] for name in ("data", "url", "file_id") if isinstance(source.get(name), str)), "")
    if source.get("type") == "base64":
        try:
            return base64.b64decode(data)
        except (binascii.Error, ValueError):
            pass
    return data.encode("utf-8", "replace")
