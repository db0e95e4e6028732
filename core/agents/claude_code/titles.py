"""What a session is called, and which session it is."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from core.agents.claude_code.records import Line
from core.files import Files
from core.jsonl import BrokenLine, decode
from core.session import Entry

LONGEST_TITLE = 120
"""Characters."""

UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII | re.IGNORECASE)

FIELDS = {"custom-title": "customTitle", "ai-title": "aiTitle", "last-prompt": "lastPrompt", "summary": "summary"}
"""Lines that name a session, best first, and the field that holds the name."""


def title_of(files: Files, path: Path, titles: Mapping[str, Entry], first_user: Entry | None) -> str:
    """The session's name, else the first line of the first message of the user."""
    for kind, name in FIELDS.items():
        if kind in titles:
            title = _line(_value(files, path, titles[kind]).get(name))
            if title:
                return title
    if first_user is None:
        return ""
    message = _value(files, path, first_user).get("message")
    content: Any = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, list):
        content = next((part.get("text") for part in content if isinstance(part, dict) and part.get("text")), None)
    return _line(content)


def _value(files: Files, path: Path, entry: Entry) -> dict[str, Any]:
    try:
        value = decode(files.read(path, entry.offset, entry.length))
    except BrokenLine:
        return {}
    return value if isinstance(value, dict) else {}


def _line(words: Any) -> str:
    if not isinstance(words, str):
        return ""
    return words.strip().split("\n", 1)[0][:LONGEST_TITLE].encode("utf-8", "replace").decode()


def identity_of(path: Path, stored: Sequence[Line], agent: str) -> str:
    """The sub-agent's id, or the session's: the file's name where that is one, else the id on most of its lines."""
    if agent:
        return agent
    if UUID.fullmatch(path.stem):
        return path.stem
    ids = Counter(line.session for line in stored if line.session)
    return ids.most_common(1)[0][0] if ids else ""
