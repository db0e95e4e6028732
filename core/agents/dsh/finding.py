"""Where dsh keeps its sessions on this machine, and what belongs to one of them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from core.agents.dsh.detecting import header_of, is_dsh
from core.agents.protocol import Found
from core.files import Disk, Files

NAMES = ("session.jsonl.zstd", "session.jsonl")
"""What a log is called: compressed, which is the default, or plain."""


def home() -> Path:
    """The folder of dsh on this machine."""
    return Path(os.environ.get("DSH_HOME") or "~/.dsh").expanduser()


def folders() -> tuple[Path, ...]:
    """The folder that holds one folder for each project."""
    return (home() / "sessions",)


def in_project(log: Path) -> bool:
    """Whether a log lies where dsh would put it: in a folder of its own, in that of a project."""
    project = log.parent.parent.name
    return project == "_no-cwd" or (len(project) > 4 and project.startswith("--") and project.endswith("--"))


def find() -> Iterator[Found]:
    """The sessions in dsh's own folder; files that can't be read are left out."""
    disk = Disk()
    for root in folders():
        for path in _logs(root):
            yield from (found for found, _ in _found(disk, path))


def bundle(files: Files, folder: Path) -> Path | None:
    """The log in a session's own folder; None where the folder is none."""
    logs = [folder / name for name in NAMES if files.exists(folder / name)]
    try:
        return logs[0] if len(logs) == 1 and is_dsh(files, logs[0]) else None
    except OSError:
        return None


def children(files: Files, path: Path) -> Iterator[Found]:
    """The sub-agents and forks of a session, from the same folder of sessions."""
    own = header_of(files, path).get("id")
    if path.name not in NAMES or not isinstance(own, str) or len(path.parents) < 3:
        return
    for candidate in _logs(path.parents[2]):
        if candidate != path:
            yield from (found for found, header in _found(files, candidate) if header.get("parentSession") == own)


def _found(files: Files, path: Path) -> Iterator[tuple[Found, dict[str, Any]]]:
    try:
        header = header_of(files, path)
        status = path.stat()
    except OSError:
        return
    if header:
        cwd = header.get("cwd")
        cwd = cwd if isinstance(cwd, str) else ""
        relation = "fork" if header.get("parentSession") else ""
        depth = header.get("delegationDepth")
        relation = "sub-agent" if relation and isinstance(depth, int) and depth > 0 else relation
        yield Found(path, "dsh", cwd, status.st_mtime, status.st_size, relation), header


def _logs(root: Path) -> Iterator[Path]:
    """The logs below a folder of sessions: a folder for each project, in it one for each session."""
    for name in NAMES:
        yield from sorted(root.glob(f"*/*/{name}"))
