"""The head of a record: the few fields that need no second look, decoded while its content is skipped."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec

from core.agents.pi.javascript import double
from core.agents.pi.records import CURRENT_VERSION


class MessageHead(msgspec.Struct, gc=False):
    """What the message inside a record tells of itself."""

    role: str | None = None
    provider: str | None = None
    model: str | None = None
    api: str | None = None


class Head(msgspec.Struct, gc=False, rename={"kind": "type", "parent": "parentId", "model": "modelId"}):
    """The record's type, place in the tree, and what it tells of a model."""

    kind: str | None = None
    id: str | None = None
    parent: str | None = None
    timestamp: str | None = None
    provider: str | None = None
    model: str | None = None
    message: MessageHead | None = None


HEADS = msgspec.json.Decoder(Head)


def plain_head(value: dict[str, Any]) -> Head:
    """The head of a record whose fields have unusual types."""

    def text(fields: dict[str, Any], name: str) -> str | None:
        found = fields.get(name)
        return found if isinstance(found, str) else None

    message = value.get("message")
    inner = None
    if isinstance(message, dict):
        inner = MessageHead(*(text(message, name) for name in ("role", "provider", "model", "api")))
    names = ("type", "id", "parentId", "timestamp", "provider", "modelId")
    kind, own, parent, timestamp, provider, model = (text(value, name) for name in names)
    return Head(kind, own, parent, timestamp, provider, model, inner)


def identity(value: Any, line: int) -> str | None:
    """A name for an id of any JSON type, equal where JavaScript's `Map` would find it; None for what counts as none."""
    if isinstance(value, str):
        return value or None
    if value is None or value == 0:
        return None
    if value is True:
        return "true:"
    return f"number:{double(value)!r}" if isinstance(value, (int, float)) else f"line:{line}"


def stored_version(value: Any) -> int:
    """The header's version as JavaScript would compare it; 1 where there is none."""
    if value is None:
        return 1
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return CURRENT_VERSION
    return int(min(max(number, 0), 1 << 30)) if number == number else CURRENT_VERSION


def seconds(timestamp: str | None) -> float | None:
    """Seconds since 1970 of an ISO time; None where it is none."""
    if timestamp is None:
        return None
    try:
        moment = datetime.fromisoformat(timestamp)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError, OSError):
        return None
