"""The stored lines as items of a history."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from core.agents.grok_build import shapes
from core.agents.grok_build.images import picture
from core.agents.grok_build.messages import Call, Message, Part, ServerRun
from core.agents.grok_build.records import detail, history_entries, value
from core.session import Session
from core.view import Source

INSIDE = 1 << 20
"""Parts of an entry from here on are what earlier clients stored inside an assistant's message: it goes before it."""


def stored_messages(session: Session) -> Iterator[Message]:
    """The history as its file tells it, before any repair."""
    seen: set[str] = set()
    for entry in history_entries(session):
        yield from messages_of(entry.id, value(session, entry), detail(session).version, seen)


def messages_of(entry: str, stored: Any, version: int, seen: set[str]) -> Iterator[Message]:
    """The items of one line; `seen` are the ids of server-run calls so far. Raises one of shapes.FAILURES."""
    found = shapes.item(stored, version)
    before = list(_inside(entry, stored, seen))
    main = _of_role(entry, found) if isinstance(found, shapes.RoleMessage) else _of_tag(entry, found)
    if isinstance(found, shapes.ServerCall):
        seen.add(shapes.server_kind(found.kind)[1].id)
    yield from before
    yield main


def _of_tag(entry: str, found: shapes.TaggedItem) -> Message:
    source = Source(entry, 0)
    if isinstance(found, shapes.System):
        return Message("system", source, found.content)
    if isinstance(found, shapes.User):
        parts = [_part(Source(entry, number), part) for number, part in enumerate(found.content)]
        reason = found.synthetic_reason if isinstance(found.synthetic_reason, str) else None
        return Message("user", source, parts=parts, synthetic=reason)
    if isinstance(found, shapes.Assistant):
        calls = [Call(Source(entry, at), c.id, c.name, c.arguments) for at, c in enumerate(found.tool_calls, 1)]
        return Message("assistant", source, found.content, calls=calls)
    if isinstance(found, shapes.ToolResult):
        images = [_part(Source(entry, number), part) for number, part in enumerate(found.images, 1)]
        return Message("tool_result", source, found.content, images, call_id=found.tool_call_id)
    if isinstance(found, shapes.Reasoning):
        return _reasoning(source, found)
    return _server_call(source, *shapes.server_kind(found.kind))


def _of_role(entry: str, found: shapes.RoleMessage) -> Message:
    source = Source(entry, 0)
    blocks = [shapes.Block(found.content)] if isinstance(found.content, str) else found.content
    text = "\n".join(block.text for block in blocks if isinstance(block, shapes.Block))
    if found.role == "system":
        return Message("system", source, text)
    if found.role == "tool":
        return Message("tool_result", source, text, call_id=found.tool_call_id or "")
    if found.role == "assistant":
        calls = [
            Call(Source(entry, number), call.id or "", call.function.name, call.function.arguments)
            for number, call in enumerate(found.tool_calls, 1)
        ]
        return Message("assistant", source, text, calls=calls)
    parts = [
        Part(Source(entry, number), block.text)
        if isinstance(block, shapes.Block)
        else Part(Source(entry, number), picture=picture(block.image_url.url))
        for number, block in enumerate(blocks)
    ]
    return Message("user", source, parts=parts)


def _part(source: Source, part: shapes.Text | shapes.Image) -> Part:
    return Part(source, part.text) if isinstance(part, shapes.Text) else Part(source, picture=picture(part.url))


def _reasoning(source: Source, found: shapes.Reasoning) -> Message:
    texts = [one.text for one in found.summary] + [one.text for one in found.content or ()]
    return Message("reasoning", source, "\n".join(texts), encrypted=found.encrypted_content or "")


def _inside(entry: str, stored: Any, seen: set[str]) -> Iterator[Message]:
    """Reasoning and server-run calls that earlier clients stored inside an assistant's message."""
    is_tagged, is_role = stored.get("type") == "assistant", stored.get("role") == "assistant"
    if not is_tagged and not is_role:
        return
    raw = stored.get("raw_output")
    if isinstance(raw, list):
        for number, one in enumerate(raw):
            yield from _of_output(Source(entry, INSIDE + number), one, seen)
        return
    source, inner = Source(entry, INSIDE), stored.get("reasoning")
    if is_tagged and isinstance(inner, dict):
        text, encrypted = _text(inner.get("text")), _text(inner.get("encrypted"))
    else:
        text, encrypted = _text(stored.get("reasoning_content")) if is_role else "", ""
    if text or encrypted:
        yield Message("reasoning", source, text, encrypted=encrypted)


def _of_output(source: Source, one: Any, seen: set[str]) -> Iterator[Message]:
    found = shapes.output(one)
    if found is None:
        return
    name, item = found
    if isinstance(item, shapes.Reasoning):
        yield _reasoning(source, item)
    elif item.id not in seen:
        seen.add(item.id)
        yield _server_call(source, name, item)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _server_call(source: Source, name: str, found: shapes.ServerKind) -> Message:
    if isinstance(found, shapes.WebSearch):
        action, told = _action(found)
        run = ServerRun(name, found.id, {"action": action}, f"[backend web_search] {told}")
    elif isinstance(found, shapes.CustomCall):
        told = f"[backend x_search] {found.name}({found.input})"
        run = ServerRun(found.name, found.call_id, {"input": found.input}, told)
    else:
        code = found.code or ""
        start = code.encode()[:100].decode("utf-8", "ignore") + "..." if len(code.encode()) > 100 else code
        outputs = {} if found.outputs is None else {"outputs": found.outputs}
        arguments = {"container_id": found.container_id, **outputs}
        if found.code is not None:
            arguments["code"] = found.code
        run = ServerRun(name, found.id, arguments, f"[backend code_interpreter] {start}")
    return Message("server_call", source, run=run)


def _action(found: shapes.WebSearch) -> tuple[dict[str, Any], str]:
    """What a web search did, as it is sent and in words."""
    action = found.action
    if isinstance(action, shapes.Search):
        sent = {"type": "search", "query": action.query, "sources": action.sources}
        return sent, f"search: {action.query}"
    if isinstance(action, shapes.OpenPage):
        return {"type": "open_page", "url": action.url}, f"open: {action.url if action.url is not None else '?'}"
    kind = "find" if isinstance(action, shapes.Find) else "find_in_page"
    sent = {"type": kind, "url": action.url, "pattern": action.pattern}
    return sent, f'find "{action.pattern}" in {action.url}'
