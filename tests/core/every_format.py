"""The same small story as every agent logs it: three turns, a call and its result in the second."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.core import claude_sessions, codex_sessions, dsh_sessions, pi_sessions
from tests.core.dsh_sessions import frames

CAPTURED = Path(__file__).parent.parent / "data" / "conformance"
CALL = "call_1"


@dataclass(frozen=True)
class Story:
    """One session in the making: its lines, and where the record of each step stands among them."""

    agent: str
    name: str
    """Of the file, in the session's folder."""
    lines: tuple[bytes, ...]
    """Without line ends."""
    call: int
    """The line of the call."""
    result: int
    """The line of its result."""
    answer: int
    """The line of the reply that ends the second turn."""

    def write(self, folder: Path, lines: Sequence[bytes] | None = None, end: bytes = b"\n") -> Path:
        """The file, with other lines where they are given, each with `end`."""
        return self.write_bytes(folder, b"".join(line + end for line in (self.lines if lines is None else lines)))

    def write_bytes(self, folder: Path, data: bytes) -> Path:
        """The file with this content."""
        if self.agent == "grok-build":
            shutil.copytree(CAPTURED / "grok-build" / "plain_turns" / "session", folder, dirs_exist_ok=True)
            (folder / "updates.jsonl").unlink(missing_ok=True)
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / self.name
        path.write_bytes(packed(data) if path.suffix == ".zstd" else data)
        return path


def packed(data: bytes) -> bytes:
    """The frames that dsh writes: one for the header, one for the rest."""
    head, end, rest = data.partition(b"\n")
    return frames([head + end, rest])


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def pi() -> Story:
    made = pi_sessions.Build()
    made.user("one")
    made.reply("re one")
    made.user("two")
    made.assistant(
        [{"type": "toolCall", "id": CALL, "name": "read", "arguments": {"path": "a.py"}}], stopReason="toolUse"
    )
    made.message("toolResult", [{"type": "text", "text": "found"}], toolCallId=CALL, toolName="read", isError=False)
    made.reply("re two")
    made.user("three")
    made.reply("re three")
    lines = (_json(pi_sessions.HEADER), *map(_json, made.records))
    return Story("pi", "2026-05-28T20-26-40-000Z_5e551000.jsonl", lines, 4, 5, 6)


def codex() -> Story:
    made = codex_sessions.Rollout()
    made.turn("one")
    made.begin("two").item(codex_sessions.call(CALL))
    at = len(made.lines)
    made.item(codex_sessions.output(CALL, "found")).item(codex_sessions.words("re two", "assistant"))
    made.event("task_complete", turn_id="t2")
    made.turn("three")
    return Story("codex", codex_sessions.name_of(codex_sessions.THREAD), tuple(made.lines), at - 1, at, at + 1)


def claude_code() -> Story:
    made = claude_sessions.Build()
    made.turns(1)
    made.user("q2")
    made.reply("c2", claude_sessions.call("one"))
    made.result("r2", "one", "found")
    made.reply("a2")
    made.turns(3)
    lines = tuple(map(_json, made.lines))
    return Story("claude-code", f"{claude_sessions.SESSION}.jsonl", lines, 3, 4, 5)


def _dsh(name: str) -> Story:
    made = dsh_sessions.Build()
    places: dict[str, int] = {}
    for turn, words in enumerate(("one", "two", "three"), 1):
        made.event("turn/start", {"turn": turn})
        made.user(words)
        if turn == 1:
            header = {"config": dsh_sessions.MODEL, "system": "be brief"}
            made.event("request/header", {"header": header, "reason": "initial"})
        if turn == 2:
            made.reply(dsh_sessions.call(CALL))
            places["call"] = len(made.rows)
            made.result(CALL, "found")
            places["result"] = len(made.rows)
        made.reply(dsh_sessions.text(f"re {words}"), step=2)
        if turn == 2:
            places["answer"] = len(made.rows)
        made.event("turn/end", {"turn": turn, "reason": {"kind": "completed"}})
    lines = tuple(line[:-1] for line in made.lines())
    return Story("dsh", name, lines, **places)


def dsh() -> Story:
    return _dsh("session.jsonl")


def dsh_packed() -> Story:
    return _dsh("session.jsonl.zstd")


def grok_build() -> Story:
    def user(words: str) -> dict[str, Any]:
        return {"type": "user", "content": [{"type": "text", "text": words}]}

    lines = [
        {"type": "system", "content": "be brief"},
        user("one"),
        {"type": "assistant", "content": "re one"},
        user("two"),
        {"type": "assistant", "content": "", "tool_calls": [{"id": CALL, "name": "grep", "arguments": "{}"}]},
        {"type": "tool_result", "tool_call_id": CALL, "content": "found"},
        {"type": "assistant", "content": "re two"},
        user("three"),
        {"type": "assistant", "content": "re three"},
    ]
    return Story("grok-build", "chat_history.jsonl", tuple(map(_json, lines)), 4, 5, 6)


def openai_messages() -> Story:
    call = {"id": CALL, "type": "function", "function": {"name": "read", "arguments": "{}"}}
    lines = [
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": "one"},
        {"role": "assistant", "content": "re one"},
        {"role": "user", "content": "two"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": CALL, "content": "found"},
        {"role": "assistant", "content": "re two"},
        {"role": "user", "content": "three"},
        {"role": "assistant", "content": "re three"},
    ]
    return Story("openai-messages", "session.jsonl", tuple(map(_json, lines)), 4, 5, 6)


STORIES: dict[str, Callable[[], Story]] = {
    "pi": pi, "codex": codex, "claude-code": claude_code, "dsh": dsh, "dsh-packed": dsh_packed,
    "grok-build": grok_build, "openai-messages": openai_messages,
}  # fmt: skip
