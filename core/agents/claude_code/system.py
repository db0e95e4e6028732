"""The system prompt and tools that Claude Code keeps in the session: those of the newest snapshot on the way."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from core.agents.claude_code.items import clean
from core.agents.claude_code.records import detail, record
from core.files import holding
from core.resume import Resume
from core.session import Session
from core.view import Item, Source


def system(session: Session, resume: Resume) -> tuple[Item, ...]:
    """The prompt's parts and the tool declarations, one item each, role `system`; a tool's name is the item's `name`.

    The prompt is that of the newest snapshot on the way to the leaf, the tools are those of the newest that has any.
    """
    prompt: tuple[Item, ...] = ()
    tools: tuple[Item, ...] = ()
    with holding(session.files, session.path):
        for line in reversed(detail(session).path):
            if line.entry.kind != "attachment":
                continue
            attachment = record(session, line.entry).get("attachment")
            if not isinstance(attachment, dict) or attachment.get("type") != "prompt_snapshot":
                continue
            source = (Source(line.id, 0),)
            prompt = prompt or tuple(_texts(attachment.get("systemPrompt"), source))
            tools = tools or tuple(_tools(attachment.get("tools"), source))
            if prompt and tools:
                break
    return (*prompt, *tools)


def _texts(value: Any, source: tuple[Source, ...]) -> Iterator[Item]:
    for text in value if isinstance(value, list) else [value]:
        if isinstance(text, str) and text:
            yield Item("system", "text", clean(text), source=source)


def _tools(value: Any, source: tuple[Source, ...]) -> Iterator[Item]:
    for tool in value if isinstance(value, list) else ():
        if isinstance(tool, dict) and isinstance(tool.get("name"), str):
            try:
                text = msgspec.json.encode(tool).decode()
            except UnicodeEncodeError:
                text = clean(str(tool))
            yield Item("system", "text", text, name=clean(tool["name"]), source=source)
