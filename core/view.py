"""The model view: the ordered items that the model would be sent on the next request, and their groups."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from core.resume import Resume

Role = Literal["system", "user", "assistant", "tool"]
Kind = Literal["text", "thinking", "tool_call", "tool_result", "image"]
Origin = Literal["stored", "repair", "fresh"]
Mark = Literal["", "summary", "branch_summary", "shell", "custom", "standing", "bundled_image", "waiting"]
Sight = Literal["visible", "summarized", "pruned", "dropped", "other_branch", "never"]


@dataclass(frozen=True, slots=True)
class Source:
    """The stored part that an item comes from: an entry's id and the number of the part in it, from 0."""

    entry: str
    part: int

    def to_json(self) -> dict[str, Any]:
        return {"entry": self.entry, "part": self.part}


@dataclass(frozen=True, slots=True)
class Item:
    """One part of the view. Which fields are set follows from `kind`; an image's bytes stay in the file."""

    role: Role
    kind: Kind
    text: str = ""
    call_id: str = ""
    name: str = ""
    """The tool's name, of a call and (where known) of a result."""
    arguments: Any = None
    """The parsed JSON of a call, or the raw string where it is not valid JSON."""
    media_type: str = ""
    sha256: str = ""
    image_bytes: int = 0
    opaque: bool = False
    """Reasoning that is only an encrypted or redacted blob."""
    is_error: bool = False
    at_server: bool = False
    """A call that the provider's own server ran: no result of its own follows."""
    signed: bool = False
    """Thinking that carries a signature and so may never be altered."""
    source: tuple[Source, ...] = ()
    origin: Origin = "stored"
    wire_type: str = ""
    """The block's own type where `kind` is only what it is treated as, such as `document`; empty for all others."""
    mark: Mark = ""
    """What the text stands for where it is no plain message: a compaction summary, a shell command of the user, …"""
    trimmed: bool = False
    """Whether the client shortens the text in this request only: the file keeps it whole, and it can grow back."""

    def to_json(self) -> dict[str, Any]:
        """The item in the neutral form `model-view/1`, with `source` and `origin` added."""
        out: dict[str, Any] = {"role": self.role, "type": self.wire_type or self.kind}
        if self.kind == "tool_call":
            out |= {"call_id": self.call_id, "name": self.name, "arguments": self.arguments}
        elif self.kind == "tool_result":
            out |= {"call_id": self.call_id, "text": self.text}
        elif self.kind == "image":
            out |= {"media_type": self.media_type, "sha256": self.sha256}
        elif self.opaque:
            out["opaque"] = True
        elif self.wire_type:
            out["value"] = self.text
        else:
            out["text"] = self.text
        out |= {"source": [source.to_json() for source in self.source], "origin": self.origin}
        if self.mark:
            out["mark"] = self.mark
        if self.trimmed:
            out["trimmed"] = True
        return out


def sent(item: Item) -> tuple[Any, ...]:
    """What of an item goes to the model: two are the same for it where this is equal, wherever they are stored."""
    return (item.role, item.kind, item.text, item.call_id, item.name, repr(item.arguments), item.sha256, item.opaque)


@dataclass(frozen=True, slots=True)
class Seen:
    """An item of the session's whole past and whether the model still sees it."""

    item: Item
    sight: Sight
    left_at: str | None = None
    """The id of the entry (a compaction, an edit) with which it left the view."""


@dataclass(frozen=True, slots=True)
class View:
    """What would be sent on resume: `items` in request order; `fresh` is made anew at each start."""

    agent: str
    resume: Resume
    items: tuple[Item, ...]
    fresh: tuple[Item, ...] = ()
    warnings: tuple[str, ...] = ()
    proven: bool = True
    """False where the view was read from the end of the file and the rest has not confirmed it yet."""

    def to_json(self) -> dict[str, Any]:
        """The neutral form `model-view/1`."""
        return {
            "schema": "model-view/1",
            "agent": self.agent,
            "client_version": self.resume.client_version.value,
            "resume": self.resume.to_json(),
            "items": [item.to_json() for item in self.items],
            "fresh": [item.to_json() for item in self.fresh],
            "warnings": list(self.warnings),
        }


UnitKind = Literal["user", "exchange", "assistant", "summary", "branch_summary", "shell", "custom", "orphan", "system"]


@dataclass(frozen=True, slots=True)
class Unit:
    """The smallest group of items that one decision can apply to: never half of a pair."""

    id: str
    """The id of the unit's first entry; stable for one state of the file."""
    kind: UnitKind
    items: tuple[int, ...]
    """Positions in `View.items`, ascending; not always neighbours (a late result)."""
    entries: tuple[str, ...]
    """The ids of the stored entries that the unit is made of, in file order."""
    starts_turn: bool = False
    """True for a real message of the user."""

    @property
    def first(self) -> int:
        return self.items[0]

    @property
    def last(self) -> int:
        return self.items[-1]


@dataclass(frozen=True, slots=True)
class Turn:
    """A real user message and all that follows, up to the next one; turn 0 holds what stands before the first."""

    number: int
    units: tuple[Unit, ...]


def turns(units: Sequence[Unit]) -> tuple[Turn, ...]:
    """The units grouped by turn, in view order."""
    groups: list[list[Unit]] = []
    for unit in units:
        if not groups or unit.starts_turn:
            groups.append([])
        groups[-1].append(unit)
    offset = 0 if groups and not groups[0][0].starts_turn else 1
    return tuple(Turn(number + offset, tuple(group)) for number, group in enumerate(groups))


@dataclass(frozen=True, slots=True)
class Pairing:
    """The calls and results of a list of items, matched by id in order."""

    pairs: tuple[tuple[int, int], ...]
    unanswered: tuple[int, ...] = field(default=())
    orphans: tuple[int, ...] = field(default=())

    @property
    def whole(self) -> bool:
        return not self.unanswered and not self.orphans


def pair_up(items: Iterable[Item]) -> Pairing:
    """Match each result with the latest earlier call of its id that has none yet.

    Calls of one id that stand together share one result (pi sends them so). A result of the same id after the
    first one is an orphan. A call that the provider's server ran needs none.
    """
    open_calls: dict[str, list[int]] = {}
    pairs: list[tuple[int, int]] = []
    orphans: list[int] = []
    for position, item in enumerate(items):
        if item.kind == "tool_call" and not item.at_server:
            open_calls.setdefault(item.call_id, []).append(position)
        elif item.kind == "tool_result":
            calls = open_calls.pop(item.call_id, None)
            if calls is None:
                orphans.append(position)
            else:
                pairs.extend((call, position) for call in calls)
    unanswered = sorted(position for calls in open_calls.values() for position in calls)
    return Pairing(tuple(pairs), tuple(unanswered), tuple(orphans))
