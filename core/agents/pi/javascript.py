"""How JavaScript writes texts and numbers, where pi's requests depend on it."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

from core.errors import ClientRefuses

SAFE_INTEGER = 1 << 53
"""Up to here JavaScript's numbers are exact."""

LARGEST_PLAIN = 1e21
"""From here on JavaScript writes a number with an exponent."""

DEEPEST = 200
"""Levels of nested arguments that are followed."""


def truthy(value: Any) -> bool:
    """Whether JavaScript takes a JSON value for true: also an empty list or object."""
    return value is not None and value is not False and value != 0 and value != ""


def as_text(value: Any) -> str:
    """A value as JavaScript puts it into a text."""
    if isinstance(value, str):
        return value
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < LARGEST_PLAIN else repr(value)
    if isinstance(value, list):
        return ",".join("" if part is None else as_text(part) for part in value)
    return "[object Object]" if isinstance(value, dict) else str(value)


def field_text(fields: dict[str, Any], name: str) -> str:
    """The same for a field, which may be missing."""
    return as_text(fields[name]) if name in fields else "undefined"


def sent_json(value: Any, level: int = 0) -> Any:
    """A JSON value as it arrives after JavaScript has read and written it: its numbers are doubles.

    Raises ClientRefuses below `DEEPEST`, though the client would go on.
    """
    if level > DEEPEST:
        raise ClientRefuses(f"arguments of a tool call are nested deeper than {DEEPEST} levels: not shown")
    if isinstance(value, dict):
        return {key: sent_json(part, level + 1) for key, part in value.items()}
    if isinstance(value, list):
        return [sent_json(part, level + 1) for part in value]
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return value
    if isinstance(value, int) and abs(value) <= SAFE_INTEGER:
        return value
    return _sent_number(value)


def double(value: int | float) -> float:
    """A number as JavaScript holds it; infinite where it has too many digits."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _sent_number(value: int | float) -> int | float | None:
    number = double(value)
    if not math.isfinite(number):
        return None
    return int(Decimal(repr(number))) if number.is_integer() and abs(number) < LARGEST_PLAIN else number


def cut(text: str, units: int) -> str:
    """The first `units` UTF-16 units of `text`, as JavaScript's `slice` counts."""
    if len(text) <= units and text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass")[: 2 * units].decode("utf-16-le", "surrogatepass")


def length(text: str) -> int:
    """UTF-16 units, as JavaScript counts."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2
