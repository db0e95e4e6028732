"""Writes Claude Code sessions and Codex rollouts of any size: long, compacted many times, always the same.

Most lines are small, most bytes stand in results of tools; a part of those is not ASCII.
"""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from bench.sessions import WORDS, stamp

WINDOW = 200_000
"""Tokens; how often the sessions are compacted follows from it."""

AFTER_COMPACTION = 24_000
"""Tokens."""

Record = dict[str, Any]


def write_claude_code(path: Path, size: int, seed: int = 1) -> None:
    """A Claude Code session of about `size` bytes at `path`."""
    _write(path, size, ClaudeCode(seed))


def write_codex(path: Path, size: int, seed: int = 1) -> None:
    """A Codex rollout of about `size` bytes at `path`."""
    _write(path, size, Codex(seed))


WRITERS: dict[str, Callable[[Path, int], None]] = {"claude-code": write_claude_code, "codex": write_codex}


def _write(path: Path, size: int, story: Story) -> None:
    encode, written = msgspec.json.encode, 0
    with path.open("wb") as file:
        for record in story.records():
            written += file.write(encode(record) + b"\n")
            if written >= size and not story.calling:
                return


class Story(ABC):
    """Turns with calls and results, and the size of the context that they make."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.second = 0
        self.context = AFTER_COMPACTION
        self.calling = False
        """Whether a call has no result yet."""
        self.lines = [" ".join(self.chance.choices(WORDS, k=self.chance.randint(3, 12))) for _ in range(4000)]
        plain = [line for line in self.lines if line.isascii()]
        self.kinds = (plain, self.lines)

    @abstractmethod
    def records(self) -> Iterator[Record]:
        """Lines without end."""

    def time(self) -> str:
        self.second += self.chance.randint(1, 25)
        return stamp(self.second)

    def name(self, length: int) -> str:
        return f"{self.chance.getrandbits(length * 4):0{length}x}"

    def uuid(self) -> str:
        digits = self.name(32)
        return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:]}"

    def words(self, lines: int) -> str:
        return " ".join(self.chance.choices(self.lines, k=lines))

    def result(self) -> str:
        """What a tool gives: 37 lines in the middle, now and then thousands."""
        lines = self.chance.lognormvariate(3.6, 1.0) * (25 if self.chance.random() < 0.01 else 1)
        pool = self.kinds[self.chance.random() < 0.2]
        text = "\n".join(self.chance.choices(pool, k=max(1, min(int(lines), 6000))))
        self.context += len(text) // 4 + 150
        return text

    @property
    def full(self) -> bool:
        return self.context > WINDOW * 0.83


class ClaudeCode(Story):
    """One conversation, each block of a reply in a line of its own."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.session, self.parent = self.uuid(), ""

    def records(self) -> Iterator[Record]:
        turn = 0
        while True:
            if turn % 12 == 0:
                yield self._line("user", {"message": {"role": "user", "content": self.words(4)}})
            yield from self._step()
            turn += 1
            if self.full:
                before, self.context, last = self.context, AFTER_COMPACTION, self.parent
                self.parent = ""
                more = {"logicalParentUuid": last, "compactMetadata": {"trigger": "auto", "preTokens": before}}
                yield self._line("system", {"subtype": "compact_boundary", "content": "Conversation compacted", **more})
                summary = {"role": "user", "content": self.words(100)}
                yield self._line("user", {"isCompactSummary": True, "message": summary})

    def _step(self) -> Iterator[Record]:
        reply, call = f"msg_01{self.name(22)}", f"toolu_01{self.name(22)}"
        text, self.calling = self.result(), True
        given = {"input_tokens": 3, "cache_creation_input_tokens": 900, "cache_read_input_tokens": self.context}
        blocks: list[Record] = [{"type": "tool_use", "id": call, "name": "Bash", "input": {"command": self.words(1)}}]
        if self.chance.random() < 0.7:
            blocks.insert(0, {"type": "text", "text": self.words(4)})
        if self.chance.random() < 0.35:
            blocks.insert(0, {"type": "thinking", "thinking": self.words(10), "signature": self.name(200)})
        for block in blocks:
            message = {"model": "claude-opus-4-6", "id": reply, "type": "message", "role": "assistant"}
            usage = {**given, "output_tokens": 120, "service_tier": "standard"}
            yield self._line("assistant", {"message": {**message, "content": [block], "usage": usage}})
        result = {"tool_use_id": call, "type": "tool_result", "content": text}
        beside = {"stdout": text, "stderr": "", "interrupted": False} if self.chance.random() < 0.3 else {}
        self.calling = False
        yield self._line("user", {"message": {"role": "user", "content": [result]}, "toolUseResult": beside})

    def _line(self, kind: str, more: Record) -> Record:
        own, parent = self.uuid(), self.parent or None
        self.parent = own
        fixed = {"isSidechain": False, "userType": "external", "cwd": "/home/dev/bench", "sessionId": self.session}
        fixed |= {"version": "2.1.332", "gitBranch": "main"}
        return {"parentUuid": parent, **fixed, "type": kind, **more, "uuid": own, "timestamp": self.time()}


class Codex(Story):
    """One thread without ordinals; the provider's figures behind each call."""

    def records(self) -> Iterator[Record]:
        start = {"id": self.uuid(), "timestamp": self.time(), "cwd": "/home/dev/bench", "originator": "codex_cli_rs"}
        yield self._line(
            "session_meta", {**start, "cli_version": "0.171.0", "source": "cli", "model_provider": "openai"}
        )
        turn = thread = 0
        while True:
            if turn % 12 == 0:
                words = self.words(4)
                settings = {
                    "approval_policy": "on-request",
                    "sandbox_policy": {"type": "read-only"},
                    "model": "gpt-5.5",
                }
                yield self._line("turn_context", {"cwd": "/home/dev/bench", **settings})
                yield self._line("response_item", _message(words))
                yield self._line("event_msg", {"type": "user_message", "message": words})
            call, text = f"call_{self.name(24)}", self.result()
            arguments = msgspec.json.encode({"command": self.words(1)}).decode()
            made = {"type": "function_call", "name": "shell", "arguments": arguments, "call_id": call}
            self.calling = True
            yield self._line("response_item", made)
            self.calling = False
            yield self._line("response_item", {"type": "function_call_output", "call_id": call, "output": text})
            turn, thread = turn + 1, thread + self.context
            info: Record = {"total_token_usage": _figures(thread), "last_token_usage": _figures(self.context)}
            info["model_context_window"] = WINDOW
            yield self._line("event_msg", {"type": "token_count", "info": info, "rate_limits": None})
            if self.full:
                self.context = AFTER_COMPACTION
                history = [_message(self.words(30))]
                yield self._line("compacted", {"message": self.words(60), "replacement_history": history})

    def _line(self, kind: str, payload: Record) -> Record:
        return {"timestamp": self.time(), "type": kind, "payload": payload}


def _message(words: str) -> Record:
    return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": words}]}


def _figures(tokens: int) -> Record:
    read = {"input_tokens": tokens, "cached_input_tokens": tokens - 900, "output_tokens": 100}
    return {**read, "reasoning_output_tokens": 0, "total_tokens": tokens + 100}
