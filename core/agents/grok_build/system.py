"""The stored copies of what was last sent beside the history: system prompt and tool definitions."""

from __future__ import annotations

import msgspec

from core.agents.grok_build import shapes
from core.agents.grok_build.records import LARGEST_SIDE_FILE, SYSTEM_PROMPT, TOOLS, size_of
from core.session import Session
from core.view import Item, Source


def system(session: Session, stored: str, source: Source) -> tuple[Item, ...]:
    """The system prompt, of the history or of the copy beside it, and the tool definitions, one item each."""
    folder = session.path.parent
    text = _content(session, SYSTEM_PROMPT).decode("utf-8", "replace") or stored
    items = [Item("system", "text", text, source=(source,))] if text else []
    try:
        tools = shapes.value_of(_content(session, TOOLS))
    except shapes.FAILURES:
        tools = None
    if isinstance(tools, dict):
        tools = tools.get("tools")
    for number, tool in enumerate(tools if isinstance(tools, list) else ()):
        function = tool.get("function", tool) if isinstance(tool, dict) else {}
        name = function.get("name") if isinstance(function, dict) else None
        words = msgspec.json.encode(tool).decode()
        source = Source(str(folder / TOOLS), number)
        items.append(Item("system", "text", words, name=name if isinstance(name, str) else "", source=(source,)))
    return tuple(items)


def _content(session: Session, name: str) -> bytes:
    """The content of a small file beside the history; empty where there is none."""
    path = session.path.parent / name
    size = size_of(session.files, path)
    return session.files.read(path, 0, LARGEST_SIDE_FILE) if size and size <= LARGEST_SIDE_FILE else b""
