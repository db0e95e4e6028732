"""The system prompt and tools that pi keeps in the session (1.6.0), as they stand after replaying every change."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from core.agents.pi.context import selected
from core.agents.pi.records import detail, record
from core.agents.pi.wires.common import clean
from core.files import holding
from core.resume import Resume
from core.session import Session
from core.tokens.counting import compact_json
from core.view import Item, Source

Stored = tuple[str, Source]


@dataclass
class _Prompt:
    """The prompt as replayed so far."""

    content: list[Stored] = field(default_factory=list[Stored])
    sections: dict[str, Stored] = field(default_factory=dict[str, Stored])
    tools: dict[str, Stored] = field(default_factory=dict[str, Stored])

    def replay(self, message: dict[str, Any], source: Source) -> None:
        text = prompt_text(message.get("content"))
        if text:
            self.content.append((text, source))
        sections = message.get("sections")
        for name, value in sections.items() if isinstance(sections, dict) else ():
            if value is None:
                self.sections.pop(name, None)
            elif isinstance(value, str):
                self.sections[name] = (value, source)
        for tool in named_tools(message.get("toolsRemoved")):
            self.tools.pop(tool["name"], None)
        for tool in named_tools(message.get("toolsAdded")):
            self.tools[tool["name"]] = (compact_json(tool), source)


def system(session: Session, resume: Resume) -> tuple[Item, ...]:
    """Content, sections and tool declarations, one item each, role `system`; the tool's name is the item's `name`."""
    if session.leaf is None or detail(session).header_fault:
        return ()
    prompt = _Prompt()
    with holding(session.files, session.path):
        for message, source in _messages(session):
            prompt.replay(message, source)
    texts = [*prompt.content, *prompt.sections.values()]
    return (
        *(Item("system", "text", clean(text), source=(source,)) for text, source in texts),
        *(Item("system", "text", text, name=name, source=(source,)) for name, (text, source) in prompt.tools.items()),
    )


def _messages(session: Session) -> Iterator[tuple[dict[str, Any], Source]]:
    """The system messages that count, in order: that of the newest compaction first."""
    for number, entry in enumerate(selected(session)):
        if entry.kind == "compaction" and number == 0:
            message = record(session, entry).get("systemMessage")
        elif entry.kind == "message" and entry.role == "system":
            message = record(session, entry).get("message")
        else:
            continue
        if isinstance(message, dict):
            yield message, Source(entry.id, 0)


def prompt_text(content: Any) -> str:
    """The text of a system message's content; empty where it has none."""
    if isinstance(content, list):
        texts = [part.get("text") for part in content if isinstance(part, dict) and part.get("type") == "text"]
        return "\n".join(text for text in texts if isinstance(text, str))
    return content if isinstance(content, str) else ""


def named_tools(tools: Any) -> Iterator[dict[str, Any]]:
    """The tools of a declaration that have a name."""
    for tool in tools if isinstance(tools, list) else ():
        if isinstance(tool, dict) and isinstance(tool.get("name"), str):
            yield tool
