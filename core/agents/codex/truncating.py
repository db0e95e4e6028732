"""How Codex shortens the outputs of tools when it takes them into the history (0.171.0)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

SLACK = 1.2
"""The history allows a fifth more than the model's policy says."""

BYTES_PER_TOKEN = 4

Unit = Literal["tokens", "bytes"]


@dataclass(frozen=True, slots=True)
class Policy:
    """How much of a tool's output a model is shown."""

    unit: Unit
    limit: int
    slack: float = SLACK

    @property
    def bytes(self) -> int:
        """What stays of a text, in bytes of UTF-8."""
        return self.allowed * (BYTES_PER_TOKEN if self.unit == "tokens" else 1)

    @property
    def allowed(self) -> int:
        """The limit with its slack."""
        return int(self.limit * self.slack + 0.5)


CATALOGUE = Policy("tokens", 10_000)
"""All models in the catalogue of 0.171.0."""

OTHERS = Policy("bytes", 10_000)
"""A model that the catalogue does not hold."""


def cut_output(output: Any, policy: Policy) -> Any:
    """An output as it stands in the history: shortened in the middle where it is too long."""
    if isinstance(output, str):
        return cut_text(output, policy.bytes, policy.unit)
    return _cut_parts(output, policy) if isinstance(output, list) else output


def _cut_parts(parts: Sequence[Any], policy: Policy) -> list[Any]:
    """One budget for all texts, in order; pictures stay."""
    out: list[Any] = []
    left, omitted = policy.allowed, 0
    for part in parts:
        text = part.get("text") if isinstance(part, dict) and part.get("type") == "input_text" else None
        if not isinstance(text, str):
            out.append(part)
            continue
        size = len(text.encode("utf-8", "surrogatepass"))
        cost = size if policy.unit == "bytes" else -(-size // BYTES_PER_TOKEN)
        if left == 0:
            omitted += bool(text)
        elif cost <= left:
            out.append(part)
            left -= cost
        else:
            room = left * (BYTES_PER_TOKEN if policy.unit == "tokens" else 1)
            out.append({**part, "text": cut_text(text, room, policy.unit)})
            left = 0
    if omitted:
        out.append({"type": "input_text", "text": f"[omitted {omitted} text items ...]"})
    return out


def cut_text(text: str, room: int, unit: Unit) -> str:
    """`text` with at most `room` bytes of it: its beginning, a mark that tells what is missing, its end."""
    head, mark, tail = cut_middle(text, room, unit)
    return head + mark + tail


def cut_middle(text: str, room: int, unit: Unit) -> tuple[str, str, str]:
    """The three pieces of a shortened text; the last two are empty where it fits."""
    data = text.encode("utf-8", "surrogatepass")
    if len(data) <= room:
        return text, "", ""
    head = _whole(data[: room // 2])
    start = len(data) - (room - room // 2)
    while start < len(data) and data[start] & 0xC0 == 0x80:
        start += 1
    tail = data[start:].decode("utf-8", "surrogatepass")
    return head, mark_of(len(data) - room, len(text) - len(head) - len(tail), unit), tail


def mark_of(size: int, characters: int, unit: Unit) -> str:
    """What stands in the place of the middle: so many bytes too much, and so many characters taken out."""
    if unit == "tokens":
        return f"…{-(-size // BYTES_PER_TOKEN)} tokens truncated…"
    return f"…{characters} chars truncated…"


def _whole(data: bytes) -> str:
    """The bytes as text, without the beginning of a character at their end."""
    end = len(data)
    while end and data[end - 1] & 0xC0 == 0x80:
        end -= 1
    last = data[end - 1] if end else 0
    needed = 4 if last >= 0xF0 else 3 if last >= 0xE0 else 2 if last >= 0xC0 else 1
    whole = data if not end or len(data) - end + 1 >= needed else data[: end - 1]
    return whole.decode("utf-8", "surrogatepass")


def cut_user_text(text: str, tokens: int) -> list[str]:
    """A user's message that no longer fits: in three parts, the mark between them (0.171.0)."""
    return list(cut_middle(text, tokens * BYTES_PER_TOKEN, "tokens"))
