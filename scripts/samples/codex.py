"""Writes a story as a rollout of Codex 0.171: JSON Lines with ordinals, as the client itself would have logged it."""

from __future__ import annotations

import json
import shlex
from typing import Any

from scripts.samples.measure import about
from scripts.samples.recording import Recording, patch_of, shell_output
from scripts.samples.story import Action, Reply, Story

MODEL, WINDOW = "gpt-5.5", 272_000
INSTRUCTIONS = "You help a programmer from the terminal. Say what you are about to do, do it, report what came of it."
STATUS = {"done": "completed", "doing": "in_progress", "open": "pending"}


def write(story: Story) -> tuple[dict[str, bytes], str]:
    """The files of the session by their paths, and which of them is the session's own."""
    session = _Session(story)
    session.write()
    name = f"{story.name}/rollout-{session.named}-{session.thread}.jsonl"
    return {name: session.data()}, name


class _Session(Recording):
    agent = "codex"

    def __init__(self, story: Story) -> None:
        super().__init__(story)
        self.thread = self.timed_uuid()
        self.named = self.time()[:19].replace(":", "-")
        self.turn = ""
        self.total = 0
        self.cached = 0

    def record(self, kind: str, payload: dict[str, Any]) -> None:
        self.line({"timestamp": self.time(), "ordinal": len(self.lines), "type": kind, "payload": payload})

    def item(self, payload: dict[str, Any]) -> None:
        self.record("response_item", payload)

    def head(self) -> None:
        meta: dict[str, Any] = {"session_id": self.thread, "id": self.thread, "timestamp": self.time()}
        meta |= {"cwd": self.story.cwd, "originator": "codex_cli_rs", "cli_version": "0.171.0", "source": "cli"}
        meta |= {"model_provider": "openai", "base_instructions": {"text": INSTRUCTIONS}, "history_mode": "paginated"}
        self.record("session_meta", meta)
        self.context = about(INSTRUCTIONS) + 4_000
        self._begin()
        permissions = "<permissions instructions>\nNo approvals in this session.\n</permissions instructions>"
        self.item({"type": "message", "role": "developer", "content": [{"type": "input_text", "text": permissions}]})
        context = f"<environment_context>\n  <cwd>{self.story.cwd}</cwd>\n  <shell>bash</shell>\n</environment_context>"
        self.item({"type": "message", "role": "user", "content": [{"type": "input_text", "text": context}]})
        self.context += about(permissions + context)
        self._settings()

    def _begin(self) -> None:
        self.turn = self.timed_uuid()
        started = {"type": "task_started", "turn_id": self.turn, "started_at": self.milliseconds // 1000}
        self.record("event_msg", started | {"model_context_window": WINDOW * 95 // 100})

    def _settings(self) -> None:
        settings = {"turn_id": self.turn, "cwd": self.story.cwd, "approval_policy": "never", "model": MODEL}
        self.record("turn_context", settings | {"summary": "auto", "sandbox_policy": {"type": "danger-full-access"}})

    def user(self, text: str) -> None:
        if len(self.lines) > 5:
            self._begin()
            self._settings()
        self.context += about(text) + 4
        content = [{"type": "input_text", "text": text}]
        message = {"type": "message", "id": f"msg_{self.timed_uuid()}", "role": "user", "content": content}
        self.item(message)

    def reply(self, event: Reply) -> None:
        output = self.output_of(event)
        self.work(event, output)
        if event.thinking and self.story.reasons:
            self.item(self._reasoning(event.thinking))
        if event.text:
            content = [{"type": "output_text", "text": event.text}]
            message = {"type": "message", "id": f"msg_{self.digest('m')[:24]}", "role": "assistant", "content": content}
            self.item(message)
        calls = [(action, f"call_{self.digest('call')[:24]}") for action in event.actions]
        for action, call_id in calls:
            self.item(_call(action, call_id))
        self._usage(output)
        for action, call_id in calls:
            self._result(action, call_id)
        if not calls:
            done = {"type": "task_complete", "turn_id": self.turn, "last_agent_message": event.text}
            self.record("event_msg", done)

    def _reasoning(self, thinking: str) -> dict[str, Any]:
        summary = [{"type": "summary_text", "text": thinking}]
        blob = f"gAAAA{self.digest('reasoning')}"
        return {
            "type": "reasoning",
            "id": f"rs_{self.digest('rs')[:24]}",
            "summary": summary,
            "encrypted_content": blob,
        }

    def _result(self, action: Action, call_id: str) -> None:
        self.wait(action.seconds)
        text = _answer(action, self.digest("chunk")[:6])
        self.context += about(text) + 6
        kind = "custom_tool_call_output" if action.call.kind in ("edit", "write") else "function_call_output"
        self.item({"type": kind, "call_id": call_id, "output": text})

    def _usage(self, output: int) -> None:
        used = {"input_tokens": self.context, "cached_input_tokens": min(self.cached, self.context) // 128 * 128}
        used |= {"output_tokens": output, "reasoning_output_tokens": 0, "total_tokens": self.context + output}
        self.context += output
        self.cached = self.context
        self.total += self.context
        info = {"total_token_usage": {"total_tokens": self.total}, "last_token_usage": used}
        self.record("event_msg", {"type": "token_count", "info": info | {"model_context_window": WINDOW * 95 // 100}})


def _call(action: Action, call_id: str) -> dict[str, Any]:
    kind, given = action.call.kind, action.call.arguments
    if kind in ("edit", "write"):
        return {"type": "custom_tool_call", "call_id": call_id, "name": "apply_patch", "input": patch_of(action)}
    if kind == "plan":
        steps = [{"step": text, "status": STATUS[state]} for text, state in given["steps"]]
        return {
            "type": "function_call",
            "name": "update_plan",
            "arguments": json.dumps({"plan": steps}, ensure_ascii=False),
            "call_id": call_id,
        }
    arguments = json.dumps({"cmd": _command(action)}, ensure_ascii=False)
    return {"type": "function_call", "name": "exec_command", "arguments": arguments, "call_id": call_id}


def _command(action: Action) -> str:
    kind, given = action.call.kind, action.call.arguments
    path = shlex.quote(given.get("path") or ".")
    if kind == "read":
        first = int(given.get("offset") or 1)
        last = first + int(given.get("limit") or 400) - 1
        return f"sed -n '{first},{last}p' {path}"
    if kind == "search":
        return f"rg -n {shlex.quote(given['pattern'])} {path}"
    return f"ls {path}" if kind == "list" else str(given["command"])


def _answer(action: Action, chunk: str) -> str:
    kind, result = action.call.kind, action.result
    if kind in ("edit", "write"):
        letter = "A" if kind == "write" else "M"
        path = action.call.arguments["path"]
        return f"Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess. Updated the following files:\n{letter} {path}\n"
    if kind == "plan":
        return "Plan updated"
    text = shell_output(action)
    code = result.exit_code or int(result.failed)
    head = f"Chunk ID: {chunk}\nWall time: {action.seconds:.4f} seconds\nProcess exited with code {code}\n"
    return f"{head}Original token count: {-(-len(text.encode()) // 4)}\nOutput:\n{text}"
