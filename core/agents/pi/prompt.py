"""The system message that a compaction of ours carries: all that the path's system messages amount to (1.6.0)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.agents.pi.context import selected
from core.agents.pi.records import record
from core.agents.pi.system import named_tools, prompt_text
from core.session import Entry, Session


def replayed(session: Session, edits: Mapping[str, Entry], milliseconds: int) -> dict[str, Any] | None:
    """The selected system messages folded into one, as pi 1.6.0 does at a compaction; None where there are none.

    `edits` are the edits that count: a system message that one of them leaves out is gone for pi, too.
    """
    content: list[str] = []
    sections: dict[str, Any] = {}
    tools: dict[str, Any] = {}
    found = False
    for number, entry in enumerate(selected(session)):
        message = _message(session, entry, newest=number == 0)
        if message is None or _left_out(session, edits.get(entry.id)):
            continue
        found = True
        text = prompt_text(message.get("content"))
        if text:
            content.append(text)
        changed = message.get("sections")
        for name, value in changed.items() if isinstance(changed, dict) else ():
            sections.pop(name, None) if value is None else sections.update({name: value})
        for tool in named_tools(message.get("toolsRemoved")):
            tools.pop(tool["name"], None)
        for tool in named_tools(message.get("toolsAdded")):
            tools[tool["name"]] = tool
    if not found:
        return None
    out: dict[str, Any] = {"role": "system", "content": "\n\n".join(content)}
    if sections:
        out["sections"] = sections
    if tools:
        out["toolsAdded"] = list(tools.values())
    return out | {"timestamp": milliseconds}


def _message(session: Session, entry: Entry, newest: bool) -> dict[str, Any] | None:
    if entry.kind == "compaction" and newest:
        message = record(session, entry).get("systemMessage")
    elif entry.role == "system":
        message = record(session, entry).get("message")
    else:
        return None
    return message if isinstance(message, dict) else None


def _left_out(session: Session, edit: Entry | None) -> bool:
    return edit is not None and record(session, edit).get("replacement", "") is None
