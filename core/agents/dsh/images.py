"""The pictures of a dsh session: they lie beside the logs, named after their content."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from core.agents.dsh.finding import home
from core.agents.dsh.records import data_of, message_of
from core.agents.dsh.request import ALGORITHM
from core.files import Files
from core.session import Session
from core.view import Source

_DIGEST = re.compile(r"[0-9a-f]{64}")


def _stores(path: Path) -> Iterator[Path]:
    """Where the pictures of a log may lie: beside it, in the home that it lies in, in that of this machine."""
    yield path.parent
    if len(path.parents) > 3:
        yield path.parents[3]
    yield home()


def place_of(files: Files, path: Path, digest: str) -> Path | None:
    """The file of one picture; None where it is not found."""
    if not _DIGEST.fullmatch(digest):
        return None
    for store in _stores(path):
        found = store / "attachments" / "v1" / "objects" / digest[:2] / digest
        if files.exists(found):
            return found
    return None


def image(session: Session, source: Sequence[Source]) -> bytes | None:
    """The bytes of the picture that stands at the last of these places; None where there is none. Raises OSError."""
    if not source:
        return None
    entry = session.entry(source[-1].entry)
    if entry is None:
        return None
    if entry.role:
        content = message_of(session, entry.id)[1].get("content")
        found = next(_pictures(content, source[-1].part, entry.kind == "tool/result"), None)
    else:
        inserted = data_of(session, entry.id).get("inserted")
        message = _at(inserted, source[-1].part)
        blocks = message.get("content") if isinstance(message, dict) else None
        found = next((block for block in _listed(blocks) if _is_picture(block)), None)
    stored = found.get("attachment") if found is not None else None
    name = stored.get("attachmentId") if isinstance(stored, dict) else None
    place = place_of(session.files, session.path, str(name).removeprefix(ALGORITHM))
    return None if place is None else session.files.read(place, 0, session.files.size(place))


def _pictures(content: Any, part: int, is_result: bool) -> Iterator[dict[str, Any]]:
    if is_result:
        result = _at(content, 0)
        content = result.get("content") if isinstance(result, dict) else None
    block = _at(content, part)
    if isinstance(block, dict) and _is_picture(block):
        yield block


def _is_picture(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") == "image"


def _listed(values: Any) -> list[Any]:
    return values if isinstance(values, list) else []


def _at(values: Any, number: int) -> Any:
    return values[number] if isinstance(values, list) and 0 <= number < len(values) else None
