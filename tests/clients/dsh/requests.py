"""dsh's requests over chat completions, read into items of the form `model-view/1`."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import Any

Json = dict[str, Any]

COMPACTING = "You are now acting as a compaction engine"
"""How the last message of dsh's request for a summary begins."""

CAPTION = "Attached image(s) from tool result:"
"""What dsh writes above the pictures of tool results; in the view they are items of the tool's."""


def items_of(body: Mapping[str, Any], prompt: str, made: Collection[str]) -> tuple[Json, ...] | None:
    """The session's own part of a request: what stands before our prompt; None where it asks for a summary.

    A prompt that waited in the stored inbox gets a request of its own before ours. `made` are the messages that dsh
    added by itself in this life: such as stand last are no part of the session either.
    """
    messages = [message for message in body["messages"] if message["role"] != "system"]
    if str(messages[-1].get("content")).startswith(COMPACTING):
        return None
    places = [at for at, one in enumerate(messages) if one["role"] == "user" and one.get("content") == prompt]
    own = messages[: places[-1]] if places else messages
    while own and own[-1]["role"] == "user" and own[-1].get("content") in made:
        own.pop()
    return tuple(item for message in own for item in _items(message))


def texts_of(body: Mapping[str, Any]) -> str:
    """Every text of a request outside the system prompt, one after the other."""
    items = [item for message in body["messages"] if message["role"] != "system" for item in _items(message)]
    return "\n".join(item.get("text", "") for item in items)


def _items(message: Mapping[str, Any]) -> list[Json]:
    role, content = message["role"], message.get("content") or ""
    if role == "tool":
        return [{"role": role, "type": "tool_result", "call_id": message["tool_call_id"], "text": content}]
    items: list[Json] = []
    if message.get("reasoning_content"):
        items.append({"role": role, "type": "thinking", "text": message["reasoning_content"]})
    items += _parts(role, [{"type": "text", "text": content}] if isinstance(content, str) else content)
    for call in message.get("tool_calls", ()):
        arguments = call["function"]["arguments"]
        with suppress(ValueError):
            arguments = json.loads(arguments)
        name = call["function"]["name"]
        items.append({"role": role, "type": "tool_call", "call_id": call["id"], "name": name, "arguments": arguments})
    return items


def _parts(role: str, parts: Sequence[Mapping[str, Any]]) -> list[Json]:
    if len(parts) > 1 and parts[0].get("text") == CAPTION and all(part["type"] == "image_url" for part in parts[1:]):
        role, parts = "tool", parts[1:]
    items: list[Json] = []
    for part in parts:
        if part["type"] == "image_url":
            items.append(_image(role, part["image_url"]["url"]))
        elif part.get("text"):
            items.append({"role": role, "type": "text", "text": part["text"]})
    return items


def _image(role: str, url: str) -> Json:
    found = re.match(r"data:([^;,]*);base64,(.*)$", url, re.DOTALL)
    if not found:
        return {"role": role, "type": "image", "url": url}
    digest = hashlib.sha256(base64.b64decode(found[2])).hexdigest()
    return {"role": role, "type": "image", "media_type": found[1], "sha256": digest}
