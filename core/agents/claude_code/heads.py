"""The head of a line: the few fields that need no second look, decoded while its texts are skipped."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any

import msgspec

MOST_TOKENS = 10**12
"""A larger figure is no figure."""


Tokens = Annotated[int, msgspec.Meta(ge=0, lt=MOST_TOKENS)]


class BlockHead(msgspec.Struct, gc=False, rename={"kind": "type", "call": "tool_use_id"}):
    """One block of a message: only what ties calls and results together."""

    kind: str | None = None
    id: str | None = None
    call: str | None = None


class UsageHead(
    msgspec.Struct,
    gc=False,
    rename={
        "fresh": "input_tokens",
        "written": "cache_creation_input_tokens",
        "cached": "cache_read_input_tokens",
        "output": "output_tokens",
    },
):
    """The provider's figures of a reply, in tokens: input that no cache had, written to it, read from it; output."""

    fresh: Tokens | None = None
    written: Tokens | None = None
    cached: Tokens | None = None
    output: Tokens | None = None

    def counts(self) -> tuple[int, int, int, int]:
        """The four figures; 0 for what is missing."""
        return self.fresh or 0, self.written or 0, self.cached or 0, self.output or 0


class MessageHead(msgspec.Struct, gc=False):
    """What the message inside a line tells of itself; of its blocks no text is kept."""

    role: str | None = None
    id: str | None = None
    model: str | None = None
    content: list[BlockHead] | str | None = None
    usage: UsageHead | None = None


class Head(
    msgspec.Struct,
    gc=False,
    rename={
        "kind": "type",
        "own": "uuid",
        "parent": "parentUuid",
        "logical_parent": "logicalParentUuid",
        "session": "sessionId",
        "agent": "agentId",
        "sidechain": "isSidechain",
        "api_error": "isApiErrorMessage",
        "summary": "isCompactSummary",
        "meta": "isMeta",
        "leaf": "leafUuid",
    },
):
    """The line's type, its place in the chain, and the flags that decide whether it is sent."""

    kind: str | None = None
    own: str | None = None
    parent: str | None = None
    logical_parent: str | None = None
    timestamp: datetime | None = None
    session: str | None = None
    agent: str | None = None
    cwd: str | None = None
    subtype: str | None = None
    leaf: str | None = None
    sidechain: bool | None = None
    api_error: bool | None = None
    summary: bool | None = None
    meta: bool | None = None
    message: MessageHead | None = None


HEADS = msgspec.json.Decoder(Head)


def plain_head(value: dict[str, Any]) -> Head:
    """The head of a line whose fields have unusual types: those count as missing."""
    message = value.get("message")
    inner = None
    if isinstance(message, dict):
        texts = {name: _text(message.get(name)) for name in ("role", "id", "model")}
        content = message.get("content")
        inner = MessageHead(**texts, content=_blocks(content), usage=_usage(message.get("usage")))
    return Head(
        kind=_text(value.get("type")),
        own=_text(value.get("uuid")),
        parent=_text(value.get("parentUuid")),
        logical_parent=_text(value.get("logicalParentUuid")),
        timestamp=_moment(value.get("timestamp")),
        session=_text(value.get("sessionId")),
        agent=_text(value.get("agentId")),
        cwd=_text(value.get("cwd")),
        subtype=_text(value.get("subtype")),
        leaf=_text(value.get("leafUuid")),
        sidechain=bool(value.get("isSidechain")),
        api_error=bool(value.get("isApiErrorMessage")),
        summary=bool(value.get("isCompactSummary")),
        meta=bool(value.get("isMeta")),
        message=inner,
    )


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _usage(value: Any) -> UsageHead | None:
    if not isinstance(value, dict):
        return None
    names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")
    return UsageHead(*(_number(value.get(name)) for name in names))


def _number(value: Any) -> int | None:
    plain = isinstance(value, (int, float)) and not isinstance(value, bool)
    return int(value) if plain and 0 < value < MOST_TOKENS else None


def _blocks(content: Any) -> list[BlockHead] | None:
    if not isinstance(content, list):
        return None
    return [
        BlockHead(*(_text(block.get(name)) for name in ("type", "id", "tool_use_id")))
        for block in content
        if isinstance(block, dict)
    ]


NONE: tuple[str, ...] = ()


def tool_ids(message: MessageHead) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The ids of the calls in a message, and the ids of the calls that its results answer, both in order."""
    blocks = message.content
    if not blocks or isinstance(blocks, str):
        return NONE, NONE
    calls = results = NONE
    for block in blocks:
        kind = block.kind
        if kind == "tool_use":
            calls += (block.id,) if block.id else ()
        elif kind == "tool_result":
            results += (block.call,) if block.call else ()
    return calls, results


def _moment(value: Any) -> datetime | None:
    try:
        return datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None


def seconds(moment: datetime | None) -> float | None:
    """Seconds since 1970 of a time, in UTC where it names no zone; None where there is none."""
    if moment is None:
        return None
    return (moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)).timestamp()
