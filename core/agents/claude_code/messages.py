"""Messages on their way from the file to the request: blocks that may still be joined, folded or left out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from core.view import Mark, Origin, Source

BlockKind = Literal["text", "thinking", "tool_call", "tool_result", "image", "other"]


@dataclass(slots=True)
class Block:
    """One block of a message."""

    kind: BlockKind
    value: dict[str, Any]
    """The block as stored; for a text that stood alone, a block made of it."""
    source: tuple[Source, ...]
    mark: Mark = ""
    origin: Origin = "stored"
    text: str = ""
    """Of a text or of thinking."""
    folded: list[str] = field(default_factory=list[str])
    """Reminders that were put behind a result."""

    @property
    def call_id(self) -> str:
        """The id of a call, or of the call that a result answers."""
        own = self.value.get("id" if self.kind == "tool_call" else "tool_use_id")
        return own if isinstance(own, str) else ""


@dataclass(slots=True)
class Message:
    """One message of the request; `system` ones hold context lines of a gap between two replies."""

    role: Literal["user", "assistant", "system"]
    blocks: list[Block]
    id: str = ""
    """The provider's id of a reply, by which its lines are joined."""
    model: str = ""
    prompt: bool = False
    """Whether the user speaks in it, beside results and context lines."""

    def of(self, kind: BlockKind) -> Iterator[Block]:
        return (block for block in self.blocks if block.kind == kind)

    @property
    def ends_with_result(self) -> bool:
        return bool(self.blocks) and self.blocks[-1].kind == "tool_result"


KINDS: dict[Any, BlockKind] = {
    "text": "text",
    "thinking": "thinking",
    "redacted_thinking": "thinking",
    "tool_use": "tool_call",
    "tool_result": "tool_result",
    "image": "image",
    "document": "image",
}


def blocks_of(content: Any, entry: str, mark: Mark = "") -> list[Block]:
    """The blocks of a stored content: a text, or a list of blocks."""
    if isinstance(content, str):
        return [Block("text", {"type": "text", "text": content}, (Source(entry, 0),), mark, text=content)]
    blocks: list[Block] = []
    for number, value in enumerate(content if isinstance(content, list) else ()):
        if not isinstance(value, dict):
            continue
        kind = KINDS.get(value.get("type") if isinstance(value.get("type"), str) else None, "other")
        text = value.get("thinking" if kind == "thinking" else "text")
        blocks.append(Block(kind, value, (Source(entry, number),), mark, text=text if isinstance(text, str) else ""))
    return blocks
