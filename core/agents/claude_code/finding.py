"""Where Claude Code's sessions lie on this machine: one folder a project, sub-agents in a folder beside the session."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from core.agents.claude_code.detecting import is_claude_code
from core.agents.protocol import Found
from core.files import Disk, Files
from core.jsonl import BrokenLine, decode

HEAD = 1 << 16
"""Bytes of a file that are read to find where it ran and whose it is."""

SUBAGENT = "agent-*.jsonl"


def root_folder() -> Path:
    """The client's own folder."""
    return Path(os.environ.get("CLAUDE_CONFIG_DIR") or "~/.claude").expanduser()


def folders() -> tuple[Path, ...]:
    """The folder that holds one folder for each project."""
    return (root_folder() / "projects",)


def find() -> Iterator[Found]:
    """The sessions in the client's folder, without those of sub-agents; files that can't be read are left out."""
    disk = Disk()
    for folder in folders():
        for path in sorted(folder.glob("*/*.jsonl")):
            if not path.match(SUBAGENT):
                yield from _found(disk, path)


def children(files: Files, path: Path) -> Iterator[Found]:
    """The sub-agents of the session at `path`; older clients put them beside it."""
    yield from (
        found
        for file in sorted((path.parent / path.stem).glob(f"subagents/**/{SUBAGENT}"))
        for found in _found(files, file)
    )
    for file in sorted(path.parent.glob(SUBAGENT)):
        if file != path and head_of(files, file)[1] == path.stem:
            yield from _found(files, file)


def bundle(files: Files, folder: Path) -> Path | None:
    """The only session in a folder that also holds what belongs to it, or the session that the folder belongs to."""
    named = folder.resolve() if folder.name in ("", "..") else folder
    beside = named.parent / f"{named.name}.jsonl"
    if any((folder / name).is_dir() for name in ("subagents", "tool-results")) and files.exists(beside):
        return beside if is_claude_code(files, beside) else None
    mains = (path for path in sorted(folder.glob("*.jsonl")) if not path.match(SUBAGENT))
    sessions = list(islice((path for path in mains if is_claude_code(files, path)), 2))
    if len(sessions) != 1:
        return None
    more = (folder / sessions[0].stem).is_dir() or any(folder.glob(SUBAGENT))
    return sessions[0] if more else None


def _found(files: Files, path: Path) -> Iterator[Found]:
    try:
        if is_claude_code(files, path):
            relation = "sub-agent" if path.match(SUBAGENT) else ""
            yield Found(path, "claude-code", head_of(files, path)[0], path.stat().st_mtime, files.size(path), relation)
    except OSError:
        return


def head_of(files: Files, path: Path) -> tuple[str, str]:
    """Where the session ran and its id, from the head of its file; empty where it does not say."""
    cwd = session = ""
    try:
        head = files.read(path, 0, HEAD)
    except OSError:
        return "", ""
    for line in head.split(b"\n"):
        try:
            value = decode(line)
        except BrokenLine:
            continue
        if isinstance(value, dict):
            cwd = cwd or (value["cwd"] if isinstance(value.get("cwd"), str) else "")
            session = session or (value["sessionId"] if isinstance(value.get("sessionId"), str) else "")
        if cwd and session:
            break
    return cwd, session
