"""The bytes of an image item, read from the file when somebody wants to see them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from core.agents.codex.rebuilding import PARTS_OF_AN_ITEM
from core.agents.codex.records import payload
from core.agents.codex.showing import data_of
from core.session import Session
from core.view import Source


def image(session: Session, source: Sequence[Source]) -> bytes | None:
    """The bytes of the image that stands at the last of these places; None where there is none."""
    if not source:
        return None
    place = source[-1]
    entry = session.entry(place.entry)
    if entry is None:
        return None
    item, part = payload(session, entry), place.part
    if entry.kind == "compacted":
        number, part = divmod(part, PARTS_OF_AN_ITEM)
        found = _at(item.get("replacement_history"), number)
        item = found if isinstance(found, dict) else {}
    address = _address(item, part)
    data = data_of(address) if address is not None else None
    return data[1] if data is not None else None


def _address(item: Mapping[str, Any], part: int) -> str | None:
    """The address of a picture in an item."""
    if item.get("type") == "image_generation_call":
        result = item.get("result")
        return f"data:image/png;base64,{result}" if isinstance(result, str) else None
    parts = item.get("content") if isinstance(item.get("content"), list) else item.get("output")
    found = _at(parts, part)
    address = found.get("image_url") if isinstance(found, dict) else None
    return address if isinstance(address, str) else None


def _at(values: Any, number: int) -> Any:
    return values[number] if isinstance(values, list) and 0 <= number < len(values) else None
