"""The generated sessions as Claude Code would have logged them: turns, calls, results, pictures, compactions."""

from __future__ import annotations

import json
from typing import Any

from tests.core.claude_sessions import Build
from tests.generated import Variant

TOOLS = {"read": "Read", "write": "Write", "edit": "Edit", "bash": "Bash", "grep": "Grep", "find": "Glob", "ls": "LS"}

FILES = ("read", "write", "edit")
"""Tools for which Claude Code calls the argument `file_path` that pi calls `path`."""


def session_of(variant: Variant) -> bytes:
    """A session with the story of a generated one: what leads to its leaf, without what only pi has."""
    entries = [json.loads(line) for line in variant.data().decode().split("\n") if line.strip()]
    by_id = {entry["id"]: entry for entry in entries if "parentId" in entry}
    way: list[dict[str, Any]] = []
    leaf = entries[-1].get("id")
    while leaf is not None:
        way.append(by_id[leaf])
        leaf = by_id[leaf]["parentId"]
    made = _Writer()
    for entry in reversed(way):
        made.add(entry)
    return b"".join(json.dumps(line, ensure_ascii=False).encode() + b"\n" for line in made.build.lines)


class _Writer:
    """One session in the making."""

    def __init__(self) -> None:
        self.build = Build()
        self.calls: dict[str, str] = {}
        """Call → the name of its line."""

    def add(self, entry: dict[str, Any]) -> None:
        own = entry["id"]
        if entry["type"] == "compaction":
            self.build.boundary(f"boundary-{own}")
            self.build.summary(f"summary-{own}")
        elif entry["type"] != "message":
            return
        elif entry["message"]["role"] == "user":
            self._user(own, entry["message"])
        elif entry["message"]["role"] == "assistant":
            self._reply(own, entry["message"])
        elif entry["message"]["role"] == "toolResult" and entry["message"]["toolCallId"] in self.calls:
            self._result(own, entry["message"])

    def _user(self, own: str, message: dict[str, Any]) -> None:
        self.build.user(own, _content(message["content"]))
        self.build.context(f"note beside {own}", "system" if int(own, 16) % 3 else "user")

    def _reply(self, own: str, message: dict[str, Any]) -> None:
        """One line for each block, as they were streamed."""
        for number, part in enumerate(message["content"]):
            block = _block(part)
            name = f"{own}-{number}"
            if block is not None:
                self.build.reply(name, block, message=own)
                if block["type"] == "tool_use":
                    self.calls[part["id"]] = name

    def _result(self, own: str, message: dict[str, Any]) -> None:
        call = message["toolCallId"]
        block = {"type": "tool_result", "tool_use_id": call, "content": _content(message["content"])}
        if message.get("isError"):
            block["is_error"] = True
        self.build.user(own, [block], self.calls.pop(call), toolUseResult="for the screen")


def _block(part: dict[str, Any]) -> dict[str, Any] | None:
    if part["type"] == "text":
        return {"type": "text", "text": part["text"]}
    if part["type"] == "thinking":
        return {"type": "thinking", "thinking": part["thinking"], "signature": "c2lnbmVk"}
    if part["type"] != "toolCall":
        return None
    given = dict(part["arguments"])
    if part["name"] in FILES and "path" in given:
        given["file_path"] = given.pop("path")
    return {"type": "tool_use", "id": part["id"], "name": TOOLS.get(part["name"], part["name"]), "input": given}


def _content(content: Any) -> Any:
    if isinstance(content, str):
        return content
    return [_picture(part) if part["type"] == "image" else {"type": "text", "text": part["text"]} for part in content]


def _picture(part: dict[str, Any]) -> dict[str, Any]:
    return {"type": "image", "source": {"type": "base64", "media_type": part["mimeType"], "data": part["data"]}}
