"""The bytes of an image item, read from the file when somebody wants to see them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from core.agents.claude_code.items import PICTURES, picture_bytes
from core.agents.claude_code.records import record
from core.jsonl import is_one_of
from core.session import Session
from core.view import Source


def image(session: Session, source: Sequence[Source]) -> bytes | None:
    """The bytes of the image at the first of these places; None where there is none.

    Of a picture inside a result, the second source's `part` is its number in the result.
    """
    if not source:
        return None
    entry = session.entry(source[0].entry)
    message = record(session, entry).get("message") if entry is not None else None
    block = _part(message.get("content") if isinstance(message, dict) else None, source[0].part)
    if block is not None and block.get("type") == "tool_result":
        inner = source[1].part if len(source) > 1 else next(_pictures(block.get("content")), -1)
        block = _part(block.get("content"), inner)
    return picture_bytes(block) if block is not None and is_one_of(block.get("type"), PICTURES) else None


def _part(content: Any, number: int) -> dict[str, Any] | None:
    part = content[number] if isinstance(content, list) and 0 <= number < len(content) else None
    return part if isinstance(part, dict) else None


def _pictures(content: Any) -> Iterator[int]:
    for number, part in enumerate(content if isinstance(content, list) else ()):
        if isinstance(part, dict) and is_one_of(part.get("type"), PICTURES):
            yield number
