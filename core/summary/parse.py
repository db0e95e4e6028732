"""Read a handoff document of ours back into the facts that it holds."""

from __future__ import annotations

from core.summary.document import Section, read_document
from core.summary.rows import from_sections
from core.summary.state import Facts
from core.summary.template import Language


def is_ours(text: str) -> bool:
    """Whether the text, perhaps within a client's wrapper, is a handoff document written here."""
    return read_document(text) is not None


def parse(text: str) -> Facts | None:
    """The facts that the document holds; None where it is none of ours. Rows marked as shortened stay so."""
    read = read_document(text)
    return None if read is None else from_sections(read[1])


def sections(text: str) -> tuple[Section, ...]:
    """The document's sections as they stand; empty where it is none of ours."""
    read = read_document(text)
    return () if read is None else read[1]


def language(text: str) -> Language | None:
    """The language of the document's fixed texts; None where it is none of ours."""
    read = read_document(text)
    return None if read is None else read[0]
