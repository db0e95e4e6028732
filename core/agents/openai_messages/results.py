"""Where the content of a stored result stands in the bytes of its message, and what can take its place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from core.agents.deciding import Shortened
from core.agents.openai_messages.content import is_picture
from core.agents.openai_messages.heads import value_of
from core.agents.openai_messages.items import items_of
from core.agents.openai_messages.scanning import CLOSE_BRACE, CLOSE_BRACKET, COLON, OPEN_BRACE, OPEN_BRACKET, Scanner
from core.agents.openai_messages.style import Style
from core.errors import CommitRefused

TEXT_OUTPUTS = frozenset(
    {"function_call_output", "custom_tool_call_output", "local_shell_call_output", "apply_patch_call_output"}
)
"""Responses items whose `output` may be a text."""


def content_place(scanner: Scanner, start: int, value: Any, role: str, part: int) -> tuple[int, int]:
    """Where the content of the result that is item `part` of a message begins and ends. Raises CommitRefused.

    `start`: where the message begins; `value`: what it holds.
    """
    kind = value.get("type")
    if role == "tool" and kind in TEXT_OUTPUTS | {"shell_call_output"}:
        return _member(scanner, start, "output")
    if role in ("tool", "function") and not isinstance(kind, str):
        return _member(scanner, start, "content")
    if role == "user" and isinstance(value.get("content"), list):
        number = _block_of(value["content"], part)
        begin, _ = _member(scanner, start, "content")
        places = list(_elements(scanner, begin))
        if number < len(places):
            return _member(scanner, places[number][0], "content")
    raise CommitRefused(
        f"a result of the kind {kind or role} can't be shortened: summarise or drop its exchange instead"
    )


def _block_of(content: list[Any], part: int) -> int:
    """The number of the block from which the item `part` of the message comes."""
    first = 0
    for number, block in enumerate(content):
        first += len(items_of("", {"role": "user", "content": [block]}, "user"))
        if part < first:
            return number
    return len(content)


def _member(scanner: Scanner, start: int, name: str) -> tuple[int, int]:
    """Where the value of an object's member begins and ends; of two of one name the last counts."""
    found = None
    if scanner.peek(start) == OPEN_BRACE:
        for key, begin, end in _members(scanner, start):
            found = (begin, end) if key == name else found
    if found is None:
        raise CommitRefused(f"the result has no {name}: summarise or drop its exchange instead")
    return found


def _members(scanner: Scanner, start: int) -> Iterator[tuple[Any, int, int]]:
    at = scanner.over_separator(start + 1)
    while scanner.peek(at) != CLOSE_BRACE:
        end = scanner.over_value(at)
        colon = scanner.over_space(end) if end is not None else at
        if end is None or scanner.peek(colon) != COLON:
            return
        begin = scanner.over_space(colon + 1)
        after = scanner.over_value(begin)
        if after is None:
            return
        yield value_of(scanner.read(at, end)), begin, after
        at = scanner.over_separator(after)


def _elements(scanner: Scanner, start: int) -> Iterator[tuple[int, int]]:
    if scanner.peek(start) != OPEN_BRACKET:
        return
    at = scanner.over_separator(start + 1)
    while scanner.peek(at) != CLOSE_BRACKET:
        end = scanner.over_value(at)
        if end is None:
            return
        yield at, end
        at = scanner.over_separator(end)


def content_of(stored: Any, shortened: Shortened, kind: str, wire: str, style: Style) -> bytes:
    """The new content as JSON: a text; of a limited result with pictures, the text and then those."""
    if kind == "shell_call_output":
        last = stored[-1] if isinstance(stored, list) and stored else {}
        outcome = last.get("outcome") if isinstance(last, dict) else None
        given = {} if outcome is None else {"outcome": outcome}
        return style.dump([{"stdout": shortened.text, "stderr": "", **given}])
    pictures = [part for part in stored if is_picture(part)] if isinstance(stored, list) else []
    if shortened.what == "point" or not pictures:
        return style.dump(shortened.text)
    text = "input_text" if wire == "openai-responses" else "text"
    return style.dump([{"type": text, "text": shortened.text}, *pictures])
