"""What dsh itself estimates that a message costs (dsh-token-meter 0.1.0-rc.8): its records of a compaction tell it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.jsonl import encode

UNITS_PER_TOKEN = 4
OVERHEAD = 4
"""Tokens for each block, and for each message."""


def estimate(message: Mapping[str, Any]) -> int:
    """Tokens of one message; a reply without content is none."""
    content = message.get("content")
    if message.get("role") == "assistant" and not content:
        return 0
    return _content(content) + OVERHEAD


def _content(content: Any) -> int:
    """Tokens of some blocks, with those inside of them. Iterative: nesting may be deep."""
    total, left = 0, [content]
    while left:
        for block in _blocks(left.pop()):
            total += OVERHEAD + _block(block)
            if block.get("type") == "tool-result":
                left.append(block.get("content"))
    return total


def _block(block: Mapping[str, Any]) -> int:
    kind = block.get("type")
    if kind in ("text", "reasoning"):
        return _tokens(block.get("text"))
    if kind == "tool-call":
        return _tokens(block.get("name")) + _tokens(block.get("arguments"))
    return 0 if kind == "tool-result" else _tokens(encode(dict(block)).decode())


def _blocks(content: Any) -> list[dict[str, Any]]:
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def _tokens(text: Any) -> int:
    """A token for every four UTF-16 units, rounded up."""
    units = len(text.encode("utf-16-le", "surrogatepass")) // 2 if isinstance(text, str) else 0
    return -(-units // UNITS_PER_TOKEN)
