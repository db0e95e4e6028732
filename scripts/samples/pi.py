"""Writes a story as a session of pi 1.6.0: JSON Lines of version 3, as the client itself would have logged it."""

from __future__ import annotations

import base64
import hashlib
import json
import random
from datetime import UTC, datetime
from typing import Any

from scripts.samples.measure import about
from scripts.samples.pi_system import SECTIONS, TOOLS
from scripts.samples.story import Action, Aside, Place, Reply, Result, ShellByUser, Story, UserSays

FOLDER = "pi"
API = "openai-completions"
FINER = 1.03
"""How many tokens the provider reports for one of ours: its tokenizer splits code a little finer."""
CACHE_BLOCK = 64
"""Tokens: DeepSeek caches a prompt's beginning in blocks of this size."""
PRICES = {"input": 0.28, "cacheRead": 0.028, "output": 0.42}
"""US dollars for a million tokens."""
TOOL_NAMES = {
    "read": "read",
    "search": "grep",
    "list": "ls",
    "edit": "edit",
    "write": "write",
    "shell": "bash",
    "plan": "todo",
}
STATUS = {"done": "completed", "doing": "in_progress", "open": "pending"}


def write(story: Story) -> tuple[bytes, tuple[Place, ...]]:
    """The session file and, for each event of the story, the entries that hold it."""
    session = _Session(story)
    places = [session.event(event) for event in story.events]
    return session.data(), tuple(places)


class _Session:
    def __init__(self, story: Story) -> None:
        self.story = story
        self.random = random.Random(story.name)
        self.milliseconds = story.start * 1000 + 163
        self.number = 0
        self.lines: list[dict[str, Any]] = []
        self.leaf: str | None = None
        self.cached = 0
        self._head()

    def data(self) -> bytes:
        lines = (json.dumps(line, ensure_ascii=False, separators=(",", ":")) for line in self.lines)
        return "".join(f"{line}\n" for line in lines).encode("utf-8")

    def event(self, event: UserSays | Reply | ShellByUser | Aside) -> Place:
        if isinstance(event, UserSays):
            return self._user(event)
        if isinstance(event, Reply):
            return self._reply(event)
        if isinstance(event, ShellByUser):
            return self._shell(event)
        return self._aside(event)

    # The head: header, model, thinking level, system prompt

    def _head(self) -> None:
        identity = self._digest("session")
        stamp = f"{self.milliseconds:012x}"
        session = f"{stamp[:8]}-{stamp[8:]}-7{identity[:3]}-a{identity[3:6]}-{identity[6:18]}"
        head = {"type": "session", "version": 3, "id": session, "timestamp": self._time(), "cwd": self.story.cwd}
        self.lines.append(head)
        self._wait(0.1)
        self._entry("model_change", provider=self.story.provider, modelId=self.story.model)
        self._entry("thinking_level_change", thinkingLevel=self._level())
        sections = {name: text.replace("{cwd}", self.story.cwd) for name, text in SECTIONS.items()}
        system = {"role": "system", "content": "", "sections": sections, "timestamp": self.milliseconds}
        self._wait(0.01)
        self._message(system | {"toolsAdded": TOOLS})
        self.context = self._tokens("".join(sections.values()) + json.dumps(TOOLS))

    def _level(self) -> str:
        return "high" if self.story.reasons else "off"

    # The events

    def _user(self, event: UserSays) -> Place:
        self._wait(self.random.uniform(20, 150))
        content: list[dict[str, Any]] = [{"type": "text", "text": event.text}]
        if event.image is not None:
            data = base64.b64encode(event.image).decode("ascii")
            content.append({"type": "image", "data": data, "mimeType": "image/png"})
        self.context += self._tokens(event.text) + 4
        sent = self.milliseconds - 3
        return Place(self._message({"role": "user", "content": content, "timestamp": sent}))

    def _shell(self, event: ShellByUser) -> Place:
        self._wait(self.random.uniform(10, 40))
        self.context += self._tokens(event.command + event.output) + 10
        message = {
            "role": "bashExecution",
            "command": event.command,
            "output": event.output,
            "exitCode": event.exit_code,
            "cancelled": False,
            "truncated": False,
            "timestamp": self.milliseconds,
            "excludeFromContext": False,
        }
        return Place(self._message(message))

    def _reply(self, event: Reply) -> Place:
        started = self.milliseconds + 12
        content: list[dict[str, Any]] = []
        if event.thinking and self.story.reasons:
            content.append({"type": "thinking", "thinking": event.thinking, "thinkingSignature": "reasoning_content"})
        if event.text:
            content.append({"type": "text", "text": event.text})
        calls = [self._call(action) for action in event.actions]
        content.extend({"type": "toolCall", **call} for call in calls)
        thought = self._tokens(event.thinking) if self.story.reasons else 0
        output = thought + self._tokens(event.text) + 2
        output += sum(self._tokens(call["name"] + json.dumps(call["arguments"])) + 9 for call in calls)
        usage = self._usage(output, thought)
        self._wait(1.4 + output * 0.021 + self.random.uniform(0, 1.5))
        entry = self._message(
            {
                "role": "assistant",
                "content": content,
                "api": API,
                "provider": self.story.provider,
                "model": self.story.model,
                "usage": usage,
                "stopReason": "toolUse" if calls else "stop",
                "timestamp": started,
                "responseId": self._uuid(),
                "responseModel": self.story.model,
                "rawStopReason": "tool_calls" if calls else "stop",
                "durationMs": self.milliseconds - started,
                "thinkingLevel": self._level(),
            }
        )
        pairs = zip(calls, event.actions, strict=True)
        return Place(entry, tuple(self._result(call, action) for call, action in pairs))

    def _aside(self, event: Aside) -> Place:
        start, context = self.leaf, self.context
        places = [self.event(inner) for inner in event.events]
        self.leaf, self.context = start, context
        return places[0]

    # Parts of a reply

    def _call(self, action: Action) -> dict[str, Any]:
        letters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
        identity = "".join(letters[byte % 62] for byte in bytes.fromhex(self._digest("call")))[:24]
        name = TOOL_NAMES[action.call.kind]
        return {"id": f"call_00_{identity}", "name": name, "arguments": _arguments(action)}

    def _result(self, call: dict[str, Any], action: Action) -> str:
        text = _answer(action, self._digest("output")[:16])
        self._wait(action.seconds)
        self.context += self._tokens(text) + 6
        return self._message(
            {
                "role": "toolResult",
                "toolCallId": call["id"],
                "toolName": call["name"],
                "content": [{"type": "text", "text": text}],
                "isError": action.result.failed,
                "durationMs": int(action.seconds * 1000),
                "timestamp": self.milliseconds,
            }
        )

    def _usage(self, output: int, thought: int) -> dict[str, Any]:
        cached = min(self.cached, self.context) // CACHE_BLOCK * CACHE_BLOCK
        figures = {"input": self.context - cached, "output": output, "cacheRead": cached, "cacheWrite": 0}
        cost = {name: round(figures[name] * PRICES.get(name, 0) / 1e6, 8) for name in figures}
        self.context += output
        self.cached = self.context
        return {
            **figures,
            "reasoning": thought,
            "totalTokens": self.context,
            "cost": {**cost, "total": round(sum(cost.values()), 8), "totalFromProvider": False},
        }

    # Entries, ids and the clock

    def _message(self, message: dict[str, Any]) -> str:
        return self._entry("message", message=message)

    def _entry(self, kind: str, **fields: Any) -> str:
        identity = self._digest("entry")[:8]
        self.lines.append({"type": kind, "id": identity, "parentId": self.leaf, "timestamp": self._time(), **fields})
        self.leaf = identity
        return identity

    def _digest(self, what: str) -> str:
        self.number += 1
        return hashlib.sha256(f"{self.story.name}/{what}/{self.number}".encode()).hexdigest()

    def _uuid(self) -> str:
        digest = self._digest("response")
        return f"{digest[:8]}-{digest[8:12]}-4{digest[13:16]}-b{digest[17:20]}-{digest[20:32]}"

    def _tokens(self, text: str) -> int:
        return round(about(text) * FINER)

    def _wait(self, seconds: float) -> None:
        self.milliseconds += int(seconds * 1000) + 1

    def _time(self) -> str:
        whole = datetime.fromtimestamp(self.milliseconds // 1000, UTC)
        return f"{whole:%Y-%m-%dT%H:%M:%S}.{self.milliseconds % 1000:03d}Z"


def _arguments(action: Action) -> dict[str, Any]:
    given = dict(action.call.arguments)
    if action.call.kind == "edit":
        return {"path": given["path"], "edits": [{"oldText": given["old"], "newText": given["new"]}]}
    if action.call.kind == "plan":
        steps = [{"content": text, "status": STATUS[state]} for text, state in given["steps"]]
        return {"action": "set", "todos": steps}
    return given


def _answer(action: Action, output: str) -> str:
    """The result in pi's own words; `output` names the file that holds what is not shown."""
    kind, given, result = action.call.kind, action.call.arguments, action.result
    if kind == "edit":
        return f"Successfully replaced 1 block(s) in {given['path']}."
    if kind == "write":
        return f"Successfully wrote {len(given['content'].encode())} bytes to {given['path']}"
    if kind == "plan":
        marks = {"done": "x", "doing": "~", "open": " "}
        return "\n".join(f"[{marks[state]}] #{n} {text}" for n, (text, state) in enumerate(given["steps"], start=1))
    if result.lines_left:
        return f"{result.text}\n\n[{result.lines_left} more lines in file. Use offset={result.next_line} to continue.]"
    if kind == "shell":
        return _shell_answer(result, output)
    return result.text


def _shell_answer(result: Result, output: str) -> str:
    text = result.text or "(no output)"
    if result.shown_from:
        shown = f"{result.shown_from}-{result.lines_in_all} of {result.lines_in_all}"
        text += f"\n\n[Showing lines {shown}. Full output: /tmp/pi-bash-{output}.log]"
    if result.exit_code:
        text += f"\n\nCommand exited with code {result.exit_code}"
    return text
