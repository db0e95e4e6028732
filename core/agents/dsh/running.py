"""Whether a dsh that runs on this machine may have a session open.

dsh holds no lock and keeps no log open between appends. What can be told is that one runs in the session's folder.
"""

from __future__ import annotations

from pathlib import Path

from core.agents.dsh.detecting import header_of
from core.files import Disk

PROCESSES = Path("/proc")

PACKAGE = b"@deepseek-ai/dsh/"


def known_running(path: Path, processes: Path = PROCESSES) -> str | None:
    """Words for the dsh that runs in the session's folder; None where none is known. Never raises."""
    try:
        cwd = header_of(Disk(), path).get("cwd")
        folder = Path(cwd).resolve() if isinstance(cwd, str) and cwd.startswith("/") and "\0" not in cwd else None
        numbers = [one for one in processes.iterdir() if one.name.isdigit()] if folder is not None else []
    except (OSError, RuntimeError, UnicodeEncodeError):
        return None
    for process in numbers:
        try:
            if _is_dsh((process / "cmdline").read_bytes()) and (process / "cwd").readlink() == folder:
                return f"dsh (process {process.name}) runs in {folder}, and may have the session open"
        except OSError:
            continue
    return None


def _is_dsh(command: bytes) -> bool:
    words = command.split(b"\0")[:3]
    return any(PACKAGE in word or word.rpartition(b"/")[2] == b"dsh" for word in words)
