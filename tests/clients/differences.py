"""How two model views differ, in lines that a person can read."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

from tests.core.model_view import comparable

MOST = 3
"""Differing items that are shown."""


def differences(
    expected: Iterable[Mapping[str, Any]], got: Iterable[Mapping[str, Any]], names: tuple[str, str]
) -> list[str]:
    """Empty where the model sees the same; `names` say whose view each one is."""
    wanted, had = comparable(expected), comparable(got)
    lines: list[str] = []
    for number in range(max(len(wanted), len(had))):
        left = wanted[number] if number < len(wanted) else None
        right = had[number] if number < len(had) else None
        if left != right:
            lines.append(f"item {number}: {names[0]}: {_short(left)} | {names[1]}: {_short(right)}")
        if len(lines) == MOST:
            return [*lines, f"({len(wanted)} items in {names[0]}, {len(had)} in {names[1]})"]
    return lines


def _short(item: Mapping[str, Any] | None) -> str:
    if item is None:
        return "(nothing)"
    text = item.get("text", "")
    if len(text) > 160:
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
        item = {**item, "text": f"{text[:90]} … {text[-40:]} ({len(text)} characters, {digest})"}
    return json.dumps(item, ensure_ascii=True)
