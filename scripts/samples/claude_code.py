"""Writes a story as a session of Claude Code 2.1.332: a line for each block of a reply, results beside the chain."""

from __future__ import annotations

from typing import Any

from scripts.samples.measure import about
from scripts.samples.recording import Recording, numbered, shell_output
from scripts.samples.story import Action, Reply, Story

MODEL = "claude-opus-4-5"
VERSION = "2.1.332"
STATUS = {"done": "completed", "doing": "in_progress", "open": "pending"}


def write(story: Story) -> tuple[dict[str, bytes], str]:
    """The files of the session by their paths, and which of them is the session's own."""
    session = _Session(story)
    session.write()
    name = f"{story.cwd.replace('/', '-')}/{session.identity}.jsonl"
    return {name: session.data()}, name


class _Session(Recording):
    agent = "claude-code"

    def __init__(self, story: Story) -> None:
        super().__init__(story)
        self.identity = self.uuid("session")
        self.leaf: str | None = None
        self.prompt = ""
        self.cached = 0

    def chained(self, kind: str, message: dict[str, Any], parent: str | None = None, **more: Any) -> str:
        """A line of the chain; its uuid."""
        identity = self.uuid("line")
        line: dict[str, Any] = {"parentUuid": parent or self.leaf, "isSidechain": False, "type": kind}
        line |= {"message": message, "uuid": identity, "timestamp": self.time(), **more}
        line |= {"userType": "external", "entrypoint": "cli", "cwd": self.story.cwd, "sessionId": self.identity}
        self.line(line | {"version": VERSION, "gitBranch": "main"})
        self.leaf = identity
        return identity

    def head(self) -> None:
        self.line({"type": "mode", "mode": "default", "sessionId": self.identity})
        self.context = 14_000

    def user(self, text: str) -> None:
        self.context += about(text) + 4
        self.prompt = text
        more = {"promptId": self.uuid("prompt"), "permissionMode": "default"}
        self.chained("user", {"role": "user", "content": text}, **more)

    def reply(self, event: Reply) -> None:
        output = self.output_of(event)
        self.work(event, output)
        identity, request = f"msg_{self.digest('m')[:24]}", f"req_{self.digest('r')[:24]}"
        usage = self._usage(output)
        calls = [(action, f"toolu_{self.digest('call')[:24]}") for action in event.actions]
        head = {"id": identity, "type": "message", "role": "assistant", "model": MODEL}
        tail = {"stop_reason": "tool_use" if calls else "end_turn", "stop_sequence": None, "usage": usage}
        asked = dict[str, str]()
        for block in self._blocks(event, calls):
            line = self.chained("assistant", head | {"content": [block]} | tail, requestId=request)
            if block["type"] == "tool_use":
                asked[block["id"]] = line
        for action, call_id in calls:
            self._result(action, call_id, asked[call_id])
        if not calls:
            self.line(
                {"type": "last-prompt", "lastPrompt": self.prompt, "leafUuid": self.leaf, "sessionId": self.identity}
            )

    def _blocks(self, event: Reply, calls: list[tuple[Action, str]]) -> list[dict[str, Any]]:
        blocks: list[dict[str, Any]] = []
        if event.thinking and self.story.reasons:
            blocks.append({"type": "thinking", "thinking": event.thinking, "signature": self.digest("signature")})
        if event.text:
            blocks.append({"type": "text", "text": event.text})
        for action, call_id in calls:
            name, given = self._call(action)
            blocks.append({"type": "tool_use", "id": call_id, "name": name, "input": given})
        return blocks

    def _result(self, action: Action, call_id: str, asked: str) -> None:
        """Results of parallel calls hang on their own call's line, beside the chain."""
        self.wait(action.seconds)
        text = _answer(action)
        self.context += about(text) + 6
        block: dict[str, Any] = {"tool_use_id": call_id, "type": "tool_result", "content": text}
        if action.result.failed or action.result.exit_code:
            block["is_error"] = True
        message = {"role": "user", "content": [block]}
        self.chained("user", message, parent=asked, sourceToolAssistantUUID=asked)

    def _usage(self, output: int) -> dict[str, int]:
        read = min(self.cached, self.context)
        usage = {"input_tokens": 8, "cache_creation_input_tokens": self.context - read, "cache_read_input_tokens": read}
        self.cached = self.context
        self.context += output
        return usage | {"output_tokens": output}

    def _call(self, action: Action) -> tuple[str, dict[str, Any]]:
        kind, given = action.call.kind, dict(action.call.arguments)
        path = self.absolute(given.get("path") or ".")
        if kind == "read":
            part = {name: given[name] for name in ("offset", "limit") if given.get(name)}
            return "Read", {"file_path": path, **part}
        if kind == "search":
            return "Grep", {"pattern": given["pattern"], "path": path, "output_mode": "content"}
        if kind == "list":
            return "Bash", {"command": f"ls {path}", "description": "List a folder"}
        if kind == "edit":
            return "Edit", {"file_path": path, "old_string": given["old"], "new_string": given["new"]}
        if kind == "write":
            return "Write", {"file_path": path, "content": given["content"]}
        if kind == "plan":
            steps = [{"content": text, "status": STATUS[state], "activeForm": text} for text, state in given["steps"]]
            return "TodoWrite", {"todos": steps}
        return "Bash", {"command": given["command"], "description": "Run a command"}


def _answer(action: Action) -> str:
    kind, given, result = action.call.kind, action.call.arguments, action.result
    if kind == "edit":
        return f"The file {given['path']} has been updated successfully."
    if kind == "write":
        return f"File created successfully at: {given['path']}"
    if kind == "plan":
        return "Todos have been modified successfully. Ensure that you continue to use the todo list."
    if kind == "read" and not result.failed:
        return numbered(action, "\t")
    if kind == "shell" and result.exit_code:
        return f"Exit code {result.exit_code}\n{shell_output(action)}"
    return shell_output(action) or "(Bash completed with no output)"
