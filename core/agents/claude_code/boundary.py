"""The last boundary: which lines it keeps, in which order, and which are gone."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from core.agents.claude_code.chain import Chain
from core.agents.claude_code.records import Line
from core.agents.claude_code.siblings import MESSAGES
from core.files import Files
from core.jsonl import BrokenLine, decode

LARGE_FILE = 5 << 20
"""Bytes from which on the client does not read what stands before a boundary that keeps nothing."""


def apply_boundary(chain: Chain, files: Files, path: Path, size: int) -> None:
    """Find the last boundary of the conversation and do to the lines what it says. Raises OSError."""
    chain.boundary = next((line for line in reversed(chain.lines.values()) if line.boundary and chain.main(line)), None)
    if chain.boundary is None:
        return
    _keep(chain, chain.boundary, _metadata(files, path, chain.boundary), size)
    if not chain.kept and not chain.kept_fault and _kept_before(chain, files, path):
        _forget(chain, chain.boundary, ())


def _metadata(files: Files, path: Path, boundary: Line) -> dict[str, Any]:
    entry = boundary.entry
    try:
        value = decode(files.read(path, entry.offset, entry.length))
    except BrokenLine:
        return {}
    metadata = value.get("compactMetadata") if isinstance(value, dict) else None
    return metadata if isinstance(metadata, dict) else {}


def _keep(chain: Chain, boundary: Line, metadata: dict[str, Any], size: int) -> None:
    """Hang the kept lines behind their anchor and drop every other line before the boundary."""
    kept, anchor = _kept_list(chain, metadata)
    if not kept or anchor is None:
        if size >= LARGE_FILE:
            chain.skipped_before = boundary.entry.offset
            _forget(chain, boundary, ())
        return
    chain.kept, chain.anchor = kept, anchor
    listed = set(kept)
    _forget(chain, boundary, (*kept, anchor))
    tail = kept[-1]
    for line in chain.lines.values():
        parent = chain.parent(line)
        loose = line.id not in listed and line.id not in chain.gone
        if loose and (parent == anchor or (parent in chain.gone and line.entry.kind in MESSAGES)):
            chain.parents[line.id] = tail
    previous: str | None = anchor
    for own in kept:
        chain.parents[own] = previous
        previous = own


def _forget(chain: Chain, boundary: Line, but: Iterable[str]) -> None:
    """Drop the lines before the boundary for good."""
    kept = frozenset(but)
    before = (line for line in chain.lines.values() if line.entry.index < boundary.entry.index)
    chain.gone.update(line.id for line in before if line.id not in kept)


def _kept_before(chain: Chain, files: Files, path: Path) -> bool:
    """Whether a boundary before the last one kept lines: then nothing before the last one can come back."""
    earlier = [line for line in chain.lines.values() if line.boundary and chain.main(line)][:-1]
    names = ("preservedMessages", "preservedSegment")
    return any(isinstance(_metadata(files, path, line).get(name), dict) for line in earlier for name in names)


def _kept_list(chain: Chain, metadata: dict[str, Any]) -> tuple[tuple[str, ...], str | None]:
    """The kept lines in their new order, and the line that they hang behind; nothing where there is no proper list."""
    messages, segment = metadata.get("preservedMessages"), metadata.get("preservedSegment")
    if isinstance(messages, dict) and isinstance(messages.get("uuids"), list):
        kept = tuple(own for own in messages["uuids"] if isinstance(own, str) and own in chain.lines)
        if len(kept) < len(messages["uuids"]):
            missing = next(own for own in messages["uuids"] if not isinstance(own, str) or own not in chain.lines)
            chain.kept_fault = f"its list of kept lines names {missing!r}, which is not in the file"
            return (), None
        anchor = messages.get("anchorUuid")
    elif isinstance(segment, dict):
        kept = _segment(chain, segment.get("headUuid"), segment.get("tailUuid"))
        if not kept:
            chain.kept_fault = "the ends of its kept segment are not in the file, or do not hang together"
            return (), None
        anchor = segment.get("anchorUuid")
    else:
        return (), None
    return kept, anchor if isinstance(anchor, str) else None


def _segment(chain: Chain, head: Any, tail: Any) -> tuple[str, ...]:
    """The lines from `head` to `tail` by their stored parents; empty where they do not hang together."""
    found: list[str] = []
    current = tail
    seen: set[str] = set()
    while isinstance(current, str) and current in chain.lines and current not in seen:
        seen.add(current)
        found.append(current)
        if current == head:
            return tuple(reversed(found))
        current = chain.lines[current].entry.parent
    return ()
