"""What the tool calls of a view did: each call with its result, in words that pruning and pointers need."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from core.agents.protocol import Profile, Tool
from core.patches import patched
from core.view import Item, Unit


@dataclass(frozen=True, slots=True)
class Call:
    """One answered call of a view."""

    unit: str
    """The unit that it belongs to."""
    order: int
    """Index of the unit in the view's units."""
    result: int
    """Position of the result item in the view."""
    tool: Tool
    path: str
    command: str
    key: str
    """Tool and arguments in one canonical string: equal for the same call made again."""
    changed: tuple[str, ...]
    """The files that an edit changed: its path, or all that its patch names."""
    span: tuple[int, int] | None
    """Lines read, (first, how many), where the call asked for a part of a file."""


def calls_of(units: Sequence[Unit], items: Sequence[Item], profile: Profile) -> tuple[Call, ...]:
    """Every call that has a result of its own, in the order of the results. Repairs are no results."""
    found: list[Call] = []
    for order, unit in enumerate(units):
        asked = {items[at].call_id: items[at] for at in unit.items if items[at].kind == "tool_call"}
        for at in unit.items:
            result = items[at]
            call = asked.get(result.call_id)
            if result.kind != "tool_result" or result.origin == "repair" or call is None:
                continue
            tool = profile.tool(call.name)
            arguments = call.arguments if isinstance(call.arguments, dict) else {}
            found.append(
                Call(
                    unit=unit.id,
                    order=order,
                    result=at,
                    tool=tool,
                    path=_text(arguments.get(tool.path)),
                    changed=_changed(tool, call.arguments, _text(arguments.get(tool.path))),
                    command=_text(arguments.get(tool.command)),
                    key=f"{call.name} {json.dumps(call.arguments, sort_keys=True)}",
                    span=_span(arguments),
                )
            )
    return tuple(found)


def _changed(tool: Tool, arguments: Any, path: str) -> tuple[str, ...]:
    if tool.kind not in ("edit", "write"):
        return ()
    return (path,) if path else tuple(dict.fromkeys(file.path for file in patched(patch_text(arguments))))


def patch_text(arguments: Any) -> str:
    """The patch that a call was given: the whole input, or one of its arguments."""
    if isinstance(arguments, str):
        return arguments
    if not isinstance(arguments, dict):
        return ""
    found = (arguments.get(name) for name in ("input", "patch", "diff"))
    return next((text for text in found if isinstance(text, str)), "")


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""


def _span(arguments: dict[str, Any]) -> tuple[int, int] | None:
    offset, limit = arguments.get("offset"), arguments.get("limit")
    if not isinstance(offset, int) and not isinstance(limit, int):
        return None
    first = offset if isinstance(offset, int) else 1
    return first, limit if isinstance(limit, int) else 1 << 40


def covers(later: Call, earlier: Call) -> bool:
    """Whether a later read shows at least the lines that an earlier one showed."""
    if later.span is None:
        return True
    if earlier.span is None:
        return False
    first, count = later.span
    return first <= earlier.span[0] and earlier.span[0] + earlier.span[1] <= first + count
