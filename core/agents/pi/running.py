"""What this machine knows about pi: which processes run, and where its sessions lie.

pi keeps no lock and no file open, and overwrites its command line with its name once it has started (1.6.0 and
0.73.1), so a running pi can seldom be tied to a session. What is said here is only what the evidence carries.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from core.agents.processes import boot_time, started
from core.agents.protocol import Found
from core.jsonl import BrokenLine, decode

PACKAGES = ("@earendil-works/pi-coding-agent", "@mariozechner/pi-coding-agent")
TITLES = frozenset({"pi", "pi-rpc"})
"""What a running pi calls itself in the list of processes."""

HEAD = 1 << 16
"""Bytes of a file that are read to find its header."""

PROCESSES = Path("/proc")


@dataclass(frozen=True, slots=True)
class _Process:
    """A running pi."""

    number: int
    arguments: tuple[str, ...]
    cwd: Path | None
    started: float | None
    """Seconds since 1970."""


def known_running(path: Path, processes: Path = PROCESSES) -> str | None:
    """Words for the pi that is known to have this session open; None where none is known. Never raises.

    Known is: the session is named on the command line of a pi that is just starting, a pi holds the file open, or a
    pi runs in the session's folder and this session, the newest of that folder, was written after it started.
    """
    try:
        running = tuple(_running(processes))
        if not running:
            return None
        header, resolved = header_of(path) or {}, path.resolve()
        for process in running:
            words = _names(process, resolved, header) or _holds(process, resolved, processes)
            if words is None:
                words = _works_on(process, resolved, header)
            if words is not None:
                return f"pi (process {process.number}) {words}"
    except OSError:
        return None
    return None


def _running(processes: Path) -> Iterator[_Process]:
    booted = boot_time(processes)
    for folder in processes.iterdir():
        if not folder.name.isdigit() or int(folder.name) == os.getpid():
            continue
        try:
            raw = (folder / "cmdline").read_bytes()
            arguments = tuple(os.fsdecode(part) for part in raw.rstrip(b"\0").split(b"\0"))
            if not _is_pi(arguments):
                continue
            yield _Process(int(folder.name), arguments, _link(folder / "cwd"), started(folder, booted))
        except OSError:
            continue


def _is_pi(arguments: tuple[str, ...]) -> bool:
    program, script = (*arguments, "", "")[:2]
    if program in TITLES:
        return True
    script = script if Path(program).name in ("node", "bun") else program
    return Path(script).name == "pi" or any(f"/{package}/" in script for package in PACKAGES)


def _names(process: _Process, session: Path, header: dict[str, Any]) -> str | None:
    """Whether the session's path or id stands on the command line, as long as that can be read."""
    identity = str(header.get("id") or "")
    for option, value in pairwise(process.arguments):
        if option not in ("--session", "--session-id", "--resume"):
            continue
        named = Path(value) if process.cwd is None else process.cwd / value
        if named.resolve() == session or (identity and identity.startswith(value)):
            return "was started with this session"
    return None


def _holds(process: _Process, session: Path, processes: Path) -> str | None:
    try:
        open_files = list((processes / str(process.number) / "fd").iterdir())
    except OSError:
        return None
    return "has this file open" if any(_link(file) == session for file in open_files) else None


def _works_on(process: _Process, session: Path, header: dict[str, Any]) -> str | None:
    """Whether all points to this session: the same folder, written since the start, and no newer one beside it."""
    cwd = header.get("cwd")
    if process.cwd is None or process.started is None or not isinstance(cwd, str) or not cwd:
        return None
    written = session.stat().st_mtime
    if Path(cwd).resolve() != process.cwd or written < process.started:
        return None
    for other in session.parent.glob("*.jsonl"):
        if other.stat().st_mtime > written and (header_of(other) or {}).get("cwd") == cwd:
            return None
    return f"runs in {cwd}, and this session, the newest there, was written after it started"


def _link(path: Path) -> Path | None:
    try:
        return path.readlink()
    except OSError:
        return None


def header_of(path: Path) -> dict[str, Any] | None:
    """The session header in the head of a file; None where there is none. Raises OSError."""
    with open(path, "rb") as file:
        head = file.read(HEAD)
    for line in head.split(b"\n"):
        if not line.strip():
            continue
        try:
            value = decode(line)
        except BrokenLine:
            continue
        header = isinstance(value, dict) and value.get("type") == "session" and isinstance(value.get("id"), str)
        return value if header else None
    return None


def find() -> Iterator[Found]:
    """The sessions in pi's own folders on this machine; files that can't be read are left out."""
    seen: set[Path] = set()
    for path in _candidates():
        try:
            resolved = path.resolve()
            if resolved in seen:
                continue
            seen.add(resolved)
            header = header_of(path)
            if header is None:
                continue
            cwd, status = header.get("cwd"), path.stat()
            yield Found(path, "pi", cwd if isinstance(cwd, str) else "", status.st_mtime, status.st_size)
        except OSError:
            continue


def folders() -> tuple[Path, ...]:
    """The folders that `find` looks into, the one with a folder for each project last."""
    home = Path(os.environ.get("PI_CODING_AGENT_DIR") or "~/.pi/agent").expanduser()
    named = [os.environ.get("PI_CODING_AGENT_SESSION_DIR"), _session_folder(home / "settings.json")]
    return (*(Path(folder).expanduser() for folder in named if folder), home / "sessions")


def _candidates() -> Iterator[Path]:
    *flat, by_project = folders()
    for folder in flat:
        yield from sorted(folder.glob("*.jsonl"))
    yield from sorted(by_project.glob("*/*.jsonl"))


def _session_folder(settings: Path) -> str | None:
    """The folder that pi's settings name, if they do."""
    try:
        value = decode(settings.read_bytes())
    except (OSError, BrokenLine):
        return None
    folder = value.get("sessionDir") if isinstance(value, dict) else None
    return folder if isinstance(folder, str) else None
