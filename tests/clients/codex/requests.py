"""Codex's requests read into items of the form `model-view/1`: the session's own, without what is made afresh."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from tests.clients.codex.home import rows

Json = dict[str, Any]
Said = tuple[Any, tuple[str, ...]]
"""A message as it is recognised: role and texts."""

BASE = ["model.base_instructions"]


class Stored:
    """The messages that can come from a session's files, as often as they stand in what counts."""

    def __init__(self, contents: Sequence[bytes]) -> None:
        self.messages: Counter[Said] = Counter()
        self.base: set[Said] = set()
        """Those that are labelled as the system prompt."""
        for data in contents:
            self._read(data)

    def _read(self, data: bytes) -> None:
        here: Counter[Said] = Counter()
        for row in rows(data):
            payload = row.get("payload")
            if not isinstance(payload, dict):
                continue
            if row.get("type") == "response_item":
                here += self._messages([payload])
            elif row.get("type") == "compacted":
                history = payload.get("replacement_history")
                if isinstance(history, list):
                    here = self._messages(history)
                    self.messages.clear()  # what stood before is no longer sent
                here[("user", (str(payload.get("message") or ""),))] += 1
        self.messages += here

    def _messages(self, items: Sequence[Any]) -> Counter[Said]:
        found = [item for item in items if isinstance(item, dict) and item.get("type") == "message"]
        for item in found:
            label = item.get("internal_chat_message_metadata_passthrough")
            if isinstance(label, dict) and label.get("content_item_kinds") == BASE:
                self.base.add(said(item))
        return Counter(said(item) for item in found)


def said(item: Mapping[str, Any]) -> Said:
    content = item.get("content")
    parts = [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    texts = (part.get("text") if isinstance(part.get("text"), str) else part.get("type") for part in parts)
    return item.get("role"), tuple(str(text) for text in texts)


def items_of(body: Mapping[str, Any], prompt: str, stored: Stored, box: str) -> tuple[Json, ...] | None:
    """The session's part of a request; None where our prompt does not stand in it.

    Left out are the prompt and what follows it, the system prompt and tool definitions, and the messages right before
    the prompt that do not stand in the session, or that name the folder `box` in which the client runs.
    """
    items: list[Json] = body.get("input") or []
    at = [number for number, item in enumerate(items) if item.get("role") == "user" and prompt in said(item)[1]]
    if not at:
        return None
    mine = items[: at[-1]]
    if body.get("tools") and mine and mine[0].get("role") in ("developer", "system"):
        mine = mine[1:]
    mine = _without_tools(mine, stored)
    sent = Counter(said(item) for item in mine if item.get("type") == "message")
    end = len(mine)
    while end and mine[end - 1].get("type") == "message" and mine[end - 1].get("role") in ("developer", "user"):
        this = said(mine[end - 1])
        if stored.messages[this] >= sent[this] and not any(box in text for text in this[1]):
            break
        sent[this] -= 1
        end -= 1
    return tuple(one for item in mine[:end] for one in _shown(item))


def _without_tools(items: Sequence[Json], stored: Stored) -> list[Json]:
    """Newer models get tool definitions and system prompt as items; they are no part of the view."""
    kept: list[Json] = []
    behind = False
    for item in items:
        is_base = item.get("role") == "developer" and (behind or said(item) in stored.base)
        behind = item.get("type") == "additional_tools"
        if not (is_base or behind):
            kept.append(item)
    return kept


def texts_of(body: Mapping[str, Any]) -> str:
    """All that a request says, for looking whether something is in it."""
    shown = [one for item in body.get("input") or [] for one in _shown(item)]
    return "\n".join(one.get("text", "") for one in shown if one["role"] != "system")


def _shown(item: Json) -> list[Json]:
    """One item of the request as items of the view."""
    kind, call_id = item.get("type"), item.get("call_id")
    call = {"role": "assistant", "type": "tool_call", "call_id": call_id}
    match kind:
        case "message":
            return _parts({"developer": "system"}.get(item["role"], item["role"]), item.get("content"))
        case "agent_message":
            return _parts("user", item.get("content"))
        case "reasoning":
            parts = item.get("content") or item.get("summary") or []
            text = "\n".join(part.get("text", "") for part in parts)
            return [{"role": "assistant", "type": "thinking"} | ({"text": text} if text else {"opaque": True})]
        case "function_call" | "tool_search_call":
            return [call | {"name": item.get("name") or "tool_search", "arguments": _parsed(item.get("arguments"))}]
        case "custom_tool_call":
            return [call | {"name": item.get("name"), "arguments": item.get("input")}]
        case "local_shell_call" | "web_search_call":
            action = {name: one for name, one in (item.get("action") or {}).items() if one is not None}
            return [call | {"name": str(kind).removesuffix("_call"), "arguments": action}]
        case "function_call_output" | "custom_tool_call_output":
            return _result(call_id, item.get("output"))
        case "tool_search_output":
            tools = json.dumps(item.get("tools"), ensure_ascii=False, sort_keys=True, separators=(",", ":"))
            return _result(call_id, tools)
        case "image_generation_call":
            return [{"role": "assistant", "type": "image", **_digest("data:image/png;base64," + item["result"])}]
        case "compaction" | "compaction_summary" | "context_compaction":
            return [{"role": "assistant", "type": "thinking", "opaque": True}]
        case _:
            return [{"role": "assistant", "type": kind}]


def _parts(role: str, content: Any) -> list[Json]:
    out: list[Json] = []
    for part in content or []:
        if part.get("type") == "input_image":
            out.append({"role": role, "type": "image", **_digest(part.get("image_url") or "")})
        elif "text" in part:
            out.append({"role": role, "type": "text", "text": part["text"]})
        elif "encrypted_content" in part:
            out.append({"role": role, "type": "thinking", "opaque": True})
        else:
            out.append({"role": role, "type": part.get("type")})
    return out


def _result(call_id: Any, output: Any) -> list[Json]:
    shown = [{"type": "text", "text": output}] if isinstance(output, str) else _parts("tool", output)
    text = "\n".join(one["text"] for one in shown if one["type"] == "text")
    result = {"role": "tool", "type": "tool_result", "call_id": call_id, "text": text}
    return [result, *[one for one in shown if one["type"] != "text"]]


def _digest(url: str) -> Json:
    found = re.match(r"data:([^;,]*);base64,(.*)$", url, re.DOTALL)
    if found is None:
        return {}
    try:
        data = base64.b64decode(found[2])
    except (binascii.Error, ValueError):
        data = found[2].encode()
    return {"media_type": found[1], "sha256": hashlib.sha256(data).hexdigest()}


def _parsed(arguments: Any) -> Any:
    try:
        return json.loads(arguments) if isinstance(arguments, str) else arguments
    except ValueError:
        return arguments
