"""Codex's JSON reader as far as it decides what counts: what it cannot read, it skips without a word (0.171.0)."""

from __future__ import annotations

import re
from typing import Annotated, Any

import msgspec

from core.agents.codex.shapes import (
    ITEM_TYPES,
    Agents,
    Compacted,
    Event,
    KnownItem,
    Line,
    Metadata,
    Start,
    Tagged,
    Trigger,
    Turn,
    UsageRecord,
    WorldState,
)

DEEPEST = 127
"""Levels of nesting that Codex's JSON reader follows; a line with more is skipped."""

NEEDED = {
    "task_started": ("turn_id",),
    "turn_started": ("turn_id",),
    "task_complete": ("turn_id",),
    "turn_complete": ("turn_id",),
    "turn_aborted": ("reason",),
    "thread_rolled_back": ("num_turns",),
    "token_count": (),
    "context_compacted": (),
    "user_message": ("message",),
    "agent_message": ("message",),
    "agent_reasoning": ("text",),
    "agent_reasoning_raw_content": ("text",),
    "error": ("message",),
    "undo_completed": ("success",),
    "item_completed": ("thread_id", "turn_id", "item"),
    "thread_settings_applied": ("thread_settings",),
}
"""Type of an event → the fields without which Codex skips it."""


class Misfit(ValueError):
    """A record that Codex would skip; the message says why."""


LINES = msgspec.json.Decoder(Line)
STARTS = msgspec.json.Decoder(Start)
EVENTS = msgspec.json.Decoder(Event)
TURNS = msgspec.json.Decoder(Turn)
AGENTS = msgspec.json.Decoder(Agents)
_SIDE = Annotated[dict[str, msgspec.Raw], msgspec.Meta(min_length=1)]
OTHERS: dict[str, msgspec.json.Decoder[Any]] = {
    "world_state": msgspec.json.Decoder(WorldState),
    "token_usage_record": msgspec.json.Decoder(UsageRecord),
    "inter_agent_communication_metadata": msgspec.json.Decoder(Trigger),
    "retained_context": msgspec.json.Decoder(_SIDE),
    "realtime_item": msgspec.json.Decoder(_SIDE),
    "security_risk_score": msgspec.json.Decoder(_SIDE),
    "rollout_reference": msgspec.json.Decoder(_SIDE),
}
"""Record types that need no more than a look whether they are whole."""
COMPACTED = msgspec.json.Decoder(Compacted)
_METADATA = msgspec.json.Decoder(Metadata | list[Any] | None)
_NULL = msgspec.Raw(b"null")
_FIELDS = msgspec.json.Decoder(dict[str, msgspec.Raw])
_TAGGED = msgspec.json.Decoder(Tagged)
_ITEMS: msgspec.json.Decoder[KnownItem] = msgspec.json.Decoder(KnownItem)

FAILURES = (msgspec.DecodeError, RecursionError, UnicodeDecodeError, ValueError)
"""What a decoder raises: at bytes that are no JSON, at unfit fields, at deep nesting."""


def event(payload: msgspec.Raw | bytes) -> Event:
    """An event, checked as far as is known which fields it needs. Raises one of FAILURES."""
    found = EVENTS.decode(payload)
    needed = NEEDED.get(found.type)
    if needed == ("turn_id",) and isinstance(found.turn_id, str):
        return found
    if needed is None or needed:
        fields = _FIELDS.decode(payload)
        missing = [name for name in needed or () if name not in fields]
        if missing or len(fields) < 2:
            raise Misfit(f"an event {found.type!r} without {', '.join(missing) or 'content'}")
    return found


def item(payload: msgspec.Raw | bytes) -> KnownItem | Tagged:
    """One item, checked. Raises one of FAILURES where Codex could not read it."""
    try:
        return _ITEMS.decode(payload)
    except msgspec.ValidationError:
        tagged = _TAGGED.decode(payload)
        if tagged.type in ITEM_TYPES:
            raise
        return tagged


def metadata(raw: msgspec.Raw | bytes) -> Metadata | None:
    """The metadata of an item, checked. Raises one of FAILURES."""
    if raw == _NULL:
        return None
    found = _METADATA.decode(raw)
    if isinstance(found, list) and found:
        raise Misfit("its metadata is a list")
    return found if isinstance(found, Metadata) else None


_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)


def is_too_deep(line: bytes) -> bool:
    """Whether a line is nested deeper than Codex follows. Only where many levels end together is looked closely."""
    if b"]]]]]]]]" not in line and b"}}}}}}}}" not in line:
        return False
    depth = deepest = 0
    for byte in _STRING.sub(b"", line):
        if byte in b"[{":
            depth += 1
            deepest = max(deepest, depth)
        elif byte in b"]}":
            depth -= 1
    return deepest > DEEPEST


def compacted(payload: msgspec.Raw | bytes) -> Compacted:
    """The payload of a compaction with all its items, checked. Raises one of FAILURES."""
    found = COMPACTED.decode(payload)
    for one in found.replacement_history or ():
        item(one)
    beside = found.replacement_history_metadata
    if beside is not None and len(beside) != len(found.replacement_history or ()):
        raise Misfit(f"it has {len(beside)} metadata for {len(found.replacement_history or ())} items")
    if beside is not None and found.replacement_history is None:
        raise Misfit("it has metadata for no items")
    return found
