"""Makes small dsh logs: rows with their numbers, and frames as dsh writes them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import zstandard

START = 1_790_000_000_000
MODEL = {"provider": "deepseek-official", "model": "deepseek-v4-flash"}
HEADER = {
    "type": "session", "version": 0, "id": "session-made", "createdAt": START, "delegationDepth": 0,
    "cwd": "/home/dev/shop",
}  # fmt: skip


@dataclass
class Build:
    """The rows of a log in the making; each method gives the number of the event that it adds."""

    header: dict[str, Any] = field(default_factory=lambda: dict(HEADER))
    rows: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    seq: int = 0

    def event(self, kind: str, data: Any, **more: Any) -> int:
        self.rows.append({"type": kind, "seq": self.seq, "time": START + self.seq, "data": data, **more})
        self.seq += 1
        return self.seq - 1

    def user(self, text: str, operation: Any = "append", **more: Any) -> int:
        content = [{"type": "text", "text": text}]
        source = more.pop("source", {"kind": "user"})
        data = {"id": f"u{self.seq}", "role": "user", "content": content, "source": source}
        return self.event("user/message", data, surfaceOp=operation, **more)

    def reply(self, *content: dict[str, Any], step: int = 1, **more: Any) -> int:
        message = {
            "id": f"a{self.seq}", "role": "assistant", "content": list(content), "source": {"kind": "model", **MODEL},
        }  # fmt: skip
        return self.event(
            "assistant/message", {"turn": 1, "step": step, "message": message, **more}, surfaceOp="append"
        )

    def result(self, call_id: str, text: str, **more: Any) -> int:
        block = {"type": "tool-result", "toolCallId": call_id, "content": [{"type": "text", "text": text}]}
        source = {"kind": "tool", "callId": call_id}
        identity = more.pop("id", f"r{call_id}")
        message = {"id": identity, "role": "user", "content": [block], "source": source}
        operation = more.pop("operation", "append")
        return self.event("tool/result", {"turn": 1, "step": 1, "message": message}, surfaceOp=operation, **more)

    def chunks(self, *texts: str) -> int:
        data = {"turn": 1, "step": 1, "index": 0, "dt": [1] * (len(texts) - 1), "texts": list(texts)}
        self.rows.append({"type": "text-chunks", "seq0": self.seq, "time0": START + self.seq, "data": data})
        self.seq += len(texts)
        return self.seq - len(texts)

    def lines(self) -> list[bytes]:
        return [json.dumps(row).encode() + b"\n" for row in [self.header, *self.rows]]

    def write(self, folder: Path, packed: bool = True) -> Path:
        path = folder / ("session.jsonl.zstd" if packed else "session.jsonl")
        path.write_bytes(frames([self.lines()[0], b"".join(self.lines()[1:])]) if packed else b"".join(self.lines()))
        return path


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def call(call_id: str, command: str = "ls") -> dict[str, Any]:
    return {"type": "tool-call", "id": call_id, "name": "bash", "arguments": json.dumps({"command": command})}


def frames(contents: Iterable[bytes]) -> bytes:
    packer = zstandard.ZstdCompressor(write_checksum=True)
    return b"".join(packer.compress(content) for content in contents if content)


def usual() -> Build:
    """Two turns: a packed row, a call with its result, and an answer."""
    made = Build()
    made.event("turn/start", {"turn": 1})
    made.user("look at it")
    made.event("request/header", {"header": {"config": MODEL, "system": "be brief"}, "reason": "initial"})
    made.chunks("I ", "will ", "look")
    made.reply(text("I will look"), call("c1"), usage={"inputTokens": 100, "cacheReadTokens": 20, "outputTokens": 8})
    made.result("c1", "a.py")
    made.reply(text("There is a.py"), step=2, usage={"inputTokens": 30, "cacheReadTokens": 110, "outputTokens": 4})
    made.event("turn/end", {"turn": 1, "reason": {"kind": "completed"}})
    return made
