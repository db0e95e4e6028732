"""The generated sessions as dsh would have logged them: the same turns, calls and results, in dsh's own events."""

from __future__ import annotations

import json
from typing import Any

from tests.core.dsh_sessions import MODEL, Build, frames
from tests.generated import WINDOW, Variant

BATCH = 40
"""Rows of one append."""

PATHS = {"read": "file_path", "write": "file_path", "edit": "file_path"}
"""What dsh calls the argument that pi calls `path`."""


def log_of(variant: Variant) -> bytes:
    """A log of dsh with the story of a generated session: its messages, without what only pi has."""
    return as_dsh(variant.name, variant.data())


def as_dsh(name: str, data: bytes) -> bytes:
    """A session of pi as a log of dsh."""
    made = _Writer(name)
    for line in data.decode().split("\n"):
        entry = json.loads(line) if line.strip() else {}
        if entry.get("type") == "message":
            made.add(entry["message"])
    made.end_turn()
    rows = made.build.lines()
    return frames([rows[0], *(b"".join(rows[at : at + BATCH]) for at in range(1, len(rows), BATCH))])


class _Writer:
    """One log in the making."""

    def __init__(self, name: str) -> None:
        self.build = Build()
        self.build.header["id"] = f"session-{name}"
        self.turn = self.step = 0
        self.is_open = False
        self.calls: dict[str, int] = {}
        """Calls of the open step that have no result yet → their event."""

    def add(self, message: dict[str, Any]) -> None:
        if message["role"] == "user":
            self._user(message)
        elif message["role"] == "assistant":
            self._reply(message)
        elif message["role"] == "toolResult" and message["toolCallId"] in self.calls:
            self._result(message)

    def end_turn(self) -> None:
        self._end_step()
        if self.turn:
            self.build.event("turn/end", {"turn": self.turn, "reason": {"kind": "completed"}})

    def _user(self, message: dict[str, Any]) -> None:
        self.end_turn()
        self.turn, self.step = self.turn + 1, 0
        self.build.event("turn/start", {"turn": self.turn})
        if self.turn == 1:
            self.build.event("request/header", {"header": {"config": MODEL, "system": "s"}, "reason": "initial"})
            self.build.event("request/context", {**MODEL, "contextWindow": WINDOW})
        self.build.user(_text(message["content"]))

    def _reply(self, message: dict[str, Any]) -> None:
        if not self.turn:
            return
        self._end_step()
        self.step += 1
        self.is_open = True
        self.build.event("step/start", {"turn": self.turn, "step": self.step})
        blocks = [block for part in message["content"] for block in _blocks(part)]
        self.build.reply(*blocks, step=self.step)
        self.build.rows[-1]["data"]["turn"] = self.turn
        for block in blocks:
            if block["type"] == "tool-call":
                call = {"callId": block["id"], "name": block["name"], "arguments": block["arguments"]}
                at = self.build.event("tool/call", {"turn": self.turn, "step": self.step, **call})
                self.calls[block["id"]] = at

    def _result(self, message: dict[str, Any]) -> None:
        call = message["toolCallId"]
        self.build.result(call, _text(message["content"]), sourceEventSeqs=[self.calls.pop(call)])
        data = self.build.rows[-1]["data"]
        data |= {"turn": self.turn, "step": self.step}
        if message.get("isError"):
            data["message"]["content"][0]["isError"] = True

    def _end_step(self) -> None:
        if not self.is_open:
            return
        for call in tuple(self.calls):
            self._result({"toolCallId": call, "content": "aborted", "isError": True})
        self.is_open = False
        self.build.event("step/end", {"turn": self.turn, "step": self.step})


def _blocks(part: dict[str, Any]) -> list[dict[str, Any]]:
    if part["type"] == "text":
        return [{"type": "text", "text": part["text"]}]
    if part["type"] == "thinking":
        return [{"type": "reasoning", "text": part["thinking"]}]
    if part["type"] != "toolCall":
        return []
    arguments = dict(part["arguments"])
    if part["name"] in PATHS and "path" in arguments:
        arguments[PATHS[part["name"]]] = arguments.pop("path")
    return [{"type": "tool-call", "id": part["id"], "name": part["name"], "arguments": json.dumps(arguments)}]


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in content if part["type"] == "text")
