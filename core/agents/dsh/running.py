"""Whether a dsh that runs on this machine may have a session open.

dsh holds no lock and keeps no log open between appends (0.1.0-rc.8). What can be told is that one runs in the session's
folder, or that one serves the sessions of all folders to browsers and was there when the log was last written.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from core.agents.dsh.detecting import header_of
from core.agents.processes import boot_time, started
from core.files import Disk

PROCESSES = Path("/proc")

PACKAGE = b"@deepseek-ai/dsh/"

SERVER = b"web"
"""The profile that serves all sessions of a home (`dsh web`, `dsh --profile web`)."""

SLACK = 1.0
"""Seconds: so exactly is it known when a process started."""


def known_running(path: Path, processes: Path = PROCESSES) -> str | None:
    """Words for the dsh that has, or may have, the session open; None where none is known. Never raises."""
    try:
        cwd = header_of(Disk(), path).get("cwd")
        folder = Path(cwd).resolve() if isinstance(cwd, str) and cwd.startswith("/") and "\0" not in cwd else None
        log, written = path.resolve(), path.stat().st_mtime
        numbers = [one for one in processes.iterdir() if one.name.isdigit()]
    except (OSError, RuntimeError, UnicodeEncodeError):
        return None
    for process in numbers:
        try:
            words = (process / "cmdline").read_bytes().split(b"\0")
            if not _is_dsh(words):
                continue
            if folder is not None and (process / "cwd").readlink() == folder:
                return f"dsh (process {process.name}) runs in {folder}, and may have the session open"
            if SERVER in words and _serves(process, log, written, processes):
                return f"dsh web (process {process.name}) serves this session, and ran when it was last written"
        except (OSError, ValueError):
            continue
    return None


def _is_dsh(words: Sequence[bytes]) -> bool:
    return any(PACKAGE in word or word.rpartition(b"/")[2] == b"dsh" for word in words[:3])


def _serves(process: Path, log: Path, written: float, processes: Path) -> bool:
    """Whether the log lies in the home of a server that already ran when it was last written."""
    told = [entry.partition(b"=") for entry in (process / "environ").read_bytes().split(b"\0")]
    environment = {name: os.fsdecode(value) for name, _, value in told}
    home = environment.get(b"DSH_HOME") or f"{environment.get(b'HOME', '')}/.dsh"
    began = started(process, boot_time(processes))
    return Path(home).resolve() in log.parents and (began is None or began - SLACK <= written)
