"""Where Codex keeps its sessions on this machine, and what belongs to one of them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from core.agents.codex.detecting import parent_of
from core.agents.codex.lineage import FOLDERS, first_payload, rollouts_in
from core.agents.protocol import Found
from core.files import Disk, Files


def home() -> Path:
    """The folder of Codex on this machine."""
    return Path(os.environ.get("CODEX_HOME") or "~/.codex").expanduser()


def folders() -> tuple[Path, ...]:
    """The folders that `find` looks into: the sessions by day, and the archived ones."""
    return tuple(home() / name for name in FOLDERS)


def find() -> Iterator[Found]:
    """The sessions in Codex's own folders, newest day first; files that can't be read are left out."""
    disk = Disk()
    for path in _rollouts(home()):
        try:
            start = first_payload(disk, path)
            if start:
                yield _found(path, start)
        except OSError:
            continue


def children(files: Files, path: Path) -> Iterator[Found]:
    """The sub-agents that a session spawned and the forks that left it, beside it and in the same home."""
    try:
        own = first_payload(files, path).get("id")
    except OSError:
        return
    if not isinstance(own, str):
        return
    root = next((parent.parent for parent in path.parents if parent.name in FOLDERS), None)
    for candidate in rollouts_in(path.parent) if root is None else _rollouts(root):
        try:
            start = first_payload(files, candidate) if candidate != path else {}
            if start and own in (parent_of(start), start.get("forked_from_id"), start.get("parent_thread_id")):
                yield _found(candidate, start)
        except OSError:
            continue


def _found(path: Path, start: dict[str, object]) -> Found:
    cwd, status = start.get("cwd"), path.stat()
    relation = "fork" if start.get("forked_from_id") else "sub-agent" if parent_of(start) else ""
    return Found(path, "codex", cwd if isinstance(cwd, str) else "", status.st_mtime, status.st_size, relation)


def _rollouts(root: Path) -> Iterator[Path]:
    """All rollouts below a home of Codex, the newest day first."""
    for name in FOLDERS:
        for folder, below, _ in os.walk(root / name):
            below.sort(reverse=True)
            yield from rollouts_in(Path(folder))
