"""The parents of a fork: a forked session holds only its own lines, and names the place where it left its parent."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from core.agents.codex.decoding import FAILURES, LINES, STARTS
from core.compressed import Unpacked, unpacked_head
from core.files import Files
from core.jsonl import BrokenLine, decode

ENDINGS = (".jsonl", ".jsonl.zst")
"""How the names of rollouts end; where both are there, Codex reads the plain one."""

HEAD = 1 << 20
"""Bytes in which the first line of a rollout must end to be looked at (it holds the base instructions)."""

MOST_PARENTS = 1000

PAGINATED = "paginated"
"""The history mode of sessions whose records are numbered; older ones have `legacy` or none."""

FOLDERS = ("sessions", "archived_sessions")


@dataclass(frozen=True, slots=True)
class Segment:
    """The beginning of a parent that a fork inherits."""

    path: Path
    thread: str
    end: int
    """Bytes of the (unpacked) parent that count; the ordinal that is stored beside them is not looked at."""


class Unreachable(ValueError):
    """The inherited history cannot be read; the message says why, as Codex does."""


def first_payload(files: Files, path: Path) -> dict[str, Any]:
    """The payload of the `session_meta` that a file begins with; empty where it begins with none. Raises OSError."""
    return start_of(unpacked_head(files, path, HEAD).split(b"\n", 1)[0])


def start_of(line: bytes) -> dict[str, Any]:
    """The payload of a line that is a `session_meta` as Codex insists on it; empty where it is none."""
    try:
        envelope = LINES.decode(line)
        if envelope.type != "session_meta":
            return {}
        STARTS.decode(envelope.payload)
        found = decode(bytes(envelope.payload))
    except (*FAILURES, BrokenLine):
        return {}
    return found if isinstance(found, dict) else {}


def segments(files: Unpacked, path: Path, start: Mapping[str, Any]) -> list[Segment]:
    """What a session inherits, oldest first; nothing where it is no fork. Raises Unreachable, OSError."""
    chain: list[Segment] = []
    seen = [path]
    base = start.get("history_base")
    while isinstance(base, Mapping):
        parent = _segment(files, path, base, seen)
        chain.append(parent)
        seen.append(parent.path)
        if len(chain) > MOST_PARENTS:
            raise Unreachable("the fork has more parents than can be followed")
        start = first_payload(files.base, parent.path)
        if start.get("history_mode") != PAGINATED:
            raise Unreachable(f"source rollout is not paginated: {parent.path.name}")
        base = start.get("history_base")
    chain.reverse()
    return chain


def _segment(files: Unpacked, path: Path, base: Mapping[str, Any], seen: list[Path]) -> Segment:
    thread, end = base.get("thread_id"), base.get("end_byte_offset")
    if not isinstance(thread, str) or not isinstance(end, int) or isinstance(end, bool) or end < 0:
        raise Unreachable("the place where the fork left its parent is not readable (history_base)")
    parent = rollout_of(files.base, path, thread, seen)
    if parent is None:
        raise Unreachable(f"missing source rollout: the parent {thread} is not there")
    size = files.size(parent)
    if end > size:
        raise Unreachable(f"cutoff byte offset is past the source rollout: {end:,} of {size:,} bytes in {parent.name}")
    return Segment(parent, thread, end)


def rollout_of(files: Files, path: Path, thread: str, seen: list[Path]) -> Path | None:
    """The file of a thread near `path`: beside it, else where Codex keeps the sessions of that time."""
    for folder in _folders(path, thread):
        found = [one for one in rollouts_in(folder) if one not in seen]
        named = [one for one in found if thread in one.name]
        for candidate in named or found:
            try:
                if first_payload(files, candidate).get("id") == thread:
                    return candidate
            except OSError:
                continue
    return None


def rollouts_in(folder: Path) -> list[Path]:
    """The rollouts of one folder, last name first; a packed one only where it does not lie there plain too."""
    try:
        names = {entry.name for entry in os.scandir(folder) if entry.name.endswith(ENDINGS) and entry.is_file()}
    except OSError:
        return []
    return [folder / name for name in sorted(names, reverse=True) if name.removesuffix(".zst") not in names - {name}]


def _folders(path: Path, thread: str) -> Iterator[Path]:
    """Where the file of a thread may lie, likeliest first."""
    yield path.parent
    home = next((parent.parent for parent in path.parents if parent.name in FOLDERS), None)
    if home is None:
        return
    for day in _days(thread):
        yield home / "sessions" / day
    yield home / "archived_sessions"


def _days(thread: str) -> Iterator[str]:
    """The day folders of a thread: the first 48 bits of its id are the time of its making (UUID version 7)."""
    try:
        made = datetime.fromtimestamp(int(thread.replace("-", "")[:12], 16) / 1000, UTC)
        for days in (0, -1, 1):
            yield f"{made + timedelta(days):%Y/%m/%d}"
    except (ValueError, OverflowError, OSError):
        return
