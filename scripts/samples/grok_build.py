"""Writes a story as a session folder of grok-build 1.0.41."""

from __future__ import annotations

import json
from typing import Any

from scripts.samples.measure import about
from scripts.samples.recording import Recording, numbered, shell_output
from scripts.samples.story import Action, Reply, Story

MODEL, WINDOW = "grok-build", 256_000
"""The window is more than twice what the stories fill: above half of it the client trims old results on the wire."""
SYSTEM = "You help a programmer from the terminal. Say what you are about to do, do it, report what came of it."
STATUS = {"done": "completed", "doing": "in_progress", "open": "pending"}


def write(story: Story) -> tuple[dict[str, bytes], str]:
    """The files of the session by their paths, and which of them is the session's own."""
    session = _Session(story)
    session.write()
    folder = f"{story.name}/{session.identity}"
    files = {
        f"{folder}/chat_history.jsonl": session.data(),
        f"{folder}/summary.json": _document(session.summary()),
        f"{folder}/signals.json": _document(session.signals()),
        f"{folder}/rewind_points.jsonl": session.rewind_points(),
    }
    return files, f"{folder}/chat_history.jsonl"


def _document(value: dict[str, Any]) -> bytes:
    return f"{json.dumps(value, ensure_ascii=False, indent=2)}\n".encode()


class _Session(Recording):
    agent = "grok-build"

    def __init__(self, story: Story) -> None:
        super().__init__(story)
        self.identity = self.timed_uuid()
        self.began = self.time()
        self.prompted: list[str] = []
        """When each prompt was typed."""

    def summary(self) -> dict[str, Any]:
        """What the client lists of the session."""
        count = {"num_messages": len(self.lines), "num_chat_messages": len(self.lines)}
        return {
            "info": {"id": self.identity, "cwd": self.story.cwd},
            "session_summary": self.story.name.replace("-", " "),
            "created_at": self.began,
            "updated_at": self.time(),
            **count,
            "current_model_id": MODEL,
            "next_trace_turn": len(self.prompted),
            "chat_format_version": 1,
            "session_kind": "interactive",
            "last_active_at": self.time(),
            "agent_name": "grok-build-plan",
        }

    def signals(self) -> dict[str, Any]:
        """The client's own meter."""
        share = self.context * 100 // WINDOW
        used = {"contextWindowUsage": share, "contextTokensUsed": self.context}
        return {"turnCount": len(self.prompted), "compactionCount": 0, **used, "contextWindowTokens": WINDOW}

    def rewind_points(self) -> bytes:
        """A line for each prompt, to which the client can take the files back."""
        nothing = {"file_snapshots": {}, "after_snapshots": {}}
        points = ({"prompt_index": index, "created_at": at, **nothing} for index, at in enumerate(self.prompted))
        return "".join(f"{json.dumps(point, separators=(',', ':'))}\n" for point in points).encode()

    def head(self) -> None:
        self.line({"type": "system", "content": SYSTEM})
        info = f"<user_info>\nOS Version: linux\nShell: /bin/bash\nWorkspace Path: {self.story.cwd}\n</user_info>"
        self.line({"type": "user", "content": [{"type": "text", "text": info}]})
        self.context = about(SYSTEM + info) + 5_000

    def user(self, text: str, image: bytes | None = None) -> None:
        self.context += about(text) + 8
        wrapped = f"<user_query>\n{text}\n</user_query>"
        line = {"type": "user", "content": [{"type": "text", "text": wrapped}], "prompt_index": len(self.prompted)}
        self.prompted.append(self.time())
        self.line(line)

    def reply(self, event: Reply) -> None:
        output = self.output_of(event)
        self.work(event, output)
        self.context += output
        calls = [(action, f"call_{self.digest('call')[:20]}") for action in event.actions]
        if event.thinking and self.story.reasons:
            summary = [{"type": "summary_text", "text": event.thinking}]
            thought = {"type": "reasoning", "id": f"rs_{self.digest('rs')[:24]}", "summary": summary}
            self.line(thought | {"encrypted_content": self.digest("reasoning"), "status": "completed"})
        message: dict[str, Any] = {"type": "assistant", "content": event.text}
        if calls:
            message["tool_calls"] = [self._call(action, call_id) for action, call_id in calls]
        self.line(message | {"model_id": MODEL})
        for action, call_id in calls:
            self._result(action, call_id)

    def _result(self, action: Action, call_id: str) -> None:
        self.wait(action.seconds)
        text = _answer(action)
        self.context += about(text) + 6
        self.line({"type": "tool_result", "tool_call_id": call_id, "content": text})

    def _call(self, action: Action, call_id: str) -> dict[str, Any]:
        kind, given = action.call.kind, dict(action.call.arguments)
        path = given.get("path") or "."
        name, arguments = "run_terminal_command", {"command": given.get("command", ""), "description": "run"}
        if kind == "read":
            part = {key: given[key] for key in ("offset", "limit") if given.get(key)}
            name, arguments = "read_file", {"target_file": path, **part}
        elif kind == "search":
            name, arguments = "grep", {"pattern": given["pattern"], "path": path}
        elif kind == "list":
            name, arguments = "list_dir", {"target_directory": path}
        elif kind == "edit":
            edit = {"old_string": given["old"], "new_string": given["new"]}
            name, arguments = "search_replace", {"file_path": path, **edit}
        elif kind == "write":
            name, arguments = "write", {"file_path": path, "contents": given["content"]}
        elif kind == "plan":
            steps = [
                {"id": str(number), "content": text, "status": STATUS[state]}
                for number, (text, state) in enumerate(given["steps"], 1)
            ]
            name, arguments = "todo_write", {"merge": False, "todos": steps}
        return {"id": call_id, "name": name, "arguments": json.dumps(arguments, ensure_ascii=False)}


def _answer(action: Action) -> str:
    kind, given, result = action.call.kind, action.call.arguments, action.result
    if kind in ("edit", "write"):
        return f"The file {given['path']} has been updated."
    if kind == "plan":
        return "Todos updated."
    if kind == "read" and not result.failed:
        return numbered(action, "→")
    text = shell_output(action) or "(no output)"
    return f"{text}\n\nCommand exited with code {result.exit_code}" if result.exit_code else text
