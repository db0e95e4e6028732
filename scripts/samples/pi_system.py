"""An invented system prompt for the samples: short texts of our own in the sections that pi 1.6.0 stores."""

from __future__ import annotations

from typing import Any

SECTIONS = {
    "preamble": (
        "You help a programmer from the terminal. You read and change the files of one project and run its commands. "
        "Say what you are about to do in a sentence, do it, and report what came out of it."
    ),
    "tools": (
        "read shows a file, grep searches, edit replaces a text that stands in a file exactly once, write makes a "
        "whole file, bash runs a command, todo keeps the plan that the user sees."
    ),
    "rules": (
        "Read a file before you change it. Prefer small edits. Run the tests that belong to a change. Never undo the "
        "user's own changes. Do what the user asked and no more. Keep the plan up to date."
    ),
    "docs": "The project's own notes are in its docs folder.",
    "cwd": "Working folder: {cwd}",
}


def _tool(name: str, description: str, required: tuple[str, ...], **properties: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return {"name": name, "description": description, "parameters": schema}


_STRING = {"type": "string"}
_NUMBER = {"type": "number"}
_EDIT = {"type": "object", "properties": {"oldText": _STRING, "newText": _STRING}, "required": ["oldText", "newText"]}
_STEP = {"type": "object", "properties": {"content": _STRING, "status": _STRING}, "required": ["content", "status"]}

TOOLS: list[dict[str, Any]] = [
    _tool("read", "Show a file, or some of its lines.", ("path",), path=_STRING, offset=_NUMBER, limit=_NUMBER),
    _tool("bash", "Run a command in the working folder.", ("command",), command=_STRING, timeout=_NUMBER),
    _tool("edit", "Replace texts in a file.", ("path", "edits"), path=_STRING, edits={"type": "array", "items": _EDIT}),
    _tool("write", "Write a whole file.", ("path", "content"), path=_STRING, content=_STRING),
    _tool("grep", "Search files for a regular expression.", ("pattern",), pattern=_STRING, path=_STRING),
    _tool("todo", "Set the plan.", ("action",), action=_STRING, todos={"type": "array", "items": _STEP}),
]
