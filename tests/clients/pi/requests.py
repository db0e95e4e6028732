"""pi's requests on its three wires, read into items of the form `model-view/1`."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from tests.clients.client import Request

Items = list[dict[str, Any]]


def items_of(request: Request, prompt: str) -> tuple[dict[str, Any], ...] | None:
    """The session's own part of a request; None where the request does not end in our prompt.

    pi makes its system prompt, rules and tools afresh; all that stands in the leading system messages.
    """
    reader = next((read for end, read in READERS.items() if request.path.endswith(end)), None)
    if reader is None:
        return None
    groups = list(reader(request.body))
    while groups and groups[0] and groups[0][0]["role"] == "system":
        groups.pop(0)
    if not groups or not groups[-1] or groups[-1][-1].get("text") != prompt:
        return None
    groups[-1].pop()
    return tuple(item for group in groups for item in group)


def texts_of(request: Request) -> str:
    """Every text of a request outside the system prompt, one after the other."""
    reader = next(read for end, read in READERS.items() if request.path.endswith(end))
    items = [item for group in reader(request.body) for item in group]
    return "\n".join(item.get("text", "") for item in items if item["role"] != "system")


def _image(role: str, media_type: str, data: str) -> dict[str, Any]:
    content = base64.b64decode(data + "=" * (-len(data) % 4))
    return {"role": role, "type": "image", "media_type": media_type, "sha256": hashlib.sha256(content).hexdigest()}


def _from_url(role: str, url: str) -> dict[str, Any]:
    found = re.match(r"data:([^;,]*);base64,(.*)$", url, re.DOTALL)
    return _image(role, found[1], found[2]) if found else {"role": role, "type": "text", "text": url}


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _parts(role: str, content: Any) -> Items:
    if isinstance(content, str):
        return [{"role": role, "type": "text", "text": content}]
    return [_part(role, part) for part in content or []]


def _part(role: str, part: dict[str, Any]) -> dict[str, Any]:
    match part.get("type"):
        case "text" | "input_text" | "output_text":
            return {"role": role, "type": "text", "text": part["text"]}
        case "image":
            return _image(role, part["source"]["media_type"], part["source"]["data"])
        case "image_url":
            return _from_url(role, part["image_url"]["url"])
        case "input_image":
            return _from_url(role, part["image_url"])
        case kind:
            return {"role": role, "type": kind or "unknown"}


def _result(call_id: str, content: Any) -> Items:
    parts = _parts("tool", content)
    text = "\n".join(part["text"] for part in parts if part["type"] == "text")
    result = {"role": "tool", "type": "tool_result", "call_id": call_id, "text": text}
    return [result, *[part for part in parts if part["type"] != "text"]]


def _messages(body: dict[str, Any]) -> Iterator[Items]:
    for message in body["messages"]:
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        yield [item for block in blocks for item in _block(message["role"], block)]


def _block(role: str, block: dict[str, Any]) -> Items:
    match block["type"]:
        case "thinking" if block["thinking"].strip():
            return [{"role": role, "type": "thinking", "text": block["thinking"]}]
        case "thinking" | "redacted_thinking":
            return [{"role": role, "type": "thinking", "opaque": True}]
        case "tool_use":
            call = {"role": role, "type": "tool_call", "call_id": block["id"], "name": block["name"]}
            return [call | {"arguments": block["input"]}]
        case "tool_result":
            return _result(block["tool_use_id"], block.get("content") or "")
        case _:
            return _parts(role, [block])


def _completions(body: dict[str, Any]) -> Iterator[Items]:
    for message in body["messages"]:
        role = "system" if message["role"] == "developer" else message["role"]
        if role == "tool":
            yield _result(message["tool_call_id"], message["content"])
            continue
        keys = ("reasoning_content", "reasoning", "reasoning_text")
        items: Items = [{"role": role, "type": "thinking", "text": message[key]} for key in keys if message.get(key)]
        if message.get("reasoning_details"):
            items.append({"role": role, "type": "thinking", "opaque": True})
        items += _parts(role, message.get("content"))
        for call in message.get("tool_calls") or []:
            item = {"role": role, "type": "tool_call", "call_id": call["id"], "name": call["function"]["name"]}
            items.append(item | {"arguments": _parsed(call["function"]["arguments"])})
        yield items


def _responses(body: dict[str, Any]) -> Iterator[Items]:
    for item in body["input"]:
        match item.get("type", "message"):
            case "message":
                role = "system" if item["role"] == "developer" else item["role"]
                yield _parts(role, item["content"])
            case "reasoning":
                text = "\n\n".join(part["text"] for part in item.get("summary") or item.get("content") or [])
                yield [{"role": "assistant", "type": "thinking"} | ({"text": text} if text else {"opaque": True})]
            case "function_call":
                call = {"role": "assistant", "type": "tool_call", "call_id": item["call_id"], "name": item["name"]}
                yield [call | {"arguments": _parsed(item["arguments"])}]
            case "function_call_output":
                yield _result(item["call_id"], item["output"])
            case kind:
                yield [{"role": "assistant", "type": kind}]


READERS: dict[str, Callable[[dict[str, Any]], Iterator[Items]]] = {
    "/messages": _messages,
    "/chat/completions": _completions,
    "/responses": _responses,
}
