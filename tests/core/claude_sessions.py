"""Writes small Claude Code sessions for tests: lines are named, and each hangs on the one before."""

from __future__ import annotations

import json
import uuid
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from core.files import Files
from core.opening import Opened, open_session
from core.resume import Overrides

SESSION = "11111111-2222-4333-8444-555555555555"
MODEL = "claude-opus-5-5"
START = datetime(2026, 3, 1, 8, tzinfo=UTC)

USAGE = {
    "input_tokens": 7,
    "cache_creation_input_tokens": 2000,
    "cache_read_input_tokens": 100,
    "output_tokens": 42,
}


def own(name: str) -> str:
    """The uuid of the line with this name."""
    return str(uuid.uuid5(uuid.NAMESPACE_DNS, name))


def call(name: str, tool: str = "Bash", **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": f"toolu_{name}", "name": tool, "input": given or {"command": name}}


def thought(text: str) -> dict[str, Any]:
    return {"type": "thinking", "thinking": text, "signature": "c2ln"}


class Build:
    """A session in the making."""

    def __init__(self) -> None:
        self.lines: list[dict[str, Any]] = []
        self.last: str | None = None

    def add(self, name: str, parent: str | None = "", **fields: Any) -> dict[str, Any]:
        """A line of the chain; `parent` is the name of the line that it hangs on, the last one if not said."""
        above = self.last if parent == "" else parent
        moment = START + timedelta(seconds=7 * len(self.lines))
        line = {
            "parentUuid": own(above) if above is not None else None,
            "isSidechain": False,
            "cwd": "/srv/demo",
            "sessionId": SESSION,
            "version": "2.1.332",
            "uuid": own(name),
            "timestamp": moment.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            **fields,
        }
        self.lines.append(line)
        self.last = name
        return line

    def user(self, name: str, content: Any = None, parent: str | None = "", **fields: Any) -> dict[str, Any]:
        message = {"role": "user", "content": name if content is None else content}
        return self.add(name, parent, type="user", message=message, **fields)

    def reply(
        self, name: str, *blocks: dict[str, Any], message: str = "", parent: str | None = "", **fields: Any
    ) -> dict[str, Any]:
        """One line of a reply; `message` names the reply where it has several."""
        told = {
            "id": f"msg_{message or name}",
            "role": "assistant",
            "model": fields.pop("model", MODEL),
            "content": list(blocks) or [{"type": "text", "text": name}],
            "usage": fields.pop("usage", USAGE),
        }
        return self.add(name, parent, type="assistant", requestId=f"req_{message or name}", message=told, **fields)

    def result(self, name: str, answers: str, content: Any = "R", parent: str | None = "") -> dict[str, Any]:
        block = {"type": "tool_result", "tool_use_id": f"toolu_{answers}", "content": content}
        return self.user(name, [block], parent, toolUseResult="the same again, for the screen")

    def context(self, name: str, role: str = "user") -> dict[str, Any]:
        rendered = [{"content": f"<system-reminder>\n{name}\n</system-reminder>"}]
        return self.add(name, type="attachment", attachment={"type": "note"}, rendered=rendered, renderedRole=role)

    def boundary(
        self, name: str, kept: list[str] | None = None, anchor: str = "", before: int = 30000, **more: Any
    ) -> dict[str, Any]:
        logical = own(self.last) if self.last is not None else None
        metadata: dict[str, Any] = {"trigger": "manual", "preTokens": before, **more}
        if kept is not None:
            listed = [own(line) for line in kept]
            metadata["preservedMessages"] = {"anchorUuid": own(anchor), "uuids": listed, "allUuids": listed}
        fields = {"logicalParentUuid": logical, "compactMetadata": metadata}
        return self.add(name, None, type="system", subtype="compact_boundary", content="Compacted", **fields)

    def summary(self, name: str, parent: str | None = "") -> dict[str, Any]:
        return self.user(name, f"SUMMARY {name}", parent, isCompactSummary=True, isVisibleInTranscriptOnly=True)

    def side(self, **fields: Any) -> dict[str, Any]:
        self.lines.append({**fields, "sessionId": SESSION})
        return self.lines[-1]

    def leaf(self, name: str) -> dict[str, Any]:
        return self.side(type="last-prompt", lastPrompt="x", leafUuid=own(name))

    def turns(self, *numbers: int) -> Build:
        for number in numbers:
            self.user(f"q{number}")
            self.reply(f"a{number}")
        return self

    def write(self, path: Path) -> Path:
        path.write_text("".join(json.dumps(line) + "\n" for line in self.lines), "utf-8")
        return path

    def open(self, folder: Path, files: Files | None = None, model: str | None = MODEL) -> Opened:
        path = self.write(folder / f"{SESSION}.jsonl")
        return open_session(path, Overrides(client_version="2.1.332", model=model), files)


def told(seen: Opened) -> list[str]:
    """The view's items in short."""
    return [item.text or f"{item.kind} {item.call_id}".strip() for item in seen.view.items]
