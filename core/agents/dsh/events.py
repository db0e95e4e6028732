"""New events in dsh's own form: numbered on from the log, with ids and times, one JSON line each."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from core.agents.protocol import Stamp
from core.jsonl import encode


def new_uuid(stamp: Stamp) -> str:
    """A random id as dsh makes them."""
    return str(UUID(hex=stamp.new_id(), version=4))


class Events:
    """Events to append; the first has the number `seq`."""

    def __init__(self, seq: int, stamp: Stamp) -> None:
        self.seq = seq
        """The number of the next event."""
        self.stamp = stamp
        self.time = int(stamp.now * 1000)
        self.rows: list[dict[str, Any]] = []

    def add(self, kind: str, data: dict[str, Any], **more: Any) -> int:
        """A new event; gives its number."""
        self.rows.append({"type": kind, "seq": self.seq, "time": self.time, "data": data, **more})
        self.seq += 1
        return self.seq - 1

    def put(self, kind: str, data: dict[str, Any], seqs: list[int], cited: list[int]) -> int:
        """A message in the place of a range of the surface: it cites what it is made from, and all that it replaces."""
        operation = {"op": "replace", "start": seqs[0], "end": seqs[-1]}
        return self.add(kind, data, surfaceOp=operation, sourceEventSeqs=[*cited, *seqs])

    def lines(self) -> bytes:
        """All events, each with its line end."""
        return b"".join(encode(row) + b"\n" for row in self.rows)
