"""The rows in which dsh logs a reply while it comes: neighbouring pieces of one block are packed into one row."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

PIECE = 48
"""Characters of one piece."""
PACKED = 3
"""So many pieces of one block in a row are packed (0.1.0-rc.8)."""


def streamed(
    at: dict[str, int], blocks: list[dict[str, Any]], usage: dict[str, int]
) -> Iterator[tuple[dict[str, Any], int]]:
    """The rows of one reply without their numbers, each with how many events it holds; a packed one has `seq0`."""
    for index, block in enumerate(blocks):
        yield _chunk(at, {"type": "block-start", "index": index, "blockType": block["type"]}), 1
        yield from _pieces(at, index, block)
    for index, block in enumerate(blocks):
        yield _chunk(at, {"type": "block-end", "index": index, "block": block}), 1
    yield _chunk(at, {"type": "usage", "usage": usage}), 1
    kind = "tool-calls" if blocks[-1]["type"] == "tool-call" else "stop"
    yield _chunk(at, {"type": "finish", "reason": {"kind": kind}}), 1


def _chunk(at: dict[str, int], chunk: dict[str, Any]) -> dict[str, Any]:
    return {"type": "assistant/chunk", "seq": 0, "time": 0, "data": at | {"chunk": chunk}}


def _pieces(at: dict[str, int], index: int, block: dict[str, Any]) -> Iterator[tuple[dict[str, Any], int]]:
    if block["type"] == "tool-call":
        arguments: str = block["arguments"]
        pieces = ["", *_split(arguments, min(PIECE, -(-len(arguments) // 2)))]
        yield _packed(at, "tool-call", {"index": index, "id": block["id"], "name": block["name"]}, "args", pieces)
        return
    pieces = _split(block["text"], PIECE)
    if len(pieces) >= PACKED:
        yield _packed(at, block["type"], {"index": index}, "texts", pieces)
        return
    for piece in pieces:
        yield _chunk(at, {"type": f"{block['type']}-delta", "index": index, "text": piece}), 1


def _split(text: str, size: int) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)]


def _packed(
    at: dict[str, int], kind: str, of: dict[str, Any], key: str, pieces: list[str]
) -> tuple[dict[str, Any], int]:
    delays = [0] * (len(pieces) - 1)
    data = {**at, "index": of["index"], "dt": delays, **of, key: pieces}
    return {"type": f"{kind}-chunks", "seq0": 0, "time0": 0, "data": data}, len(pieces)
