"""Small pi sessions, written line by line."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

START = 1_750_000_000


def line(record: dict[str, Any]) -> bytes:
    return json.dumps(record, ensure_ascii=False).encode() + b"\n"


def header() -> bytes:
    return line(
        {
            "type": "session",
            "version": 3,
            "id": "5e55a9e0-0000-4000-8000-000000000001",
            "timestamp": "2025-06-15T15:06:40.000Z",
            "cwd": "/home/dev/project",
        }
    )


def message(number: int, body: dict[str, Any]) -> bytes:
    """Entry `number`, a child of the one before it."""
    return line(
        {
            "type": "message",
            "id": f"{number:08x}",
            "parentId": f"{number - 1:08x}" if number > 1 else None,
            "timestamp": f"2025-06-15T15:{number // 60 % 60:02}:{number % 60:02}.000Z",
            "message": {"timestamp": (START + number) * 1000} | body,
        }
    )


def user(number: int, text: str) -> bytes:
    return message(number, {"role": "user", "content": [{"type": "text", "text": text}]})


def call(number: int, name: str, arguments: dict[str, Any], call_id: str, context: int = 1000) -> bytes:
    return message(
        number,
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "Looking."},
                {"type": "toolCall", "id": call_id, "name": name, "arguments": arguments},
            ],
            "api": "anthropic-messages",
            "provider": "anthropic",
            "model": "claude-sonnet-4-5",
            "usage": {
                "input": context,
                "output": 20,
                "cacheRead": 0,
                "cacheWrite": 0,
                "totalTokens": context + 20,
                "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0},
            },
            "stopReason": "toolUse",
        },
    )


def result(number: int, name: str, call_id: str, text: str) -> bytes:
    return message(
        number,
        {
            "role": "toolResult",
            "toolCallId": call_id,
            "toolName": name,
            "content": [{"type": "text", "text": text}],
            "isError": False,
        },
    )


def turns(count: int, words: int = 120) -> Iterable[bytes]:
    """Turns of a question, a call and its result: three entries each."""
    for turn in range(count):
        number = turn * 3
        path = f"src/part_{turn % 5}.py"
        text = " ".join(f"word{turn}_{word}" for word in range(words))
        yield user(number + 1, f"Question {turn}: what is in {path}?")
        yield call(number + 2, "read", {"path": path}, f"call_{turn}", 1000 + 100 * turn)
        yield result(number + 3, "read", f"call_{turn}", text)


def small_session(count: int = 22) -> bytes:
    """A whole session of `count` turns; about 50 KB as it stands."""
    return header() + b"".join(turns(count))
