"""Whether a file is one of Claude Code's sessions, judged by its content from a bounded head."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from core.files import Files
from core.jsonl import BrokenLine, decode

HEAD = 1 << 20
"""Bytes that are looked at."""

MOST_LINES = 2000
"""Lines of the head that are tried."""

MOST_OBJECTS = 200
"""Objects of the head that are judged."""

CHAIN_FIELDS = ("parentUuid", "isSidechain", "sessionId")
"""A line with a uuid and one of these is of the chain, whatever its type."""

SIDE_FIELDS: dict[str, tuple[str, ...]] = {
    "last-prompt": ("leafUuid", "lastPrompt"),
    "queue-operation": ("operation",),
    "summary": ("leafUuid",),
    "custom-title": ("customTitle",),
    "ai-title": ("aiTitle",),
    "agent-name": ("agentName",),
    "mode": ("mode",),
    "permission-mode": ("permissionMode",),
    "tools-used": ("tools",),
    "cost-state": ("totalCostUSD",),
    "atis-latch": ("atis",),
    "pr-link": ("prNumber", "prUrl"),
    "tag": ("tag",),
    "file-history-snapshot": ("snapshot", "messageId"),
    "attribution-snapshot": ("messageId",),
    "content-replacement": ("replacements", "sessionId"),
    "api-request": ("sessionId",),
    "api-request-shape": ("sessionId", "hash"),
    "api-request-blob": ("sessionId", "hash"),
}
"""Types of lines beside the chain, and fields of which each has one."""

_UNREADABLE = re.compile(rb'\s*\{"parentUuid":(null|"[0-9a-f-]{36}"),"(isSidechain|logicalParentUuid)":')
"""How the client begins a line of the chain: the start of one that is longer than the head, or torn."""


def is_claude_code(files: Files, path: Path) -> bool:
    """True where one of the first lines of the head is one that Claude Code writes."""
    head = files.read(path, 0, HEAD)
    objects = 0
    for line in head.removeprefix(b"\xef\xbb\xbf").split(b"\n", MOST_LINES)[:MOST_LINES]:
        if not line.lstrip().startswith(b"{"):
            continue
        try:
            value = decode(line)
        except BrokenLine:
            continue
        if isinstance(value, dict):
            if _is_line(value):
                return True
            objects += 1
            if objects == MOST_OBJECTS:
                return False
    return _UNREADABLE.match(head) is not None


def _is_line(value: dict[str, Any]) -> bool:
    kind = value.get("type")
    if not isinstance(kind, str):
        return False
    if isinstance(value.get("uuid"), str) and any(name in value for name in CHAIN_FIELDS):
        return kind not in ("user", "assistant") or isinstance(value.get("message"), dict)
    return any(name in value for name in SIDE_FIELDS.get(kind, ()))
