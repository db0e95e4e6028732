"""Which running Claude Code has a session open: it says so itself, in a file for each of its processes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from core.agents.claude_code.finding import root_folder
from core.jsonl import BrokenLine, decode

PROCESSES = Path("/proc")

MOST_BYTES = 1 << 20
"""Of a process's file; a larger one is not one."""


def known_running(path: Path, processes: Path = PROCESSES) -> str | None:
    """Words for the process that has the session open; None where none is known. Never raises.

    The client (2.1.332) keeps `sessions/<process>.json` in its folder as long as it lives. A file that a killed
    process left behind is told by the process's start; one from another container can't be, and is believed.
    """
    try:
        identity = session_of(path)
        for folder in _folders(path):
            for file in sorted(folder.glob("*.json")):
                words = _words(file, identity, processes)
                if words is not None:
                    return words
    except OSError:
        return None
    return None


def session_of(path: Path) -> str:
    """The id of the session that a file belongs to: its own name, or that of the session whose sub-agent it is."""
    if path.parent.name == "subagents":
        return path.parent.parent.name
    return path.stem


def _folders(path: Path) -> Iterator[Path]:
    """The folder beside the session's `projects` folder, and that of the client's own root."""
    resolved = path.resolve()
    roots = [parent.parent for parent in resolved.parents if parent.name == "projects"]
    yield from dict.fromkeys(root / "sessions" for root in (*roots, root_folder()))


def _words(file: Path, identity: str, processes: Path) -> str | None:
    value = _read(file)
    if value is None or value.get("sessionId") != identity:
        return None
    number = value.get("pid")
    number = number if isinstance(number, int) else int(file.stem) if file.stem.isdigit() else None
    if number is None:
        return None
    if _elsewhere(value.get("pidDomain"), processes):
        return f"Claude Code (process {number}, in another container) has it open, as {file} says"
    if not _lives(number, value.get("procStart"), processes):
        return None
    return f"Claude Code (process {number}) has it open, as {file} says"


def _read(file: Path) -> dict[str, Any] | None:
    try:
        with open(file, "rb") as opened:
            value = decode(opened.read(MOST_BYTES))
    except (OSError, BrokenLine):
        return None
    return value if isinstance(value, dict) else None


def _elsewhere(domain: Any, processes: Path) -> bool:
    """Whether the process has its number in another namespace than this program."""
    if not isinstance(domain, str) or not domain:
        return False
    try:
        own = str((processes / "self" / "ns" / "pid").readlink())
    except OSError:
        return False
    digits = "".join(filter(str.isdigit, domain))
    return bool(digits) and digits != "".join(filter(str.isdigit, own))


def _lives(number: int, started: Any, processes: Path) -> bool:
    """Whether the process is there, and is the one that wrote the file, as far as its start tells."""
    try:
        fields = (processes / str(number) / "stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return False
    told = str(started)
    return not told.isdigit() or len(fields) < 20 or (fields[0] != "Z" and fields[19] == told)
