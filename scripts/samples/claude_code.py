"""Writes a story as a session of Claude Code 2.1.332: a line for each block of a reply, results beside the chain."""

from __future__ import annotations

import base64
from typing import Any

from scripts.samples import claude_subagent
from scripts.samples.claude_display import displayed
from scripts.samples.measure import about
from scripts.samples.recording import Recording, numbered, shell_output
from scripts.samples.story import Action, Aside, Reply, ShellByUser, Story, UserSays

MODEL = "claude-opus-4-5"
VERSION = "2.1.332"
STATUS = {"done": "completed", "doing": "in_progress", "open": "pending"}


def write(story: Story) -> tuple[dict[str, bytes], str]:
    """The files of the session by their paths, and which of them is the session's own."""
    session = Session(story)
    session.write()
    folder = f"{story.cwd.replace('/', '-')}/{session.identity}"
    name = f"{folder}.jsonl"
    beside = {f"{folder}/{path}": data for path, data in session.beside.items()}
    return {name: session.data(), **beside}, name


class Session(Recording):
    """The session, and the sub-agents that it starts."""

    agent = "claude-code"

    def __init__(self, story: Story) -> None:
        super().__init__(story)
        self.identity = self.uuid("session")
        self.leaf: str | None = None
        self.prompt = ""
        self.cached = 0
        self.subagent = ""
        """The id of the sub-agent that is at work; empty for the session itself."""
        self.beside: dict[str, bytes] = {}
        """The files of sub-agents, by their paths in the session's own folder."""

    def event(self, event: UserSays | Reply | ShellByUser | Aside) -> None:
        """A side branch is told too: its lines hang where it was tried, and what follows goes on from before it."""
        if not isinstance(event, Aside):
            super().event(event)
            return
        leaf, context, cached = self.leaf, self.context, self.cached
        for inner in event.events:
            super().event(inner)
        self.leaf, self.context, self.cached = leaf, context, cached

    def chained(self, kind: str, said: dict[str, Any], parent: str | None = None, **more: Any) -> str:
        """A line of the chain: a message, or a context line (`attachment`); its uuid."""
        identity = self.uuid("line")
        line: dict[str, Any] = {"parentUuid": parent or self.leaf, "isSidechain": bool(self.subagent), "type": kind}
        line |= {"agentId": self.subagent} if self.subagent else {}
        line |= {"attachment" if kind == "attachment" else "message": said}
        line |= {"uuid": identity, "timestamp": self.time(), **more}
        line |= {"userType": "external", "entrypoint": "cli", "cwd": self.story.cwd, "sessionId": self.identity}
        self.line(line | {"version": VERSION, "gitBranch": "main"})
        self.leaf = identity
        return identity

    def head(self) -> None:
        self.line({"type": "mode", "mode": "default", "sessionId": self.identity})
        self.context = 14_000

    def user(self, text: str, image: bytes | None = None) -> None:
        self.context += about(text) + 4
        self.prompt = text
        more = {"promptId": self.uuid("prompt"), "permissionMode": "default"}
        is_first = self.leaf is None
        self.chained("user", {"role": "user", "content": self._shown(text, image)}, **more)
        if is_first:
            self.surroundings()

    def _shown(self, text: str, image: bytes | None) -> str | list[dict[str, Any]]:
        if image is None:
            return text
        source = {"type": "base64", "media_type": "image/png", "data": base64.b64encode(image).decode("ascii")}
        return [{"type": "text", "text": text}, {"type": "image", "source": source}]

    def surroundings(self) -> None:
        """The context lines that the client adds behind the first prompt."""
        place = {"workingDirectory": self.story.cwd, "isGitRepo": True, "platform": "linux", "shell": "bash"}
        told = f"# Environment\nWorking directory: {self.story.cwd}\nPlatform: linux"
        self._context({"type": "environment", "snapshot": place}, told)
        self._context({"type": "model", "identity": {"modelId": MODEL}}, f"The model is {MODEL}.")
        day = self.time()[:10]
        self._context({"type": "date", "date": day}, f"Today's date is {day}.")

    def _context(self, attachment: dict[str, Any], told: str) -> None:
        self.context += about(told) + 8
        rendered = [{"content": f"<system-reminder>\n{told}\n</system-reminder>"}]
        self.chained("attachment", attachment, rendered=rendered, renderedRole="system")

    def reply(self, event: Reply) -> None:
        searches = [action for action in event.actions if action.call.kind == "search"]
        if searches and not self.beside:
            claude_subagent.delegate(self, searches[0])
        output = self.output_of(event)
        self.work(event, output)
        calls = [(action, self.call_id()) for action in event.actions]
        asked = self.answer(self._blocks(event, calls), output)
        for action, call_id in calls:
            self.result(action, call_id, asked[call_id])
        if not calls:
            said = {"lastPrompt": self.prompt, "leafUuid": self.leaf}
            self.line({"type": "last-prompt", **said, "sessionId": self.identity})

    def call_id(self) -> str:
        return f"toolu_{self.digest('call')[:24]}"

    def answer(self, blocks: list[dict[str, Any]], output: int) -> dict[str, str]:
        """One reply of the model, a line for each block; the line of each call by the call's id."""
        identity, request = f"msg_{self.digest('m')[:24]}", f"req_{self.digest('r')[:24]}"
        head = {"id": identity, "type": "message", "role": "assistant", "model": MODEL}
        stop = "tool_use" if blocks[-1]["type"] == "tool_use" else "end_turn"
        tail = {"stop_reason": stop, "stop_sequence": None, "usage": self._usage(output)}
        asked = dict[str, str]()
        for index, block in enumerate(blocks):
            said = head | {"content": [block]} | tail
            line = self.chained("assistant", said, requestId=request, apiBlockIndex=index)
            if block["type"] == "tool_use":
                asked[block["id"]] = line
        return asked

    def _blocks(self, event: Reply, calls: list[tuple[Action, str]]) -> list[dict[str, Any]]:
        blocks: list[dict[str, Any]] = []
        if event.thinking and self.story.reasons:
            blocks.append({"type": "thinking", "thinking": event.thinking, "signature": self.digest("signature")})
        if event.text:
            blocks.append({"type": "text", "text": event.text})
        for action, call_id in calls:
            name, given = self.call(action)
            blocks.append({"type": "tool_use", "id": call_id, "name": name, "input": given})
        return blocks

    def result(self, action: Action, call_id: str, asked: str) -> None:
        """Results of parallel calls hang on their own call's line, beside the chain."""
        self.wait(action.seconds)
        text = _answer(action)
        self.context += about(text) + 6
        block: dict[str, Any] = {"tool_use_id": call_id, "type": "tool_result", "content": text}
        if action.result.failed or action.result.exit_code:
            block["is_error"] = True
        message = {"role": "user", "content": [block]}
        name, given = self.call(action)
        shown = displayed(action, name, given, text)
        self.chained("user", message, parent=asked, toolUseResult=shown, sourceToolAssistantUUID=asked)

    def _usage(self, output: int) -> dict[str, int]:
        read = min(self.cached, self.context)
        usage = {"input_tokens": 8, "cache_creation_input_tokens": self.context - read, "cache_read_input_tokens": read}
        self.cached = self.context
        self.context += output
        return usage | {"output_tokens": output}

    def call(self, action: Action) -> tuple[str, dict[str, Any]]:
        """The name of the tool and its input."""
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
