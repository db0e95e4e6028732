"""Whether a file is the history of a grok session, judged by its content and by what lies beside it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from core.agents.grok_build import shapes
from core.agents.grok_build.records import HISTORY, SUMMARY, UPDATES, json_file, size_of
from core.files import Files

HEAD = 1 << 16
"""Bytes of the history that are looked at."""

MOST_LINES = 50

_UNREADABLE = re.compile(
    rb'\s*\{\s*"type"\s*:\s*("(system|assistant)"\s*,\s*"content"\s*:\s*"|'
    rb'"user"\s*,\s*"content"\s*:\s*\[\s*\{|"tool_result"\s*,\s*"tool_call_id"\s*:\s*")'
)
"""The start of an item in a line that is longer than the head, or torn."""

_FOREIGN = frozenset({"message", "uuid", "payload", "role", "parentId"})
"""Keys of other agents' records of the same types."""


def is_grok(files: Files, path: Path) -> bool:
    """True for a history, and for what stands in its place in a session's folder where it is missing."""
    beside = path.parent / HISTORY
    if path.name not in (HISTORY, UPDATES, SUMMARY):
        is_copy = path.name.startswith(f"{HISTORY}.") and files.exists(beside) and in_session(files, path.parent)
        return not is_copy and _is_history(files.read(path, 0, HEAD))
    if path.name == HISTORY:
        return _is_history(files.read(path, 0, HEAD)) or in_session(files, path.parent)
    return path == place_of(files, path.parent) and in_session(files, path.parent)


def place_of(files: Files, folder: Path) -> Path | None:
    """The file that a session in this folder is read from: the history, else what it is rebuilt from."""
    return next((folder / name for name in (HISTORY, UPDATES, SUMMARY) if files.exists(folder / name)), None)


def in_session(files: Files, folder: Path) -> bool:
    """Whether the folder is that of a session, by the content of its summary."""
    found = json_file(files, folder / SUMMARY)
    info = found.get("info") if found is not None else None
    named = isinstance(info, dict) and {"id", "cwd"} <= info.keys()
    return found is not None and named and ("session_summary" in found or "current_model_id" in found)


def bundle(files: Files, folder: Path) -> Path | None:
    """The session whose folder this is; None where it is none."""
    path = place_of(files, folder)
    return path if path is not None and is_grok(files, path) else None


def is_empty(files: Files, path: Path) -> bool:
    """Whether there is no history, so that it is rebuilt."""
    return not size_of(files, path)


def _is_history(head: bytes) -> bool:
    return any(_is_item(line) for line in head.split(b"\n", MOST_LINES)[:MOST_LINES])


def _is_item(line: bytes) -> bool:
    try:
        found: Any = shapes.value_of(line)
    except shapes.FAILURES:
        return _UNREADABLE.match(line) is not None
    if not isinstance(found, dict) or found.keys() & _FOREIGN:
        return False
    kind, content = found.get("type"), found.get("content")
    if kind in ("system", "assistant"):
        return isinstance(content, str)
    if kind == "user":
        return isinstance(content, list) and all(isinstance(part, dict) and "type" in part for part in content)
    if kind == "tool_result":
        return isinstance(found.get("tool_call_id"), str) and isinstance(content, str)
    return kind == "backend_tool_call" and isinstance(found.get("kind"), dict)
