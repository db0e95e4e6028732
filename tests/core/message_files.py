"""Writes files of messages for tests, and checks what reading one must always keep to."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from core.agents.openai_messages import AGENT
from core.agents.openai_messages.reading import PLACES
from core.errors import ClientRefuses
from core.files import Disk
from core.resume import Overrides
from core.session import Session

Value = dict[str, Any]

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
"""A small PNG in base64."""


def user(content: Any) -> Value:
    return {"role": "user", "content": content}


def system(content: Any) -> Value:
    return {"role": "system", "content": content}


def reply(content: Any, *calls: str, **more: Any) -> Value:
    """An assistant message, with a call of `read` for each of `calls`."""
    made = [{"id": one, "type": "function", "function": {"name": "read", "arguments": "{}"}} for one in calls]
    return {"role": "assistant", "content": content, **({"tool_calls": made} if made else {}), **more}


def result(call_id: str, content: Any = "done") -> Value:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def request(model: str, messages: list[Value], answer: Value, usage: Value, identity: str) -> Value:
    """A line of a log of Chat Completions requests."""
    response = {"id": identity, "choices": [{"index": 0, "message": answer}], "usage": usage}
    return {"request": {"model": model, "messages": messages}, "response": response}


def write(path: Path, value: Any, indent: int | None = None) -> Path:
    """One JSON document, or JSON Lines where the name says so."""
    if path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(line) + "\n" for line in value), "utf-8")
    else:
        path.write_text(json.dumps(value, indent=indent), "utf-8")
    return path


def assert_partition(session: Session, data: bytes) -> None:
    """Each byte belongs to one entry or one damage, with the white space and commas behind it."""
    places = [(one.offset, one.offset + one.length) for one in session.entries]
    places += [(one.offset, one.offset + one.length) for one in session.damage if one.kind in PLACES]
    at = 0
    for start, end in sorted(places):
        assert start >= at
        assert start == 0 or not data[at:start].strip(b" \t\r\n,")
        assert at > 0 or start == 0
        at = end
    assert not data[at:].strip(b" \t\r\n,")


def read_all(path: Path, data: bytes) -> None:
    """Everything that can be asked of a file; raises nothing where the reader keeps its word."""
    path.write_bytes(data)
    AGENT.detect(Disk(), path)
    session = AGENT.open(Disk(), path)
    assert_partition(session, data)
    assert len({entry.id for entry in session.entries}) == len(session.entries)
    resume = AGENT.resume(session, Overrides())
    AGENT.usage(session)
    AGENT.system(session, resume)
    list(AGENT.findings(session, resume))
    list(AGENT.history(session, resume))
    try:
        view = AGENT.view(session, resume)
    except ClientRefuses as refusal:
        assert "\n" not in str(refusal)
        return
    json.dumps(view.to_json())
    units = AGENT.units(view)
    assert sorted(at for unit in units for at in unit.items) == list(range(len(view.items)))
    for unit in units:
        options = AGENT.options(view, unit)
        assert not options.allowed & set(options.refused)
    for item in view.items:
        if item.kind == "image":
            AGENT.image(session, item.source)
