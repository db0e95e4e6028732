"""The other conversations, and the earlier requests, of a file that holds several."""

from __future__ import annotations

from collections.abc import Iterator

from core.agents.openai_messages.records import detail
from core.agents.protocol import Leaf
from core.leaves import words_of
from core.session import Session


def leaves(session: Session) -> Iterator[Leaf]:
    """Each line that holds a conversation of its own but for the one shown; those of a log are its earlier requests."""
    known = detail(session)
    kind = "request" if known.layout == "log" else "conversation"
    for line in known.lines:
        if line is known.shown:
            continue
        entry = session.entry(line.entry)
        words = words_of(session, entry) if entry is not None and entry.length < LONGEST else ""
        yield Leaf(f"line-{line.number}", kind, 0, "", line.number, None, words)


LONGEST = 1 << 20
"""Bytes of a conversation whose beginning is shown."""
