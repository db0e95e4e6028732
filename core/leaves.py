"""The ends of a session's branches: where else than at the client's choice a view of it may end."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from typing import Any

from core.agents.protocol import Leaf
from core.jsonl import BrokenLine, decode
from core.session import Entry, Session

FIRST_WORDS = 200
"""Characters of a leaf's text that are given with it."""

_TEXTS = ("message", "payload", "data", "content", "text", "thinking", "output", "summary", "name")
"""Members that lead to a record's text, in the order in which they are looked at."""

_LEVELS = 6


def tree_leaves(session: Session, known: Container[str], about: Callable[[Entry], str]) -> Iterator[Leaf]:
    """The leaves of a format whose records name their parents, in file order, the view's own end left out.

    `known` holds the ids of all entries on the way to the view's end, before every boundary too. A dead end that adds
    no message to that way is bookkeeping, no branch. `about` names what kind of leaf it is; empty for none.
    """
    above = {entry.parent for entry in session.entries}
    for entry in session.entries:
        if entry.id in above or entry.id in known or session.entry(entry.id) is not entry:
            continue
        way = list(_way(session, entry, known))
        messages = [one for one in way if one.role in ("user", "assistant")]
        kind = about(entry)
        if messages and kind:
            root = way[-1].parent
            left = root if root is not None and root in known else ""
            yield Leaf(entry.id, kind, len(messages), left, entry.line, entry.time, words_of(session, messages[0]))


def _way(session: Session, leaf: Entry, known: Container[str]) -> Iterator[Entry]:
    """From a leaf up to where its branch left the way to the view's end."""
    entry: Entry | None = leaf
    seen: set[str] = set()
    while entry is not None and entry.id not in known and entry.id not in seen:
        seen.add(entry.id)
        yield entry
        entry = session.entry(entry.parent) if entry.parent is not None else None


def words_of(session: Session, entry: Entry) -> str:
    """How the text of a record begins, in one line; empty where it has none."""
    try:
        return " ".join(_words(decode(session.raw(entry)), _LEVELS)[: FIRST_WORDS * 4].split())[:FIRST_WORDS]
    except (BrokenLine, OSError):
        return ""


def _words(value: Any, levels: int) -> str:
    if isinstance(value, str):
        return value
    if levels == 0:
        return ""
    if isinstance(value, list):
        return next((words for part in value if (words := _words(part, levels - 1)).strip()), "")
    if isinstance(value, dict):
        return next((words for name in _TEXTS if (words := _words(value.get(name), levels - 1)).strip()), "")
    return ""
