"""Random but valid pi sessions, large enough for a policy to act: for property tests and for the real client.

`generate_pi` gives the same bytes for the same arguments. Everything in them is made up.
"""

from __future__ import annotations

import base64
import json
import random
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from scripts.samples.measure import about
from scripts.samples.picture import png
from tests.generated_text import Words

WINDOW = 128_000
"""Tokens: the window that the sessions are made for."""

START = 1_791_000_000_000

MODELS = {
    "anthropic-messages": ("anthropic", "claude-opus-4-5"),
    "openai-completions": ("deepseek", "deepseek-reasoner"),
    "openai-responses": ("openai", "gpt-5.3-codex-spark"),
}
OTHER_MODELS = {
    "anthropic-messages": ("anthropic", "claude-sonnet-4-5"),
    "openai-completions": ("deepseek", "deepseek-chat"),
    "openai-responses": ("openai", "gpt-5-mini"),
}


@dataclass(frozen=True, slots=True)
class Features:
    """What a session may hold beside user messages, replies, calls and results."""

    wire: str = "openai-completions"
    system: bool = True
    """pi 1.6.0's stored system prompt."""
    branches: bool = False
    branch_summaries: bool = False
    native_compaction: bool = False
    """An earlier compaction by pi itself, about a third of the way."""
    context_edits: bool = False
    """Entries that only pi from 0.87 on understands."""
    images: bool = False
    parallel_calls: bool = False
    failing_calls: bool = False
    bash_entries: bool = False
    custom_messages: bool = False
    aborted_replies: bool = False
    model_change: bool = False
    side_effects: float = 0.3
    """Share of the calls whose results can't be had again."""
    chinese: bool = False


@dataclass(frozen=True, slots=True)
class Variant:
    """A named session for the tests."""

    name: str
    seed: int
    size_tokens: int = 116_000
    """About how many tokens its view has."""
    features: dict[str, Any] = field(default_factory=dict[str, Any])
    old: bool = False
    """Also valid for pi 0.73.1: it holds nothing that only newer clients understand."""
    window: int = WINDOW

    def data(self) -> bytes:
        return generate_pi(self.seed, self.size_tokens, **self.features)


_OLD = {"system": False, "context_edits": False}
_ALL = dict.fromkeys(
    (
        "branches",
        "branch_summaries",
        "native_compaction",
        "context_edits",
        "images",
        "parallel_calls",
        "failing_calls",
        "bash_entries",
        "custom_messages",
        "aborted_replies",
        "model_change",
    ),
    True,
)

VARIANTS = [
    Variant("branches", 2, features={"branches": True, "branch_summaries": True, "wire": "anthropic-messages"}),
    Variant("native-compaction", 3, features={"native_compaction": True, "parallel_calls": True, "side_effects": 0.9}),
    Variant("context-edits", 4, features={"context_edits": True, "wire": "anthropic-messages"}),
    Variant("images", 5, features={"images": True, "wire": "anthropic-messages", "failing_calls": True}),
    Variant("parallel", 6, features={"parallel_calls": True, "failing_calls": True, "wire": "openai-responses"}),
    Variant("bash-and-custom", 7, features={"bash_entries": True, "custom_messages": True, "side_effects": 0.9}),
    Variant("aborted", 8, features={"aborted_replies": True, "side_effects": 0.9, "wire": "anthropic-messages"}),
    Variant("everything-anthropic", 9, 118_000, {**_ALL, "side_effects": 0.9, "wire": "anthropic-messages"}),
    Variant("everything-completions", 10, 118_000, {**_ALL, "side_effects": 0.8, "chinese": True}),
    Variant("everything-responses", 11, 118_000, {**_ALL, "side_effects": 0.9, "wire": "openai-responses"}),
    Variant("old-client", 12, features={**_ALL, **_OLD, "wire": "anthropic-messages"}, old=True),
    Variant("old-client-parallel", 1, features={**_OLD, "parallel_calls": True, "side_effects": 0.95}, old=True),
]
"""In about half of them pruning is enough; the others need a cut and a summary as well."""


def generate_pi(seed: int, size_tokens: int, **features: Any) -> bytes:
    """A session file whose view at its end has about `size_tokens` tokens; `features` as in `Features`."""
    return _Maker(seed, size_tokens, Features(**features)).made()


class _Maker:
    def __init__(self, seed: int, size: int, features: Features) -> None:
        self.random = random.Random(seed)
        self.words = Words(self.random, features.chinese)
        self.size = size
        self.features = features
        self.lines: list[dict[str, Any]] = []
        self.leaf: str | None = None
        self.context = 0
        self.milliseconds = START + seed * 86_400_000
        self.provider, self.model = MODELS[features.wire]
        self.path: list[dict[str, Any]] = []
        self.edited: set[str] = set()

    def made(self) -> bytes:
        self._head()
        compact_at = self.size // 3 if self.features.native_compaction else None
        change_at = self.size // 2 if self.features.model_change else None
        while self.context < self.size:
            self._turn()
            if compact_at is not None and self.context > compact_at:
                compact_at = None
                self._compaction()
            if change_at is not None and self.context > change_at:
                change_at = None
                self.provider, self.model = OTHER_MODELS[self.features.wire]
                self._entry("model_change", provider=self.provider, modelId=self.model)
            self._extras()
        self._user()
        self._reply([])
        return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in self.lines).encode("utf-8")

    # The head

    def _head(self) -> None:
        identity = f"{self.random.getrandbits(128):032x}"
        session = f"{identity[:8]}-{identity[8:12]}-4{identity[13:16]}-a{identity[17:20]}-{identity[20:]}"
        head = {"type": "session", "version": 3, "id": session, "timestamp": self._time(), "cwd": "/home/kim/project"}
        self.lines.append(head)
        self._entry("model_change", provider=self.provider, modelId=self.model)
        self._entry("thinking_level_change", thinkingLevel="medium")
        if self.features.system:
            self._message(self._system())

    def _system(self) -> dict[str, Any]:
        names = ("read", "bash", "edit", "write", "grep")
        tools = [{"name": n, "description": n, "parameters": {"type": "object", "properties": {}}} for n in names]
        sections = {"preamble": "You help with code.", "cwd": "Working folder: /home/kim/project"}
        message = {"role": "system", "content": "", "sections": sections, "toolsAdded": tools}
        return {**message, "timestamp": self.milliseconds}

    # Turns

    def _turn(self) -> None:
        self._user()
        for _ in range(self.random.randint(1, 6)):
            several = self.features.parallel_calls and self.random.random() < 0.4
            self._reply([self._call() for _ in range(self.random.randint(2, 4) if several else 1)])
            if self.context >= self.size:
                break
        if self.features.aborted_replies and self.random.random() < 0.3:
            self._aborted()
        else:
            self._reply([])

    def _user(self) -> None:
        self._wait(5, 90)
        text = self.words.prose(self.random.randint(6, 60))
        content: list[dict[str, Any]] = [{"type": "text", "text": text}]
        if self.features.images and self.random.random() < 0.3:
            content.append(self._image())
        self._grow(text)
        self._message({"role": "user", "content": content, "timestamp": self.milliseconds})

    def _reply(self, calls: list[dict[str, Any]]) -> None:
        content: list[dict[str, Any]] = []
        if self.random.random() < 0.5:
            content.append(self._thinking())
        if not calls or self.random.random() < 0.5:
            content.append({"type": "text", "text": self.words.prose(self.random.randint(5, 50))})
        output = sum(_tokens(part) + 4 for part in [*content, *calls])
        self._wait(1, 20)
        self._assistant([*content, *calls], self._usage(output), "toolUse" if calls else "stop")
        for call in calls:
            self._result(call)

    def _assistant(self, content: list[dict[str, Any]], usage: dict[str, Any], stop: str, **more: Any) -> None:
        message = {
            "role": "assistant",
            "content": content,
            "api": self.features.wire,
            "provider": self.provider,
            "model": self.model,
            "usage": usage,
            "stopReason": stop,
            "timestamp": self.milliseconds,
        }
        self._message(message | more)

    def _thinking(self) -> dict[str, Any]:
        text = self.words.prose(self.random.randint(8, 80))
        if self.features.wire == "anthropic-messages":
            signature = base64.b64encode(self.random.randbytes(90)).decode("ascii")
        elif self.features.wire == "openai-responses":
            item = {"type": "reasoning", "id": f"rs_{self._hex(16)}", "encrypted_content": self._hex(60)}
            signature = json.dumps({**item, "summary": [{"type": "summary_text", "text": text}]}, ensure_ascii=False)
        else:
            signature = "reasoning_content"
        return {"type": "thinking", "thinking": text, "thinkingSignature": signature}

    def _call(self) -> dict[str, Any]:
        path = self.words.path()
        if self.random.random() < self.features.side_effects:
            chosen = self.random.choice(
                (
                    ("bash", {"command": f"python tools/{self.words.name()}.py --apply"}),
                    ("edit", {"path": path, "edits": [{"oldText": self.words.code(4), "newText": self.words.code(6)}]}),
                    ("write", {"path": path, "content": self.words.code(self.random.randint(20, 90))}),
                )
            )
        else:
            chosen = self.random.choice(
                (
                    ("read", {"path": path}),
                    ("read", {"path": path, "offset": self.random.randint(1, 300), "limit": 200}),
                    ("grep", {"pattern": self.words.name(), "path": "."}),
                    ("bash", {"command": f"python -m pytest -q tests/test_{self.words.name()}.py"}),
                )
            )
        name, arguments = chosen
        identity = {
            "anthropic-messages": f"toolu_01{self._hex(22)}",
            "openai-completions": f"call_00_{self._hex(24)}",
            "openai-responses": f"call_{self._hex(24)}|fc_{self._hex(48)}",
        }[self.features.wire]
        return {"type": "toolCall", "id": identity, "name": name, "arguments": arguments}

    def _result(self, call: dict[str, Any]) -> None:
        name, failed = call["name"], self.features.failing_calls and self.random.random() < 0.2
        if name in ("edit", "write"):
            text = f"Successfully wrote {call['arguments']['path']}."
        else:
            text = self.words.code(min(500, max(3, int(self.random.lognormvariate(4.3, 0.9)))))
        if failed:
            text += "\n\nCommand exited with code 1"
        content: list[dict[str, Any]] = [{"type": "text", "text": text}]
        if name == "read" and self.features.images and self.random.random() < 0.25:
            content.append(self._image())
        self._wait(0, 3)
        self._grow(text)
        self._message(
            {
                "role": "toolResult",
                "toolCallId": call["id"],
                "toolName": name,
                "content": content,
                "isError": failed,
                "timestamp": self.milliseconds,
            }
        )

    def _aborted(self) -> None:
        content = [{"type": "text", "text": self.words.prose(12)}]
        zero = self._usage(0, count=False)
        if self.random.random() < 0.5:
            self._assistant(content, zero, "aborted", errorMessage="Request was aborted")
        else:
            self._assistant([], zero, "error", errorMessage="529 overloaded_error: Overloaded")

    # What else may stand in a session

    def _extras(self) -> None:
        chance = self.random.random
        if self.features.bash_entries and chance() < 0.5:
            self._bash()
        if self.features.custom_messages and chance() < 0.4:
            self._custom()
        if self.features.branches and chance() < 0.5:
            self._branch()
        if self.features.context_edits and chance() < 0.4:
            self._context_edit()

    def _bash(self) -> None:
        output = self.words.code(self.random.randint(0, 40))
        message = {
            "role": "bashExecution",
            "command": f"git log --oneline -{self.random.randint(1, 30)}",
            "output": output,
            "exitCode": self.random.choice((0, 0, 0, 1)),
            "cancelled": False,
            "truncated": False,
            "timestamp": self.milliseconds,
        }
        if self.random.random() < 0.3:
            message["excludeFromContext"] = True
        else:
            self._grow(output)
        self._message(message)

    def _custom(self) -> None:
        text = self.words.prose(20)
        content: Any = text if self.random.random() < 0.5 else [{"type": "text", "text": text}]
        self._grow(text)
        self._entry("custom_message", customType="note", content=content, display=True)
        self._entry("custom", customType="note-state", data={"count": len(self.lines)})
        if self.random.random() < 0.3:
            self._entry("session_info", name=self.words.prose(4))

    def _branch(self) -> None:
        """A side branch from an earlier place, left again, with a summary of it or without."""
        start, context, path = self.leaf, self.context, list(self.path)
        self._user()
        self._reply([self._call()])
        self._reply([])
        left = self.leaf
        self.leaf, self.context, self.path = start, context, path
        if self.features.branch_summaries and self.random.random() < 0.6:
            head = "The user explored a different conversation branch before returning here.\n"
            summary = f"{head}Summary of that exploration:\n\n{self.words.prose(40)}"
            self._grow(summary)
            details = {"readFiles": [self.words.path()], "modifiedFiles": []}
            self._entry("branch_summary", fromId=left, summary=summary, details=details, fromHook=False)
        elif left is not None:
            self._entry("label", targetId=left, label=self.words.name())

    def _compaction(self) -> None:
        """As pi writes it: the newest turns are kept, what is before them is summarised."""
        users = [entry for entry in self.path if entry.get("message", {}).get("role") == "user"]
        if len(users) < 3:
            return
        kept = users[-2]
        summary = f"## Goal\n{self.words.prose(60)}\n\n## Progress\n### Done\n- [x] {self.words.prose(30)}"
        fields: dict[str, Any] = {"firstKeptEntryId": kept["id"], "tokensBefore": self.context}
        fields["details"] = {"readFiles": [self.words.path()], "modifiedFiles": [self.words.path()]}
        if self.features.system:
            fields |= {"usage": self._usage(900, count=False), "systemMessage": self._system()}
        position = self.path.index(kept)
        self.path = self.path[position:]
        self.context = 0
        self._grow(summary + json.dumps([entry.get("message") for entry in self.path], ensure_ascii=False))
        self._entry("compaction", summary=summary, **fields, fromHook=False)

    def _context_edit(self) -> None:
        """Omits a whole exchange, or puts a shorter text in the place of one result."""
        roles = [entry.get("message", {}).get("role") for entry in self.path]
        results = [
            at for at, role in enumerate(roles[:-6]) if role == "toolResult" and self.path[at]["id"] not in self.edited
        ]
        if not results:
            return
        at = self.random.choice(results)
        if self.random.random() < 0.6:
            replacement = {"content": [{"type": "text", "text": f"(cleared: {self.words.prose(5)})"}]}
            self._edit(self.path[at], replacement)
            return
        first = at
        while roles[first] == "toolResult":
            first -= 1
        last = at
        while roles[last + 1] == "toolResult":
            last += 1
        if roles[first] == "assistant":
            for entry in self.path[first : last + 1]:
                self._edit(entry, None)

    def _edit(self, target: dict[str, Any], replacement: dict[str, Any] | None) -> None:
        if target["id"] not in self.edited:
            self.edited.add(target["id"])
            self.context -= sum(_tokens(part) for part in target["message"]["content"])
        self._entry("context_edit", targetId=target["id"], replacement=replacement)

    # Small parts

    def _image(self) -> dict[str, Any]:
        rows = [self.random.randbytes(8) for _ in range(8)]
        self.context += 1200
        return {"type": "image", "data": base64.b64encode(png(rows)).decode("ascii"), "mimeType": "image/png"}

    def _usage(self, output: int, *, count: bool = True) -> dict[str, Any]:
        cost = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0}
        if not output:
            return {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 0, "cost": cost}
        cached = self.context * 9 // 10
        used = {"input": self.context - cached, "output": output, "cacheRead": cached, "cacheWrite": 0}
        total = self.context + output
        if count:
            self.context = total
        return {**used, "totalTokens": total, "cost": cost}

    def _grow(self, text: str) -> None:
        self.context += about(text) + 4

    def _message(self, message: dict[str, Any]) -> None:
        self._entry("message", message=message)

    def _entry(self, kind: str, **fields: Any) -> None:
        entry = {"type": kind, "id": self._hex(8), "parentId": self.leaf, "timestamp": self._time(), **fields}
        self.lines.append(entry)
        self.path.append(entry)
        self.leaf = entry["id"]

    def _hex(self, digits: int) -> str:
        return f"{self.random.getrandbits(digits * 4):0{digits}x}"

    def _wait(self, least: int, most: int) -> None:
        self.milliseconds += self.random.randint(least * 1000, most * 1000) + 7

    def _time(self) -> str:
        whole = datetime.fromtimestamp(self.milliseconds // 1000, UTC)
        return f"{whole:%Y-%m-%dT%H:%M:%S}.{self.milliseconds % 1000:03d}Z"


def _tokens(part: dict[str, Any]) -> int:
    if part["type"] == "toolCall":
        return about(part["name"] + json.dumps(part["arguments"], ensure_ascii=False))
    return about(part.get("text") or part.get("thinking") or "")
