"""The wire `openai-completions`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from core.agents.pi.client import Client
from core.agents.pi.javascript import cut, length
from core.agents.pi.messages import Message, Part, Target
from core.agents.pi.repair import Rename
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
    short_hash,
    text_item,
)
from core.jsonl import BrokenLine, decode, trim
from core.view import Item, Source

LONGEST_ID = 40
HASH = 8
SEE_IMAGE = "(see attached image)"
NO_OUTPUT = "(no tool output)"
BUNDLE = "Attached image(s) from tool result:"

REASONING_FIELDS = ("reasoning", "reasoning_content", "reasoning_text")
"""Fields of a message that hold readable reasoning, one of which a thinking part names as its signature."""


def rename(client: Client) -> Rename:
    """How this wire writes the call ids of other models."""
    return _modern_id if client.modern else _old_id


def _modern_id(identity: str, target: Target, message: Message) -> str:
    if "|" not in identity:
        return _cut_for_openai(identity, target)
    call_part, _, item_part = identity.partition("|")
    first, second = plain_id(call_part), plain_id(item_part)
    joined = f"{first}_{second}" if second else first
    if len(joined) <= LONGEST_ID:
        return joined
    digest = short_hash(identity)[:HASH]
    return f"{first[: max(1, LONGEST_ID - len(digest) - 1)]}_{digest}"


def _old_id(identity: str, target: Target, message: Message) -> str:
    if "|" not in identity:
        return _cut_for_openai(identity, target)
    return plain_id(identity.partition("|")[0])[:LONGEST_ID]


def _cut_for_openai(identity: str, target: Target) -> str:
    if target.provider == "openai" and length(identity) > LONGEST_ID:
        return cut(identity, LONGEST_ID)
    return identity


def items(messages: Sequence[Message], client: Client, target: Target) -> Iterator[Item]:
    """The messages as items of a request on this wire. Raises ClientRefuses."""
    for run in runs(messages):
        first = run[0]
        if first.role == "user":
            yield from _user(first, client)
        elif first.role == "assistant":
            yield from _assistant(first, client)
        else:
            yield from _results(run, client, target)


def _user(message: Message, client: Client) -> Iterator[Item]:
    """1.6.0 leaves empty parts out; a message that is the empty string stays."""
    for part in message.parts:
        source = message.source(part.number)
        if part.kind != "text":
            yield picture("user", part, source, message.mark)
            continue
        text = message.text_of(part)
        if text or isinstance(message.content, str) or not client.modern:
            yield text_item("user", text, source, message.mark)


def _assistant(message: Message, client: Client) -> Iterator[Item]:
    """Reasoning, then one text, then the calls, in whatever order they are stored; thinking alone goes down."""
    texts = [part for part in message.parts if part.kind == "text" and trim(message.text_of(part))]
    calls = [part for part in message.parts if part.kind == "toolCall"]
    text = "".join(clean(message.text_of(part)) for part in texts)
    if not text and not calls:
        return
    thinking = [part for part in message.parts if part.kind == "thinking"]
    details = _details(thinking, calls, client)
    if details is None or not client.modern:
        yield from _reasoning(message, thinking)
    if details is not None:
        source = message.source(details.number)
        yield Item("assistant", "thinking", opaque=True, signed=True, source=source)
    if text:
        places: tuple[Source, ...] = sum((message.source(part.number) for part in texts), ())
        yield Item("assistant", "text", text, source=places)
    for part in calls:
        yield call(message, part, part.value.get("arguments"))


def _reasoning(message: Message, thinking: Sequence[Part]) -> Iterator[Item]:
    """The readable thinking, in the field that the first part's signature names; dropped where it names none."""
    filled = [part for part in thinking if trim(message.thought_of(part))]
    if filled and filled[0].value.get("thinkingSignature") in REASONING_FIELDS:
        text = "\n".join(message.thought_of(part) for part in filled)
        places: tuple[Source, ...] = sum((message.source(part.number) for part in filled), ())
        yield Item("assistant", "thinking", text, source=places)


def _details(thinking: Sequence[Part], calls: Sequence[Part], client: Client) -> Part | None:
    """The part whose signature is structured reasoning that goes back as it came; None without any."""
    if not client.modern:
        return next((part for part in calls if _parsed(part.value.get("thoughtSignature"))), None)
    for part in thinking:
        parsed = _parsed(part.value.get("thinkingSignature"))
        if isinstance(parsed, list) and parsed and all(_is_detail(detail) for detail in parsed):
            return part
    return next((part for part in calls if _is_encrypted(_parsed(part.value.get("thoughtSignature")))), None)


def _parsed(signature: Any) -> Any:
    if not isinstance(signature, str) or not signature:
        return None
    try:
        return decode(signature.encode("utf-8", "surrogatepass"))
    except BrokenLine:
        return None


def _is_detail(detail: Any) -> bool:
    """Whether a value has the form of one reasoning detail."""
    if not isinstance(detail, dict) or not isinstance(detail.get("id"), str | None):
        return False
    if not isinstance(detail.get("format", ""), str) or not isinstance(detail.get("index", 0), int | float):
        return False
    match detail.get("type"):
        case "reasoning.summary":
            return isinstance(detail.get("summary"), str)
        case "reasoning.encrypted":
            return isinstance(detail.get("data"), str)
        case "reasoning.text":
            return isinstance(detail.get("text"), str) and isinstance(detail.get("signature"), str | None)
        case _:
            return False


def _is_encrypted(detail: Any) -> bool:
    return _is_detail(detail) and detail["type"] == "reasoning.encrypted" and bool(detail.get("id") and detail["data"])


def _results(run: Sequence[Message], client: Client, target: Target) -> Iterator[Item]:
    """All images of a run of results follow it in one message of the user."""
    for message in run:
        yield result(message, _text(message, client))
    bundled = [message for message in run if first_image(message)] if target.image_input else []
    if bundled:
        yield Item("user", "text", BUNDLE, source=first_image(bundled[0]), origin="repair", mark="bundled_image")
    for message in bundled:
        yield from images(message, "user", "bundled_image")


def _text(message: Message, client: Client) -> str:
    text = joined_text([part for part in message.parts if part.kind == "text"])
    if trim(text) if client.modern else text:
        return text
    return SEE_IMAGE if first_image(message) or not client.modern else NO_OUTPUT
