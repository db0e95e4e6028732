"""Whether a file is one of pi's sessions, judged by its content from a bounded head."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from core.agents.pi.records import KINDS, ROLES
from core.files import Files
from core.jsonl import BrokenLine, decode

HEAD = 1 << 20
"""Bytes that are looked at; pi 1.6.0 itself looks as far for a header."""

MOST_LINES = 2000
"""Lines of the head that are tried."""

MOST_OBJECTS = 20
"""Objects of the head that are judged: pi refuses a file that begins with something else, but it is still pi's."""

_UNREADABLE = re.compile(
    rb'[\[{\s\xef\xbb\xbf]*"type"\s*:\s*"(session|model_change|thinking_level_change|compaction'
    rb'|message(?=".{0,400}?"(parentId|message)"\s*:))"',
    re.DOTALL,
)
"""The start of a record of pi in a line that is longer than the head, torn, or spread over several lines.

OpenAI's Responses have items of the type `message` too, which hold neither another message nor a parent.
"""


def is_pi(files: Files, path: Path) -> bool:
    """True where one of the first records of the head is pi's, or the file is a `.jsonl` without content.

    Also true for files that pi itself refuses, as long as it is plain that they are meant for it.
    """
    head = files.read(path, 0, HEAD)
    if not head.strip():
        return path.suffix == ".jsonl" and files.exists(path)
    objects = 0
    for line in head.split(b"\n", MOST_LINES)[:MOST_LINES]:
        try:
            value = decode(line.removeprefix(b"\xef\xbb\xbf"))
        except BrokenLine:
            continue
        if isinstance(value, dict):
            if value.get("type") == "session" and "delegationDepth" in value:
                return False  # the header of another agent, dsh, which begins as pi's does
            if _is_record(value):
                return True
            objects += 1
            if objects == MOST_OBJECTS:
                return False
    return _UNREADABLE.match(head) is not None and b'"delegationDepth"' not in head


def _is_record(value: dict[str, Any]) -> bool:
    kind = value.get("type")
    if not isinstance(kind, str):
        return False
    if kind == "session":
        return "cwd" in value or "version" in value or "timestamp" in value
    if kind == "message":
        message = value.get("message")
        return isinstance(message, dict) and str(message.get("role")) in ROLES
    return kind in KINDS and ("parentId" in value or ("id" in value and "timestamp" in value))
