"""Which lines of the conversation are sent at all, and which of their blocks: before anything is joined."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from core.agents.claude_code.messages import Block, blocks_of
from core.agents.claude_code.records import Line, detail, record
from core.agents.claude_code.repair import NO_CONTENT
from core.jsonl import trim
from core.session import Session
from core.view import Source


@dataclass(slots=True)
class Sent:
    """A line that reaches the request, decoded."""

    line: Line
    stored: dict[str, Any]
    blocks: list[Block]
    """Of a reply: those that are sent. Empty for all other lines."""


def sent_lines(session: Session, path: Sequence[Line], model: str | None) -> Iterator[Sent]:
    """The lines of `path` that are sent when `model` goes on; None: nothing is known of the model.

    Left out are the client's own notes, failed replies, blank texts, the thinking of other models, replies with
    nothing but thinking, and calls that have no result anywhere in the conversation, unless they end it.
    """
    lines = [line for line in path if _reaches(session, line)]
    lost = lost_calls(lines)
    thinking_only = _thinking_only(session, lines, lost, model)
    for line in lines:
        stored = record(session, line.entry)
        if line.entry.kind != "assistant":
            yield Sent(line, stored, [])
        elif (line.message_id or line.id) not in thinking_only:
            blocks = reply_blocks(stored, line, lost, model)
            if blocks:
                yield Sent(line, stored, blocks)


def _reaches(session: Session, line: Line) -> bool:
    if line.api_error or (line.sidechain and not detail(session).subagent):
        return False
    kind = line.entry.kind
    return kind in ("user", "assistant", "attachment") or (kind == "system" and line.subtype == "local_command")


def lost_calls(lines: Sequence[Line]) -> frozenset[str]:
    """Calls without a result in the conversation; those of its last reply are only lost where the user spoke since."""
    answered = {call for line in lines for call in line.results}
    last = ""
    for line in reversed(lines):
        if line.entry.kind == "assistant":
            last = line.message_id or line.id
            break
        if line.entry.kind == "user" and not line.results:
            break
    return frozenset(
        call for line in lines for call in line.calls if call not in answered and (line.message_id or line.id) != last
    )


def reply_blocks(stored: dict[str, Any], line: Line, lost: frozenset[str], model: str | None) -> list[Block]:
    """The blocks of a line of a reply that are sent."""
    message = stored.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if content == []:
        return [Block("text", {}, (Source(line.id, 0),), "", "repair", NO_CONTENT)]
    return [block for block in blocks_of(content, line.id) if not _left_out(block, line, lost, model)]


def _left_out(block: Block, line: Line, lost: frozenset[str], model: str | None) -> bool:
    if block.kind == "text":
        return not trim(block.text)
    if block.kind == "thinking":
        return model is not None and _plain(line.model) != _plain(model)
    return block.kind == "tool_call" and block.call_id in lost


def _plain(model: str) -> str:
    """A model's name without the size of its window."""
    return model.removesuffix("[1m]")


def _thinking_only(session: Session, lines: Sequence[Line], lost: frozenset[str], model: str | None) -> frozenset[str]:
    """Ids of the replies of which nothing but thinking would be sent."""
    empty: dict[str, bool] = {}
    for line in lines:
        if line.entry.kind == "assistant":
            own = line.message_id or line.id
            if any(call not in lost for call in line.calls):
                empty[own] = False
            elif empty.get(own, True):
                blocks = reply_blocks(record(session, line.entry), line, lost, model)
                empty[own] = all(block.kind == "thinking" for block in blocks)
    return frozenset(own for own, is_empty in empty.items() if is_empty)
