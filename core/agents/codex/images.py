"""The bytes of an image item, read from the file when somebody wants to see them."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from typing import Any

from core.agents.codex.pictures import data_of
from core.agents.codex.rebuilding import PARTS_OF_AN_ITEM
from core.agents.codex.records import payload
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
    if item.get("type") == "image_generation_call":
        return _generated(item.get("result"))
    parts = item.get("content") if isinstance(item.get("content"), list) else item.get("output")
    found = _at(parts, part)
    address = found.get("image_url") if isinstance(found, dict) else None
    return data_of(address) if isinstance(address, str) else None


def _generated(result: Any) -> bytes | None:
    """The bytes of a picture that the model made."""
    if not isinstance(result, str):
        return None
    try:
        return base64.b64decode(result)
    except (binascii.Error, ValueError):
        return result.encode("utf-8", "surrogatepass")


def _at(values: Any, number: int) -> Any:
    return values[number] if isinstance(values, list) and 0 <= number < len(values) else None
