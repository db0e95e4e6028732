"""Where grok keeps its sessions on this machine, and what belongs to one of them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from core.agents.grok_build.detecting import bundle
from core.agents.grok_build.history import updates
from core.agents.grok_build.records import SUMMARY, UPDATES, json_file
from core.agents.protocol import Found
from core.files import Disk, Files
from core.session import Session


def home() -> Path:
    """The folder of grok on this machine."""
    return Path(os.environ.get("GROK_HOME") or "~/.grok").expanduser()


def folders() -> tuple[Path, ...]:
    """The folder that holds one folder for each working directory."""
    return (home() / "sessions",)


def find() -> Iterator[Found]:
    """The sessions in grok's own folder, without those of sub-agents; folders that can't be read are left out."""
    disk = Disk()
    for root in folders():
        for folder in _folders_in(root):
            for session in _folders_in(folder):
                yield from _found(disk, session, subagents=False)


def children(files: Files, path: Path) -> Iterator[Found]:
    """The sub-agents that a session spawned and the forks that left it, in folders beside its own."""
    own = _identity(json_file(files, path.parent / SUMMARY))
    spawned = set(_spawned(files, path))
    for folder in _folders_in(path.parent.parent):
        if folder == path.parent:
            continue
        try:
            summary = json_file(files, folder / SUMMARY)
        except OSError:
            continue
        if summary is None:
            continue
        if folder.name in spawned or _identity(summary) in spawned or (own and summary.get("parent_session_id") == own):
            yield from _found(files, folder, subagents=True)


def _spawned(files: Files, path: Path) -> Iterator[str]:
    """The ids of the sessions that sub-agents of this one ran in, as its updates tell."""
    told = path.parent / UPDATES
    try:
        if not files.exists(told):
            return
        session = Session("grok-build", path, files, "", "", "", (), (), None, "", None)
        for _, stored in updates(session, told):
            update = stored["params"]["update"]
            child = update.get("child_session_id")
            if update["sessionUpdate"] == "subagent_spawned" and isinstance(child, str):
                yield child
    except OSError:
        return


def _found(files: Files, folder: Path, *, subagents: bool) -> Iterator[Found]:
    try:
        path, summary = bundle(files, folder), json_file(files, folder / SUMMARY) or {}
        if path is None or (not subagents and summary.get("session_kind") == "subagent"):
            return
        info: Any = summary.get("info")
        cwd = info.get("cwd") if isinstance(info, dict) else None
        status = path.stat()
        relation = "fork" if isinstance(summary.get("parent_session_id"), str) else ""
        relation = "sub-agent" if summary.get("session_kind") == "subagent" else relation
        cwd = cwd if isinstance(cwd, str) else ""
        yield Found(path, "grok-build", cwd, status.st_mtime, status.st_size, relation)
    except OSError:
        return


def _identity(summary: dict[str, Any] | None) -> str:
    info = summary.get("info") if summary is not None else None
    found = info.get("id") if isinstance(info, dict) else None
    return found if isinstance(found, str) else ""


def _folders_in(folder: Path) -> list[Path]:
    try:
        return sorted((one for one in folder.iterdir() if one.is_dir()), reverse=True)
    except OSError:
        return []
