"""New records in pi's own form: ids, times, the chain of parents, and one JSON line each."""

from __future__ import annotations

from typing import Any

from core.agents.pi.records import record
from core.agents.protocol import Stamp
from core.errors import CommitRefused
from core.jsonl import encode
from core.session import Session
from core.times import iso_time

ID_LENGTH = 8
"""Hexadecimal characters of an entry's id; pi takes a full id where such a short one is in use already."""

ATTEMPTS = 100


def line_of(value: dict[str, Any]) -> bytes:
    """One record in pi's own form; no line end."""
    return encode(value)


def stored_id(session: Session, entry_id: str) -> Any:
    """The id as it stands in the file, where pi looks it up by value: nearly always the text itself."""
    entry = session.entry(entry_id)
    if entry is None or ":" not in entry_id:
        return entry_id
    return record(session, entry).get("id", entry_id)


class Chain:
    """Records to append, each the child of the one before; the first is the child of `parent`."""

    def __init__(self, session: Session, stamp: Stamp, parent: Any) -> None:
        self.session = session
        self.stamp = stamp
        self.time = iso_time(stamp.now)
        self.parent = parent
        """The id of the entry that the next record hangs on, as stored; None for a new root."""
        self.records: list[dict[str, Any]] = []
        self._used: set[str] = set()

    def new_id(self) -> str:
        """An id that no entry of the session has."""
        for _ in range(ATTEMPTS):
            short = self.stamp.new_id()[:ID_LENGTH]
            if short not in self._used and self.session.entry(short) is None:
                self._used.add(short)
                return short
        raise CommitRefused(f"{self.session.path}: found no free entry id: commit again")

    def add(self, kind: str, own: str | None = None, **fields: Any) -> str:
        """A new record of this type; gives its id."""
        own = own or self.new_id()
        head = {"type": kind, "id": own, "parentId": self.parent, "timestamp": self.time}
        self.records.append(head | fields)
        self.parent = own
        return own

    def copy(self, value: dict[str, Any]) -> str:
        """A copy of a stored record, with an id and a place of its own."""
        fields = {name: field for name, field in value.items() if name not in ("type", "id", "parentId", "timestamp")}
        return self.add(value["type"], **fields)
