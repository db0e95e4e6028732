"""The items of a history as the items of a request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from core.agents.grok_build.messages import AGENT_MESSAGE, Call, Message, Part
from core.jsonl import BrokenLine, TooDeep, decode
from core.view import Item, Mark

LABEL = "[Message authored by another agent; not a human request or approval.]"
"""What grok puts before another agent's message (1.0.41)."""

CHAT = "openai-completions"


def items_of(messages: Iterable[Message], wire: str) -> Iterator[Item]:
    """The request's items; in Chat Completions reasoning goes with the assistant's next message, or is lost."""
    is_chat = wire == CHAT
    names: dict[str, str] = {}
    waiting: list[Message] = []
    for message in messages:
        if is_chat and message.kind == "reasoning":
            if message.text:
                waiting.append(message)
            continue
        if is_chat and message.kind != "server_call":
            if message.kind == "assistant" and waiting:
                source = tuple(one.source for one in waiting)
                yield Item("assistant", "thinking", "\n".join(one.text for one in waiting), source=source)
            waiting = []
        yield from _items(message, names, is_chat)


def _items(message: Message, names: dict[str, str], is_chat: bool) -> Iterator[Item]:
    source = (message.source,)
    if message.kind == "user":
        yield from _user(message)
    elif message.kind == "system":
        yield Item("system", "text", message.text, source=source)
    elif message.kind == "reasoning":
        yield Item("assistant", "thinking", message.text, opaque=not message.text, signed=True, source=source)
    elif message.kind == "assistant":
        if message.text:
            yield Item("assistant", "text", message.text, source=source)
        for call in message.calls:
            names[call.id] = call.name
            yield _call(call)
    elif message.kind == "tool_result":
        name = names.get(message.call_id, "")
        yield Item(
            "tool", "tool_result", message.text, message.call_id, name,
            source=source, origin=message.origin, trimmed=message.trimmed,
        )  # fmt: skip
        yield from (_image(part, "tool", message.call_id) for part in message.parts if part.picture is not None)
    elif message.run is not None:
        run = message.run
        if is_chat:
            yield Item("assistant", "text", run.told, source=source)
        else:
            yield Item(
                "assistant", "tool_call", "", run.call_id, run.name, run.arguments, at_server=True, source=source
            )


def _user(message: Message) -> Iterator[Item]:
    mark = mark_of(message)
    if message.synthetic in AGENT_MESSAGE:
        yield Item("user", "text", LABEL, source=(message.source,), origin="repair", mark=mark)
    for part in message.parts:
        if part.picture is not None:
            yield _image(part, "user")
        elif part.text:
            yield Item("user", "text", part.text, source=(part.source,), origin=part.origin, mark=mark)


def mark_of(message: Message) -> Mark:
    """What a user's message stands for where no person wrote it."""
    if message.is_summary:
        return "summary"
    return "" if message.is_typed else "custom"


def _image(part: Part, role: Any, call_id: str = "") -> Item:
    assert part.picture is not None
    known = part.picture
    return Item(
        role, "image", call_id=call_id, media_type=known.media_type, sha256=known.sha256, image_bytes=known.size,
        source=(part.source,),
    )  # fmt: skip


def _call(call: Call) -> Item:
    return Item("assistant", "tool_call", "", call.id, call.name, sent_arguments(call.arguments), source=(call.source,))


def sent_arguments(arguments: str) -> Any:
    """The arguments as they are sent: an empty object where they are no JSON by their syntax."""
    try:
        return decode(arguments.encode("utf-8", "surrogatepass"))
    except TooDeep:
        return arguments
    except BrokenLine:
        return {}
