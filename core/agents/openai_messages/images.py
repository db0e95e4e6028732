"""The bytes of an image item, read from the file when somebody wants to see them."""

from __future__ import annotations

from collections.abc import Sequence

from core.agents.openai_messages.items import shown
from core.agents.openai_messages.records import stored
from core.session import Session
from core.view import Source


def image(session: Session, source: Sequence[Source]) -> bytes | None:
    """The bytes of the image at this place; None where there is none, or only its address is stored."""
    entry = session.entry(source[-1].entry) if source else None
    if entry is None or entry.kind in ("request", "conversation"):
        return None
    for item, picture in shown(entry.id, stored(session, entry), entry.role):
        if item.source[0].part == source[-1].part and picture is not None:
            return picture.data or None
    return None
