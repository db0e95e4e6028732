"""A proposal as a whole new history in the place of the old one; lines that are not touched keep their bytes.

grok itself replaces the file at each compaction and resume (1.0.41), and counts summary.json anew when it loads.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from core.agents.deciding import Deciding, Decisions
from core.agents.grok_build.messages import COMPACTION, SUMMARY_PREAMBLE
from core.agents.grok_build.records import detail, value
from core.agents.grok_build.units import options, units
from core.agents.protocol import Stamp
from core.errors import CommitRefused
from core.files import holding
from core.patch import Kept, Patch, Piece, Replace
from core.proposal import Proposal
from core.session import Entry, Session
from core.view import View

LOCK_SUFFIX = ".lock"


def encode(session: Session, view: View, proposal: Proposal, stamp: Stamp) -> Patch:
    """The proposal as a replacement of the history. Raises CommitRefused where this session can't carry it."""
    known = detail(session)
    if known.refusal:
        raise CommitRefused(f"{session.path}: grok would not load this session: {known.refusal}")
    if known.is_rebuilt:
        raise CommitRefused(f"{session.path}: the history is missing: open the session in grok once, then try again")
    if known.end is not None:
        raise CommitRefused(f"{session.path}: the view ends before the file does: choose its end")
    decisions = Deciding(view, units(view), options).decide(proposal)
    changed = _changed(session, view, decisions)
    if not changed:
        raise CommitRefused(f"{session.path}: nothing in the view would change")
    with holding(session.files, session.path):
        size = session.files.size(session.path)
        pieces = tuple(_pieces(session, changed, size))
    if not pieces:
        raise CommitRefused(f"{session.path}: no message would be left: keep one, or summarise instead")
    lock = session.path.with_name(session.path.name + LOCK_SUFFIX)
    return Patch((Replace(session.path, size, pieces),), session.path, "replace", locks=(lock,))


def _changed(session: Session, view: View, decisions: Decisions) -> dict[str, bytes]:
    """What stands in the place of an entry, by its id; empty where its line goes."""
    summarised = decisions.entries_gone("summarize")
    changed = dict.fromkeys((*summarised, *decisions.entries_gone("drop")), b"")
    if changed:
        _require_all_shown(session, view)
    for source, shortened in decisions.results.items():
        entry = session.entry(source.entry)
        if entry is None:
            raise CommitRefused(f"{session.path}: no entry {source.entry!r}: make the proposal again")
        changed[entry.id] = msgspec.json.encode({**value(session, entry), "content": shortened.text})
    if decisions.summary is not None:
        first = min(summarised, key=lambda one: _entry(session, one).offset)
        changed[first] = _summary(decisions.summary.text)
    return changed


def _entry(session: Session, identity: str) -> Entry:
    entry = session.entry(identity)
    if entry is None:
        raise CommitRefused(f"{session.path}: no entry {identity!r}: make the proposal again")
    return entry


def _require_all_shown(session: Session, view: View) -> None:
    """Raise CommitRefused where a stored line is hidden behind what may go: it could come back into the view."""
    shown = {source.entry for item in view.items for source in item.source}
    for entry in session.entries:
        if entry.id not in shown and entry.role not in ("system", ""):
            raise CommitRefused(
                f"{session.path}: line {entry.line} is stored but not sent, and could be once others go: "
                "shorten results instead"
            )


def _summary(text: str) -> bytes:
    content: list[dict[str, Any]] = [{"type": "text", "text": f"{SUMMARY_PREAMBLE}\n\nSummary:\n{text}"}]
    return msgspec.json.encode({"type": "user", "content": content, "synthetic_reason": COMPACTION})


def _pieces(session: Session, changed: dict[str, bytes], size: int) -> Iterator[Piece]:
    """The rope of lines that stay and lines that are new."""
    at = 0
    for entry in session.entries:
        new = changed.get(entry.id)
        if new is None:
            continue
        stop = entry.offset + entry.length
        if not new:
            end = session.files.read(session.path, stop, 2)
            stop += 2 if end == b"\r\n" else 1 if end[:1] == b"\n" else 0
        if at < entry.offset:
            yield Kept(at, entry.offset)
        if new:
            yield new
        at = stop
    if at < size:
        yield Kept(at, size)
