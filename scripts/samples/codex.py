"""Writes a story as a rollout of Codex 0.171: JSON Lines with ordinals, as the client itself would have logged it."""

from __future__ import annotations

import json
import shlex
from typing import Any

from scripts.samples import codex_before
from scripts.samples.measure import about
from scripts.samples.recording import Recording, patch_of, shell_output
from scripts.samples.story import Action, Reply, Story

MODEL, WINDOW = "gpt-5.5", 272_000
INSTRUCTIONS = "You help a programmer from the terminal. Say what you are about to do, do it, report what came of it."
FIGURES: tuple[str, ...] = (
    "input_tokens",
    "cached_input_tokens",
    "cache_write_input_tokens",
    "output_tokens",
    "reasoning_output_tokens",
    "total_tokens",
)
STATUS = {"done": "completed", "doing": "in_progress", "open": "pending"}


def write(story: Story) -> tuple[dict[str, bytes], str]:
    """The files of the session by their paths, and which of them is the session's own."""
    session = Session(story)
    session.write()
    name = f"{story.name}/rollout-{session.named}-{session.thread}.jsonl"
    return {name: session.data()}, name


class Session(Recording):
    """The thread; in the English story with earlier work that Codex has compacted."""

    agent = "codex"

    def __init__(self, story: Story) -> None:
        super().__init__(story)
        self.thread = self.timed_uuid()
        self.named = self.time()[:19].replace(":", "-")
        self.turn = ""
        self.began = 0
        self.responses = 0
        self.total = dict.fromkeys(FIGURES, 0)
        self.in_turn = dict.fromkeys(FIGURES, 0)
        self.last = dict.fromkeys(FIGURES, 0)
        self.cached = 0

    def record(self, kind: str, payload: dict[str, Any]) -> None:
        self.line({"timestamp": self.time(), "ordinal": len(self.lines), "type": kind, "payload": payload})

    def item(self, payload: dict[str, Any]) -> None:
        """One item of the model's history."""
        self.record("response_item", payload)

    def happened(self, kind: str, item: dict[str, Any]) -> None:
        """An item as the client displays it, told once more as an event."""
        about_it = {"thread_id": self.thread, "turn_id": self.turn, "item": {"type": kind, **item}}
        times = {"started_at_ms": self.milliseconds, "completed_at_ms": self.milliseconds}
        self.record("event_msg", {"type": "item_completed", **about_it, **times})

    def head(self) -> None:
        meta: dict[str, Any] = {"session_id": self.thread, "id": self.thread, "timestamp": self.time()}
        meta |= {"cwd": self.story.cwd, "originator": "codex_cli_rs", "cli_version": "0.171.0", "source": "cli"}
        meta |= {"thread_source": "user", "model_provider": "openai", "base_instructions": {"text": INSTRUCTIONS}}
        self.record("session_meta", meta | {"history_mode": "paginated"})
        self.context = about(INSTRUCTIONS) + 4_000
        self.begin()
        for message in self.surroundings():
            self.item(message)
            self.context += about(message["content"][0]["text"])
        self.world()
        self.settings()
        if self.story.language == "en":
            codex_before.tell(self)

    def surroundings(self) -> list[dict[str, Any]]:
        """The messages with which the client tells the model where it is."""
        permissions = "<permissions instructions>\nNo approvals in this session.\n</permissions instructions>"
        place = f"<environment_context>\n  <cwd>{self.story.cwd}</cwd>\n  <shell>bash</shell>\n</environment_context>"
        return [self.message("developer", permissions), self.message("user", place)]

    def message(self, role: str, text: str) -> dict[str, Any]:
        content = [{"type": "output_text" if role == "assistant" else "input_text", "text": text}]
        return {"type": "message", "id": f"msg_{self.timed_uuid()}", "role": role, "content": content}

    def world(self) -> None:
        """What the client has told the model of its surroundings, so that later it need tell only what changed."""
        local = {"local": {"cwd": self.story.cwd, "status": "available", "shell": "bash"}}
        state = {"environments": {"environments": local}, "model": MODEL, "permissions": {"instructions": ""}}
        self.record("world_state", {"full": True, "state": state})

    def begin(self) -> None:
        """Begin a turn."""
        self.turn, self.began = self.timed_uuid(), self.milliseconds // 1000
        self.in_turn = dict.fromkeys(FIGURES, 0)
        started = {"type": "task_started", "turn_id": self.turn, "root_turn_id": self.turn, "started_at": self.began}
        self.record("event_msg", started | {"model_context_window": WINDOW * 95 // 100})

    def settings(self) -> None:
        """What holds in this turn."""
        turn = {"turn_id": self.turn, "root_turn_id": self.turn, "cwd": self.story.cwd, "model": MODEL}
        rules = {"approval_policy": "never", "sandbox_policy": {"type": "danger-full-access"}}
        mode = {"mode": "default", "settings": {"model": MODEL, "reasoning_effort": None}}
        self.record("turn_context", turn | rules | {"collaboration_mode": mode, "summary": "auto"})

    def done(self, said: str | None) -> None:
        """End a turn; `said`: the model's last words."""
        ended = {"started_at": self.began, "completed_at": self.milliseconds // 1000}
        task = {"type": "task_complete", "turn_id": self.turn, "root_turn_id": self.turn}
        self.record("event_msg", task | {"last_agent_message": said} | ended)
        self.turn = ""

    def user(self, text: str, image: bytes | None = None) -> None:
        if not self.turn:
            self.begin()
            self.settings()
        self.context += about(text) + 4
        message = self.message("user", text)
        self.item(message)
        self.happened("UserMessage", {"id": message["id"], "content": [{"type": "text", "text": text}]})

    def reply(self, event: Reply) -> None:
        output = self.output_of(event)
        self.work(event, output)
        if event.thinking and self.story.reasons:
            self._reasoning(event.thinking)
        if event.text:
            self.said(event.text)
        calls = [(action, f"call_{self.digest('call')[:24]}") for action in event.actions]
        for action, call_id in calls:
            self.item(_call(action, call_id))
        self.usage(output)
        for action, call_id in calls:
            self._result(action, call_id)
        self.counted()
        if not calls:
            self.done(event.text)

    def said(self, text: str) -> None:
        message = self.message("assistant", text)
        self.happened("AgentMessage", {"id": message["id"], "content": [{"type": "Text", "text": text}]})
        self.item(message)

    def _reasoning(self, thinking: str) -> None:
        identity, blob = f"rs_{self.digest('rs')[:24]}", f"gAAAA{self.digest('reasoning')}"
        self.happened("Reasoning", {"id": identity, "summary_text": [thinking], "raw_content": []})
        summary = [{"type": "summary_text", "text": thinking}]
        thought = {"type": "reasoning", "id": identity, "summary": summary, "content": None}
        self.item(thought | {"encrypted_content": blob})

    def _result(self, action: Action, call_id: str) -> None:
        self.wait(action.seconds)
        text = _answer(action, self.digest("chunk")[:6])
        self.context += about(text) + 6
        kind = "custom_tool_call_output" if action.call.kind in ("edit", "write") else "function_call_output"
        self.item({"type": kind, "call_id": call_id, "output": text})

    def usage(self, output: int) -> None:
        """What one response used: the record that is written once for each."""
        cached = min(self.cached, self.context) // 128 * 128
        figures = (self.context, cached, 0, output, 0, self.context + output)
        self.last = dict(zip(FIGURES, figures, strict=True))
        self.context += output
        self.cached = self.context
        self.responses += 1
        self.in_turn = {name: self.in_turn[name] + self.last[name] for name in FIGURES}
        self.total = {name: self.total[name] + self.last[name] for name in FIGURES}
        at = {"thread_id": self.thread, "turn_id": self.turn, "session_id": self.thread}
        response = {"response_id": f"resp_{self.responses}", "usage": self.last}
        sums = {"turn_token_usage": self.in_turn, "thread_token_usage": self.total}
        self.record("token_usage_record", at | response | sums)

    def counted(self, **more: Any) -> None:
        """The meter, as the client shows it; it may say the same again."""
        info = {"total_token_usage": self.total, "last_token_usage": self.last, **more}
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
