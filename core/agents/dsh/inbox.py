"""The messages that wait in the stored inbox: what dsh sends by itself when it resumes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from core.agents.dsh.records import Waiting
from core.agents.dsh.shapes import is_count

NEXT_STEP, NEXT_TURN = "next-step", "next-turn"


@dataclass
class Inbox:
    """Both lists, as the events have changed them so far."""

    seeded: int = 0
    """Events that a fork has copied from its parent: their inbox is not this session's."""
    _lists: dict[str, list[tuple[Waiting, str]]] = field(default_factory=lambda: {NEXT_STEP: [], NEXT_TURN: []})

    @property
    def next_step(self) -> tuple[Waiting, ...]:
        return tuple(waiting for waiting, _ in self._lists[NEXT_STEP])

    @property
    def next_turn(self) -> tuple[Waiting, ...]:
        return tuple(waiting for waiting, _ in self._lists[NEXT_TURN])

    def apply(self, entry: str, seq: int, data: Any) -> bool:
        """Carry out one change; False where dsh would refuse it."""
        if seq < self.seeded:
            return True
        found = self._lists.get(str(data.get("target"))) if isinstance(data, dict) else None
        if found is None:
            return False
        start, inserted = data.get("start"), data.get("inserted")
        removed = data.get("removedCount")
        removed = 0 if removed is None else removed
        if not is_count(start) or not is_count(removed) or start + removed > len(found):
            return False
        if not isinstance(inserted, list) or not all(isinstance(message, dict) for message in inserted):
            return False
        new = [(Waiting(entry, position), repr(one.get("id"))) for position, one in enumerate(inserted)]
        found[int(start) : int(start + removed)] = new
        names = [name for waiting in self._lists.values() for _, name in waiting]
        return len(set(names)) == len(names)
