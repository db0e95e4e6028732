"""What Claude Code keeps beside a tool result for its own display (`toolUseResult`): never sent to the model."""

from __future__ import annotations

from typing import Any

from scripts.samples.story import Action

SHOWN = 30_000
"""Characters of a command's output that are kept for the display (2.1.332)."""


def displayed(action: Action, name: str, given: dict[str, Any], text: str) -> dict[str, Any] | str:
    """The display of one result; `text` is what the model is sent."""
    result = action.result
    if result.failed or result.exit_code:
        return f"Error: {text[:SHOWN]}"
    if name == "Read":
        return {"type": "text", "file": _file(given["file_path"], action)}
    if name == "Grep":
        lines = result.text.count("\n") + 1
        return {"mode": "content", "numFiles": 0, "filenames": [], "content": result.text, "numLines": lines}
    if name == "Edit":
        changed = {"oldString": given["old_string"], "newString": given["new_string"], "replaceAll": False}
        return {"filePath": given["file_path"], **changed, "userModified": False}
    if name == "Write":
        return {"type": "create", "filePath": given["file_path"], "content": given["content"]}
    if name == "TodoWrite":
        return {"oldTodos": [], "newTodos": given["todos"]}
    return {"stdout": result.text[:SHOWN], "stderr": "", "interrupted": False, "isImage": False}


def _file(path: str, action: Action) -> dict[str, Any]:
    lines = action.result.text.count("\n") + 1
    first = int(action.call.arguments.get("offset") or 1)
    in_all = first - 1 + lines + action.result.lines_left
    return {
        "filePath": path,
        "content": action.result.text,
        "numLines": lines,
        "startLine": first,
        "totalLines": in_all,
    }
