"""The tool definitions beside the messages, and the tokens that a request costs beside its texts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from core.agents.openai_messages.content import compact, plain
from core.agents.openai_messages.records import TOOL_FIELDS, detail, field_value
from core.resume import Resume
from core.session import Session
from core.view import Item, Source, View

# Tokens by OpenAI's cookbook ("How to count tokens with tiktoken", for gpt-4, gpt-4o and later; read November 2026).
REPLY = 3
"""Each reply is primed with them."""
MESSAGE = 3
ROLE = 1
NAME = 1
CALL = 3
"""Not documented; what estimates in use charge around a call's name and arguments."""
FUNCTION, OLD_FUNCTION = 7, 10
"""Around a function; the second for gpt-3.5 and gpt-4, but not gpt-4o and later."""
PROPERTIES, PROPERTY = 3, 3
ENUM, ENUM_VALUE = -3, 3
TOOLS_END = 12


def system(session: Session, resume: Resume) -> tuple[Item, ...]:
    """The tool definitions, one item each, by name; the system prompt is in the view."""
    return tuple(
        Item("system", "text", _words(tool, resume), name=_name(tool), source=(Source(entry, number),))
        for entry, number, tool in _tools(session)
    )


def framing_tokens(session: Session, resume: Resume, view: View) -> int:
    """Tokens around the items: of messages, calls and tool definitions. 0 where the provider publishes no rule."""
    if _is_anthropic(resume):
        return 0
    named = sum(NAME for item in view.items if item.kind == "text" and item.name)
    calls = sum(CALL for item in view.items if item.kind == "tool_call")
    messages = len({item.source[0].entry for item in view.items})
    tools = [tool for _, _, tool in _tools(session)]
    around = sum(_around(tool, resume) for tool in tools) + (TOOLS_END if tools else 0)
    return REPLY + (MESSAGE + ROLE) * messages + named + calls + around


def _is_anthropic(resume: Resume) -> bool:
    return resume.wire is not None and resume.wire.value == "anthropic-messages"


def _tools(session: Session) -> Iterator[tuple[str, int, dict[str, Any]]]:
    known = detail(session)
    for name in TOOL_FIELDS:
        value = field_value(session, name) if name in known.fields else None
        for number, tool in enumerate(value if isinstance(value, list) else ()):
            if isinstance(tool, dict):
                yield known.fields[name].id, number, tool


def _function(tool: dict[str, Any]) -> dict[str, Any]:
    """The function in a tool: Chat Completions puts it one level down."""
    function = tool.get("function")
    return function if isinstance(function, dict) else tool


def _name(tool: dict[str, Any]) -> str:
    return plain(_function(tool).get("name") or tool.get("type"))


def _properties(tool: dict[str, Any]) -> dict[str, Any]:
    parameters = _function(tool).get("parameters")
    found = parameters.get("properties") if isinstance(parameters, dict) else None
    return found if isinstance(found, dict) else {}


def _words(tool: dict[str, Any], resume: Resume) -> str:
    """What of a definition is counted as text."""
    if _is_anthropic(resume) or "name" not in _function(tool):
        return compact(tool)
    lines = [f"{_name(tool)}:{plain(_function(tool).get('description')).removesuffix('.')}"]
    for key, value in _properties(tool).items():
        fields = value if isinstance(value, dict) else {}
        lines.append(f"{key}:{plain(fields.get('type'))}:{plain(fields.get('description')).removesuffix('.')}")
        lines += map(plain, _enum(fields))
    return "\n".join(lines)


def _enum(fields: dict[str, Any]) -> list[Any]:
    found = fields.get("enum")
    return found if isinstance(found, list) else []


def _around(tool: dict[str, Any], resume: Resume) -> int:
    """Tokens of a definition beside its words."""
    model = resume.model.value if resume.model is not None else ""
    old = model == "gpt-4" or model.startswith(("gpt-3.5", "gpt-4-"))
    properties = _properties(tool)
    tokens = (OLD_FUNCTION if old else FUNCTION) + (PROPERTIES + PROPERTY * len(properties) if properties else 0)
    for value in properties.values():
        values = _enum(value) if isinstance(value, dict) else []
        tokens += ENUM + ENUM_VALUE * len(values) if values else 0
    return tokens
