"""Builds Codex rollouts for tests, record by record."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from core.agents.codex import AGENT
from core.files import Disk
from core.opening import Opened
from core.resume import Overrides

THREAD = "01a22e38-86c0-7532-a7b6-30d07a50dd01"
CHILD = "01a22e38-916c-7960-9507-c9cdb17eed02"
GRANDCHILD = "01a22e38-a16c-7960-9507-c9cdb17eed03"
MADE = "2026-11-30T20:49:46.000Z"
LATER = "2026-11-30T21:30:00.000Z"


def name_of(thread: str, ending: str = ".jsonl") -> str:
    return f"rollout-2026-11-30T20-49-46-{thread}{ending}"


def words(text: str, role: str = "user") -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}


def call(call_id: str, name: str = "exec_command", arguments: str = '{"cmd":"ls"}') -> dict[str, Any]:
    return {"type": "function_call", "name": name, "arguments": arguments, "call_id": call_id}


def output(call_id: str, text: Any) -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": call_id, "output": text}


class Rollout:
    """One file in the making."""

    def __init__(self, thread: str = THREAD, paginated: bool = True, first: int = 0, **start: Any) -> None:
        self.thread, self.paginated, self.ordinal, self.turns = thread, paginated, first, 0
        self.lines: list[bytes] = []
        fields: dict[str, Any] = {
            "id": thread, "timestamp": MADE, "cwd": "/srv/demo", "originator": "codex_exec", "cli_version": "0.171.0",
            "source": "exec", "model_provider": "openai",
        }  # fmt: skip
        self.add("session_meta", fields | ({"history_mode": "paginated"} if paginated else {}) | start)

    def add(self, kind: str, payload: Any, time: str = LATER, **more: Any) -> Rollout:
        ordinal = {"ordinal": self.ordinal} if self.paginated else {}
        self.ordinal += 1
        line = {"timestamp": time, **ordinal, "type": kind, "payload": payload, **more}
        self.lines.append(json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode())
        return self

    def item(self, item: dict[str, Any]) -> Rollout:
        return self.add("response_item", item)

    def event(self, kind: str, **fields: Any) -> Rollout:
        return self.add("event_msg", {"type": kind, **fields})

    def begin(self, user: str, model: str = "gpt-5.5") -> Rollout:
        self.turns += 1
        turn = f"t{self.turns}"
        self.event("task_started", turn_id=turn, model_context_window=258400)
        self.add(
            "turn_context",
            {
                "turn_id": turn,
                "cwd": "/srv/demo",
                "approval_policy": "never",
                "sandbox_policy": {"type": "read-only"},
                "model": model,
            },
        )
        return self.item(words(user))

    def turn(self, user: str, *items: dict[str, Any]) -> Rollout:
        self.begin(user)
        for item in items or (words(f"re {user}", "assistant"),):
            self.item(item)
        return self.event("task_complete", turn_id=f"t{self.turns}")

    def compact(self, history: Sequence[dict[str, Any]] | None, message: str = "", **more: Any) -> Rollout:
        held = {} if history is None else {"replacement_history": list(history)}
        return self.add("compacted", {"message": message, **held, **more})

    def count(self, read: int, written: int, cached: int = 0, total: int | None = None, **sums: int) -> Rollout:
        """A `token_count` with the figures of the last reply and of all."""
        last = {
            "input_tokens": read, "cached_input_tokens": cached, "output_tokens": written,
            "total_tokens": read + written if total is None else total,
        }  # fmt: skip
        return self.event("token_count", info={"last_token_usage": last, "total_token_usage": sums or None})

    def bytes(self) -> bytes:
        return b"\n".join(self.lines) + b"\n"

    def write(self, folder: Path, name: str = "") -> Path:
        path = folder / (name or name_of(self.thread))
        path.write_bytes(self.bytes())
        return path

    def fork(self, thread: str = CHILD) -> Rollout:
        """A fork of all that is there now."""
        at = {"thread_id": self.thread, "end_ordinal_exclusive": self.ordinal, "end_byte_offset": len(self.bytes())}
        return Rollout(thread, True, self.ordinal, history_base=at, forked_from_id=self.thread)


def opened(path: Path, overrides: Overrides | None = None) -> Opened:
    session = AGENT.open(Disk(), path)
    resume = AGENT.resume(session, overrides or Overrides())
    return Opened(AGENT, session, resume, AGENT.view(session, resume), overrides or Overrides())


def texts(seen: Opened) -> list[str]:
    return [item.text for item in seen.view.items]
