"""Compares two model views as a person would: what is one text to the model may stand in several parts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

FIELDS = ("text", "call_id", "name", "arguments", "media_type", "sha256", "opaque")


def comparable(items: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The items with only what the model gets: neighbouring texts of one role joined, ends of texts trimmed."""
    out: list[dict[str, Any]] = []
    for item in items:
        role = "system" if item["role"] == "developer" else item["role"]
        kept = {name: item[name] for name in FIELDS if item.get(name) not in (None, "", False)}
        kept |= {"role": role, "type": item["type"]}
        if isinstance(kept.get("arguments"), str):
            kept["arguments"] = _parsed(kept["arguments"])
        if kept["type"] == "text":
            if not kept.get("text", "").strip():
                continue
            last = out[-1] if out else None
            if last is not None and (last["type"], last["role"]) == ("text", role):
                last["text"] = last["text"].rstrip() + "\n" + kept["text"].lstrip("\n")
                continue
        out.append(kept)
    return [_trimmed(item) for item in out]


def _trimmed(item: dict[str, Any]) -> dict[str, Any]:
    text = item.pop("text", "").rstrip()
    return {**item, "text": text} if text else item


def _parsed(arguments: str) -> Any:
    try:
        return json.loads(arguments)
    except ValueError:
        return arguments
