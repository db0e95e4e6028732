"""Whether a grok that runs on this machine has a session open.

No lock tells it: a running grok holds none between its writes, and one without a screen is registered nowhere. What
can be known: the list of open sessions in grok's folder, and processes named grok in the session's working directory.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from core.agents.grok_build import shapes
from core.agents.grok_build.finding import home
from core.agents.grok_build.records import SUMMARY, json_file
from core.files import Disk

ACTIVE = "active_sessions.json"

PROCESSES = Path("/proc")

MOST_BYTES = 1 << 22


def known_running(path: Path, processes: Path = PROCESSES) -> str | None:
    """Words for the grok that has this session open, or may have; None where none is known. Never raises."""
    try:
        summary = json_file(Disk(), path.parent / SUMMARY) or {}
        info: Any = summary.get("info")
        info = info if isinstance(info, dict) else {}
        identity, cwd = str(info.get("id") or path.parent.name), info.get("cwd")
        for root in dict.fromkeys((*_roots(path), home())):
            number = _registered(root / ACTIVE, identity, processes)
            if number is not None:
                return f"Grok Build (process {number}) has this session open, as {root / ACTIVE} says"
        return _holder(path.parent.resolve(), cwd if isinstance(cwd, str) and cwd else None, processes)
    except (OSError, ValueError):
        return None


def _roots(path: Path) -> list[Path]:
    """The home of grok that a session lies in."""
    return [parent.parent for parent in path.resolve().parents if parent.name == "sessions"]


def _registered(file: Path, identity: str, processes: Path) -> int | None:
    """The living process that the list of open sessions names for this one."""
    try:
        with open(file, "rb") as opened:
            listed: Any = shapes.value_of(opened.read(MOST_BYTES))
    except (OSError, *shapes.FAILURES):
        return None
    if isinstance(listed, dict):
        listed = listed.get("sessions", list(listed.values()))
    for one in listed if isinstance(listed, list) else ():
        if isinstance(one, dict) and one.get("session_id") == identity:
            number = one.get("pid")
            if isinstance(number, int) and (processes / str(number)).exists():
                return number
    return None


def _holder(folder: Path, cwd: str | None, processes: Path) -> str | None:
    """A process named grok that holds a file of the session open, or works in its directory."""
    for process in processes.iterdir():
        if not process.name.isdigit():
            continue
        try:
            if not (process / "comm").read_text(errors="replace").startswith("grok"):
                continue
            if any(folder in file.readlink().parents for file in (process / "fd").iterdir()):
                return f"Grok Build (process {process.name}) has a file of this session open"
            if cwd is not None and str((process / "cwd").readlink()) == cwd:
                return f"Grok Build (process {process.name}) runs in {cwd}, and may have this session open"
        except OSError:
            continue
    return None
