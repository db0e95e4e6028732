"""Where dsh keeps its sessions on this machine, and what belongs to one of them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from core.agents.dsh.detecting import header_of, is_dsh
from core.agents.protocol import Found
from core.files import Disk, Files

NAMES = ("session.jsonl.zstd", "session.jsonl")
"""What a log is called: compressed, which is the default, or plain."""


_PLAIN = re.compile(r"[A-Za-z0-9._-]")


def home() -> Path:
    """The folder of dsh on this machine."""
    return Path(os.environ.get("DSH_HOME") or "~/.dsh").expanduser()


def folders() -> tuple[Path, ...]:
    """The folder that holds one folder for each project."""
    return (home() / "sessions",)


def folder_name(identity: str) -> str:
    """What dsh calls the folder of a session: the id, with a mark for each UTF-16 unit that no name should hold."""
    units = identity.encode("utf-16-le", "surrogatepass")
    numbers = (units[at] | units[at + 1] << 8 for at in range(0, len(units), 2))
    name = "".join(chr(one) if one < 128 and _PLAIN.match(chr(one)) else f"~{one:04X}" for one in numbers)
    return name.replace(".", "~002E") if name in (".", "..") else name


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
