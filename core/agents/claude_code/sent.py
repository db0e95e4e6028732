"""Which lines of the conversation are sent at all, and which of their blocks: before anything is joined."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from core.agents.claude_code.messages import Block, blocks_of
from core.agents.claude_code.records import Line, record
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
    barrier: bool = False
    """Whether nothing of the reply is sent, though context lines do not rise over it."""


def sent_lines(session: Session, path: Sequence[Line]) -> Iterator[Sent]:
    """The lines of `path` that are sent, and those of failed replies and of such that lost all their calls.

    Left out are the client's own notes, blank texts, replies with nothing but thinking, and calls that have no result
    anywhere in the conversation, unless they end it.
    """
    lines = [line for line in path if _reaches(line)]
    lost = lost_calls(lines)
    silent = _silent(session, lines, frozenset())
    gone = _silent(session, lines, lost) if lost else silent
    for line in lines:
        stored, own = record(session, line.entry), line.message_id or line.id
        if line.entry.kind != "assistant":
            yield Sent(line, stored, [])
        elif line.api_error or own in gone:
            if line.api_error or own not in silent:
                yield Sent(line, stored, [], barrier=True)
        else:
            yield Sent(line, stored, reply_blocks(stored, line, lost))


def _reaches(line: Line) -> bool:
    kind = line.entry.kind
    return kind in ("user", "assistant", "attachment") or (kind == "system" and line.subtype == "local_command")


def lost_calls(lines: Sequence[Line]) -> frozenset[str]:
    """Calls without a result in the conversation; where it ends inside a turn, those of that turn are none of them."""
    answered = {call for line in lines for call in line.results}
    start = _open_turn(lines)
    return frozenset(call for line in lines[:start] for call in line.calls if call not in answered)


def _open_turn(lines: Sequence[Line]) -> int:
    """Place of the first line of the turn in which the conversation ends; behind the last one where it has ended.

    It has ended where the last message is neither a result nor a reply with a call.
    """
    messages = [at for at, line in enumerate(lines) if line.entry.kind in ("user", "assistant")]
    if not messages:
        return len(lines)
    last = lines[messages[-1]]
    reply = last.message_id or last.id
    calling = any(lines[at].calls for at in messages if (lines[at].message_id or lines[at].id) == reply)
    if not (last.results if last.entry.kind == "user" else calling):
        return len(lines)
    said = [at for at in messages if lines[at].entry.kind == "user" and not lines[at].results]
    return said[-1] if said else 0


def reply_blocks(stored: dict[str, Any], line: Line, lost: frozenset[str]) -> list[Block]:
    """The blocks of a line of a reply, without blank texts and lost calls."""
    message = stored.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if content == []:
        return [Block("text", {}, (Source(line.id, 0),), "", "repair", NO_CONTENT)]
    return [block for block in blocks_of(content, line.id) if not _left_out(block, lost)]


def _left_out(block: Block, lost: frozenset[str]) -> bool:
    if block.kind == "text":
        return not trim(block.text)
    return block.kind == "tool_call" and block.call_id in lost


def _silent(session: Session, lines: Sequence[Line], lost: frozenset[str]) -> frozenset[str]:
    """Ids of the replies of which nothing but thinking would be sent."""
    empty: dict[str, bool] = {}
    for line in lines:
        if line.entry.kind == "assistant" and not line.api_error:
            own = line.message_id or line.id
            if any(call not in lost for call in line.calls):
                empty[own] = False
            elif empty.get(own, True):
                blocks = reply_blocks(record(session, line.entry), line, lost)
                empty[own] = all(block.kind == "thinking" for block in blocks)
    return frozenset(own for own, is_empty in empty.items() if is_empty)
