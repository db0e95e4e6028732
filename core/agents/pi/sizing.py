"""Where pi 1.6.0 fails before it sends: it sizes every request from its last usage on, and trusts the records."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from core.agents.pi.javascript import double
from core.agents.pi.messages import Message
from core.agents.pi.repair import DROPPED
from core.errors import ClientRefuses

COUNTS = ("input", "output", "cacheRead", "cacheWrite")


def refuse_what_cannot_be_sized(messages: Sequence[Message]) -> None:
    """Raise ClientRefuses where pi 1.6.0 would fail while it sizes these messages.

    Only what follows the last reply with usage is measured. A reply counts as such if nothing before it is newer.
    """
    newest, start = -math.inf, 0
    for position, message in enumerate(messages):
        time = _milliseconds(message)
        if message.role == "assistant" and time >= newest and message.fields.get("stopReason") not in DROPPED:
            if message.fields.get("usage") is None:
                raise ClientRefuses(f"line {message.line}: a reply without usage: pi fails at it")
            if _tokens(message.fields["usage"]) > 0:
                start = position + 1
        newest = math.nan if math.isnan(time) or math.isnan(newest) else max(newest, time)
    for message in messages[start:]:
        _measure(message)


def _measure(message: Message) -> None:
    if message.null_content:
        raise ClientRefuses(f"line {message.line}: a message whose content is null: pi fails at it")
    for part in message.parts:
        needed = "text" if part.kind == "text" else None
        if message.role == "assistant" and needed is None:
            needed = "thinking" if part.kind == "thinking" else "name"
        if needed is not None and part.value.get(needed) is None:
            words = f"part {part.number} of the {message.role} message has no {needed}"
            raise ClientRefuses(f"line {message.line}: {words}: pi fails at it")


def _milliseconds(message: Message) -> float:
    stored = message.fields.get("timestamp")
    return double(stored) if isinstance(stored, (int, float)) else math.nan


def _tokens(usage: Any) -> float:
    if not isinstance(usage, dict):
        return 0
    total = usage.get("totalTokens")
    if isinstance(total, (int, float)) and total:
        return total
    counts = [usage.get(name) for name in COUNTS]
    return sum(count if isinstance(count, (int, float)) else math.nan for count in counts)
