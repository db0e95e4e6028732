"""Writes pi sessions of any size for measuring: turns of questions, calls, results and replies, always the same."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

START = 1_750_000_000
WORDS = (
    "the cache returns an old value when two readers start at once and the index is rebuilt behind them so that "
    "parse_header reads config.toml before load_settings has closed it def test_round_trip assert result == expected "
    "raise ValueError return None import pathlib for line in lines yield record 缓存 返回 旧值 ✓"
).split()


def write_session(path: Path, size: int, seed: int = 1) -> None:
    """A session of about `size` bytes at `path`."""
    chance = random.Random(seed)
    with path.open("wb") as file:
        header = {"type": "session", "version": 3, "id": "bench", "timestamp": stamp(0), "cwd": "/home/dev/bench"}
        written = file.write(_line(header))
        parent = None
        for number, message in enumerate(_messages(chance), start=1):
            entry = {
                "type": "message",
                "id": f"{number:08x}",
                "parentId": parent,
                "timestamp": stamp(number),
                "message": message | {"timestamp": (START + number) * 1000},
            }
            parent = entry["id"]
            written += file.write(_line(entry))
            if written >= size and message["role"] == "toolResult":
                return


def _messages(chance: random.Random) -> Iterator[dict[str, Any]]:
    turn = 0
    while True:
        turn += 1
        yield {"role": "user", "content": [{"type": "text", "text": _text(chance, 30)}]}
        for step in range(chance.randint(2, 8)):
            call = f"call_{turn}_{step}"
            name, arguments = chance.choice(
                [
                    ("read", {"path": f"src/module_{chance.randint(1, 60)}.py"}),
                    ("bash", {"command": f"pytest -q tests/test_{chance.randint(1, 60)}.py"}),
                    ("edit", {"path": f"src/module_{chance.randint(1, 60)}.py", "oldText": "a", "newText": "b"}),
                ]
            )
            text = {"type": "text", "text": _text(chance, 20)}
            tool = {"type": "toolCall", "id": call, "name": name, "arguments": arguments}
            yield _reply([text, tool], turn)
            result = {"type": "text", "text": _text(chance, chance.choice([20, 200, 900]))}
            yield {"role": "toolResult", "toolCallId": call, "toolName": name, "content": [result], "isError": False}


def _reply(content: list[dict[str, Any]], turn: int) -> dict[str, Any]:
    usage = {"input": 1000 * turn, "output": 200, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 1000 * turn + 200}
    return {
        "role": "assistant",
        "content": content,
        "api": "anthropic-messages",
        "provider": "anthropic",
        "model": "claude-sonnet-4-5",
        "usage": usage | {"cost": {"total": 0}},
        "stopReason": "toolUse",
    }


def _text(chance: random.Random, words: int) -> str:
    return "\n".join(" ".join(chance.choices(WORDS, k=12)) for _ in range(max(1, words // 12)))


def _line(record: dict[str, Any]) -> bytes:
    return json.dumps(record, ensure_ascii=False).encode() + b"\n"


def stamp(second: int) -> str:
    """The time so many seconds after the beginning of the session."""
    return datetime.fromtimestamp(START + second, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
