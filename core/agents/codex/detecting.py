"""Whether a file is a rollout of Codex, judged by its content from a bounded head."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from core.agents.codex.decoding import FAILURES
from core.agents.codex.lineage import ENDINGS, first_payload
from core.agents.codex.records import LINE_TYPES
from core.compressed import unpacked_head
from core.files import Files

HEAD = 1 << 20
"""Bytes that are looked at; the first line, which holds the base instructions, may take some 20 KB."""

MOST_LINES = 50

_UNREADABLE = re.compile(
    rb'\s*\{\s*"timestamp"\s*:\s*"[^"]*"\s*,\s*("ordinal"\s*:\s*\d+\s*,\s*)?"type"\s*:\s*"(\w+)"\s*,\s*"payload"\s*:\s*\{'
)
"""The start of a record in a line that is longer than the head, or torn."""


class _Envelope(msgspec.Struct, gc=False):
    type: str
    payload: dict[str, msgspec.Raw]


_ENVELOPES = msgspec.json.Decoder(_Envelope)


def is_codex(files: Files, path: Path) -> bool:
    """True where one of the first lines is a record of Codex, also in a file that Codex would refuse."""
    head = unpacked_head(files, path, HEAD)
    return any(_is_record(line) for line in head.split(b"\n", MOST_LINES)[:MOST_LINES])


def _is_record(line: bytes) -> bool:
    try:
        return _ENVELOPES.decode(line).type in LINE_TYPES
    except FAILURES:
        found = _UNREADABLE.match(line)
        return found is not None and found[2].decode() in LINE_TYPES


def lineage_in(files: Files, folder: Path) -> Path | None:
    """The session that a folder is as a whole: its last rollout by name, where all others belong to its kin.

    None where the folder holds anything else, or rollouts that have nothing to do with each other.
    """
    try:
        inside = sorted(entry for entry in folder.iterdir() if not entry.name.startswith("."))
    except OSError:
        return None
    if len(inside) < 2 or any(not one.name.endswith(ENDINGS) or not one.is_file() for one in inside):
        return None
    kin: dict[str, set[str]] = {}
    last = ""
    for one in inside:
        start = first_payload(files, one)
        last = str(start.get("id") or "")
        if not last:
            return None
        kin.setdefault(last, set()).update(_relatives(start))
    return inside[-1] if _all_joined(kin) else None


def _relatives(start: dict[str, object]) -> set[str]:
    """The threads that a rollout's first line names as its own origin."""
    base = start.get("history_base")
    named = [start.get("forked_from_id"), start.get("parent_thread_id"), parent_of(start)]
    if isinstance(base, dict):
        named.append(base.get("thread_id"))
    return {one for one in named if isinstance(one, str)}


def parent_of(start: dict[str, object]) -> str | None:
    """The thread that spawned a sub-agent; None where the session is none."""
    source = start.get("source")
    spawned = source.get("subagent") if isinstance(source, dict) else None
    found = spawned.get("thread_spawn") if isinstance(spawned, dict) else None
    parent = found.get("parent_thread_id") if isinstance(found, dict) else start.get("parent_thread_id")
    return parent if isinstance(parent, str) else None


def origin_of(start: dict[str, object]) -> str:
    """The thread that a session came from, as a sub-agent or as a fork; empty where it is neither."""
    forked = start.get("forked_from_id")
    return parent_of(start) or (forked if isinstance(forked, str) else "")


def _all_joined(kin: dict[str, set[str]]) -> bool:
    """Whether every thread is reached from any other over their origins."""
    joined = {one: {other for other in others if other in kin} for one, others in kin.items()}
    for one, others in list(joined.items()):
        for other in others:
            joined[other] = joined[other] | {one}
    reached = [next(iter(kin))]
    for one in reached:
        reached += [other for other in joined[one] if other not in reached]
    return len(reached) == len(kin)
