"""The route for clients that follow `context_edit` (0.87 and later): nothing is copied, and nothing is out of reach.

A compaction record carries the summary and names the first kept entry; edits leave out or replace what stands behind
it. An edit counts only where it is itself selected: it must stand behind the first kept entry, or behind the
compaction. So an earlier edit that would no longer be selected is made again.

The order keeps pairs whole at every line, should the append be cut short: first what changes nothing (an edit made
again) and what the compaction would part from its call, then the compaction, then the edits of whole units, results
before their call, because a call without a result is answered by pi itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from core.agents.deciding import Decisions, Shortened
from core.agents.pi.chain import Chain, stored_id
from core.agents.pi.context import selected
from core.agents.pi.reading import identity
from core.agents.pi.records import detail, record
from core.session import Entry, Session
from core.view import Unit

CUT_POINTS = frozenset({"user", "assistant", "bashExecution", "custom", "hookMessage"})
"""Roles that may stand first behind a summary; a result would stand without its call."""


def last_edits(session: Session, entries: Iterable[Entry]) -> dict[str, Entry]:
    """Target → the edit of it that counts: the last one among these entries."""
    edits: dict[str, Entry] = {}
    for entry in entries:
        if entry.kind == "context_edit":
            target = identity(record(session, entry).get("targetId"), 0)
            if target is not None:
                edits[target] = entry
    return edits


def edit(chain: Chain, decisions: Decisions, compaction: dict[str, Any] | None) -> None:
    """Add the records that make the view as decided; `compaction` holds the fields that the cut does not change.

    Without `compaction` nothing is summarised, and edits alone do it.
    """
    session = chain.session
    entries = selected(session)
    edits = last_edits(session, entries)
    places = {entry.id: place for place, entry in enumerate(detail(session).path)}
    kept_from = 0
    if compaction is not None:
        first = _first_kept(entries, decisions.kept, places)
        kept_from = places[first.id] if first is not None else len(places)
        _edit_again(chain, edits, places, kept_from)
        for unit in decisions.units:
            if unit.id in decisions.gone and places[unit.entries[0]] < kept_from:
                _leave_out(chain, [entry for entry in unit.entries if places[entry] >= kept_from])
        own = chain.new_id()
        first_id = stored_id(session, first.id) if first is not None else own
        chain.add("compaction", own, firstKeptEntryId=first_id, **compaction)
    for unit in decisions.units:
        # An earlier compaction in the kept range sends nothing beside a new one.
        silent = unit.kind == "summary" and compaction is not None
        if unit.id in decisions.gone and places[unit.entries[0]] >= kept_from and not silent:
            _leave_out(chain, unit.entries)
    for entry_id, shortened in decisions.shortened.items():
        content = result_content(content_of(session, entry_id, edits.get(entry_id)), shortened)
        chain.add("context_edit", targetId=stored_id(session, entry_id), replacement={"content": content})


def left_out(decisions: Decisions, session: Session) -> Sequence[str]:
    """The summarised entries that edits must leave out, because they stand behind the first kept one."""
    places = {entry.id: place for place, entry in enumerate(detail(session).path)}
    first = _first_kept(selected(session), decisions.kept, places)
    if first is None:
        return ()
    return [entry for entry in decisions.entries_gone("summarize") if places[entry] >= places[first.id]]


def _first_kept(entries: Sequence[Entry], kept: Sequence[Unit], places: dict[str, int]) -> Entry | None:
    """The entry that the compaction names as the first one kept; None where nothing is kept.

    Where that would be a result without its call, the nearest entry before it that may stand first, if there is one.
    """
    if not kept:
        return None
    place = min(places[unit.entries[0]] for unit in kept)
    in_order = sorted((entry for entry in entries if entry.kind != "compaction"), key=lambda entry: places[entry.id])
    before = [entry for entry in in_order if places[entry.id] <= place]
    return next((entry for entry in reversed(before) if is_cut_point(entry)), before[-1])


def is_cut_point(entry: Entry) -> bool:
    """Whether pi itself would let the kept part begin with this entry."""
    return entry.kind in ("custom_message", "branch_summary") or entry.role in CUT_POINTS


def _edit_again(chain: Chain, edits: dict[str, Entry], places: dict[str, int], kept_from: int) -> None:
    """Repeat the edits of kept entries that the compaction would put out of force, because they stand before it."""
    for target, entry in edits.items():
        if places.get(target, -1) >= kept_from > places[entry.id]:
            chain.copy(record(chain.session, entry))


def _leave_out(chain: Chain, entries: Sequence[str]) -> None:
    for entry_id in reversed(entries):
        chain.add("context_edit", targetId=stored_id(chain.session, entry_id), replacement=None)


def content_of(session: Session, entry_id: str, edit: Entry | None) -> Any:
    """The content of a stored result, as the edit that counts has made it."""
    entry = session.entry(entry_id)
    assert entry is not None
    if edit is None:
        return record(session, entry)["message"].get("content")
    return record(session, edit)["replacement"].get("content")


def result_content(content: Any, shortened: Shortened) -> list[Any]:
    """The parts of a shortened result: one text, where the first text stood; pictures go with a pointer."""
    text = {"type": "text", "text": shortened.text}
    if shortened.what == "point" or not isinstance(content, list):
        return [text]
    parts: list[Any] = []
    placed = False
    for part in content:
        if not (isinstance(part, dict) and part.get("type") == "text"):
            parts.append(part)
        elif not placed:
            parts.append(text)
            placed = True
    return parts if placed else [text, *parts]
