"""The bytes of an image item, read from the file when somebody wants to see them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core.agents.pi.records import record
from core.agents.pi.wires.common import image_bytes
from core.session import Session
from core.view import Source


def image(session: Session, source: Sequence[Source]) -> bytes | None:
    """The bytes of the image that stands at the last of these places; None where there is none."""
    if not source:
        return None
    place = source[-1]
    entry = session.entry(place.entry)
    content = _content(record(session, entry)) if entry is not None else None
    if not isinstance(content, list) or not 0 <= place.part < len(content):
        return None
    part = content[place.part]
    return image_bytes(part) if isinstance(part, dict) and part.get("type") == "image" else None


def _content(stored: dict[str, Any]) -> Any:
    """The content list of a message, an extension's message or an edit's replacement."""
    holder = stored.get("message") or stored.get("replacement") or stored
    return holder.get("content") if isinstance(holder, dict) else None
