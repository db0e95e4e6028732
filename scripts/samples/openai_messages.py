"""Writes a story as people's own agents store it: chat completions messages, as one object or one message a line."""

from __future__ import annotations

import json
from typing import Any

from scripts.samples.recording import Recording, shell_output
from scripts.samples.story import Action, Reply, Story

MODEL = "deepseek-chat"
SYSTEM = "You help a programmer from the terminal. Say what you are about to do, do it, report what came of it."
STATUS = {"done": "completed", "doing": "in_progress", "open": "pending"}


def write(story: Story) -> tuple[dict[str, bytes], str]:
    """The files of the session by their paths, and which of them is the session's own."""
    session = _Session(story)
    session.write()
    if story.language == "zh":
        return {f"{story.name}.jsonl": session.data()}, f"{story.name}.jsonl"
    name = f"{story.name}.json"
    whole = {"model": MODEL, "messages": session.lines}
    return {name: f"{json.dumps(whole, ensure_ascii=False, indent=1)}\n".encode()}, name


class _Session(Recording):
    agent = "openai-messages"

    def head(self) -> None:
        self.line({"role": "system", "content": SYSTEM})

    def user(self, text: str, image: bytes | None = None) -> None:
        self.line({"role": "user", "content": text})

    def reply(self, event: Reply) -> None:
        calls = [(action, f"call_{self.digest('call')[:24]}") for action in event.actions]
        message: dict[str, Any] = {"role": "assistant", "content": event.text or None}
        if calls:
            message["tool_calls"] = [_call(action, call_id) for action, call_id in calls]
        self.line(message)
        for action, call_id in calls:
            self.line({"role": "tool", "tool_call_id": call_id, "content": _answer(action)})


def _call(action: Action, call_id: str) -> dict[str, Any]:
    kind, given = action.call.kind, dict(action.call.arguments)
    names = {"read": "read_file", "search": "grep", "list": "ls", "edit": "edit_file", "write": "write_file"}
    if kind == "edit":
        given = {"path": given["path"], "old_string": given["old"], "new_string": given["new"]}
    elif kind == "plan":
        given = {"plan": [{"step": text, "status": STATUS[state]} for text, state in given["steps"]]}
    name = names.get(kind, "update_plan" if kind == "plan" else "bash")
    function = {"name": name, "arguments": json.dumps(given, ensure_ascii=False)}
    return {"id": call_id, "type": "function", "function": function}


def _answer(action: Action) -> str:
    kind, given, result = action.call.kind, action.call.arguments, action.result
    if kind in ("edit", "write"):
        return f"{given['path']}: done"
    if kind == "plan":
        return "plan updated"
    text = shell_output(action) or "(no output)"
    return f"{text}\n\nCommand exited with code {result.exit_code}" if result.exit_code else text
