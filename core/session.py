"""A session as it is stored: entries with their places, damage, and nothing decoded that nobody asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec

from core.files import Files


class Entry(msgspec.Struct, frozen=True, gc=False):
    """One logged record: where it stands and the small facts that need no second read.

    A large session has a million of them, so it is a struct: quick to make, and none of the garbage collector's work.
    """

    id: str
    index: int
    """Position among the entries, from 0."""
    line: int
    """Physical line in the file, from 1."""
    offset: int
    """Bytes from the start of the file."""
    length: int
    """Bytes, without the line's end."""
    kind: str
    """The format's own record type, such as `message` or `compaction`."""
    parent: str | None = None
    time: float | None = None
    """Seconds since 1970, UTC; None where the record has none or a broken one."""
    role: str = ""
    """The role of the message in the record, if it has one."""
    path: Path | None = None
    """The file that the record stands in where that is not the session's own, such as the parent of a fork."""


@dataclass(frozen=True, slots=True)
class Damage:
    """A place that cannot be read as an entry, or that the real client would choke on."""

    line: int
    offset: int
    """Bytes from the start of the file."""
    length: int
    kind: str
    """Such as `broken-line`, `torn-tail`, `duplicate-id`, `missing-parent`."""
    message: str
    client: str
    """What the real client does about it."""


@dataclass(frozen=True)
class Session:
    """One opened session. `files` is what it was read from; `detail` belongs to the agent's own code."""

    agent: str
    path: Path
    files: Files
    identity: str
    """The session's own id."""
    cwd: str
    title: str
    entries: Sequence[Entry]
    damage: Sequence[Damage]
    leaf: str | None
    """The id of the entry at which the view ends; None where the client would find none."""
    fingerprint: str
    detail: Any = field(repr=False)
    parent: str = ""
    """The id, or the file, of the session that began this one as a sub-agent or fork; empty where none did."""
    updated: float | None = None
    """When the session says it was last used, where its entries have no times: seconds since 1970."""

    @cached_property
    def _by_id(self) -> dict[str, Entry]:
        return {entry.id: entry for entry in self.entries}

    def entry(self, entry_id: str) -> Entry | None:
        """The entry with this id (the last one, where an id was used twice)."""
        return self._by_id.get(entry_id)

    def raw(self, entry: Entry) -> bytes:
        """The stored bytes of one entry, read now."""
        return self.files.read(entry.path or self.path, entry.offset, entry.length)
