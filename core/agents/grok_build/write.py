"""A proposal as a new `chat_history.jsonl` in the place of the old one, or in a folder of its own beside it.

A line that is not touched keeps its bytes. The summary takes the place of the first line that it stands for, in the
words and with the mark that grok's own summaries have, so that its next compaction knows ours (1.0.41). updates.jsonl
stays as it is: grok reads it only where the history is missing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from core.agents.deciding import Deciding, Decisions
from core.agents.grok_build.messages import COMPACTION, SUMMARY_PREAMBLE
from core.agents.grok_build.records import HISTORY, SIGNALS, SUMMARY, UPDATES, detail, history_entries, json_file, value
from core.agents.grok_build.repair import dropped
from core.agents.grok_build.units import options, units
from core.agents.grok_build.view import loaded
from core.agents.protocol import Stamp
from core.errors import CommitRefused
from core.files import holding
from core.jsonl import encode as encoded
from core.patch import Change, Create, Kept, Patch, Piece, Replace
from core.proposal import Proposal
from core.session import Entry, Session
from core.view import View

LOCK = f"{HISTORY}.lock"
"""What grok holds while it appends."""


def wrapped(text: str) -> str:
    """A summary as grok hands it to the model."""
    return f"{SUMMARY_PREAMBLE}\n\nSummary:\n{text}"


def encode(session: Session, view: View, proposal: Proposal, stamp: Stamp) -> Patch:
    """The proposal as a replacement of the history. Raises CommitRefused where this session can't carry it."""
    _require_history(session)
    if detail(session).end is not None:
        raise CommitRefused(f"{session.path}: the view ends before the file does: use --as fork")
    with holding(session.files, session.path):
        pieces = tuple(_pieces(session, view, proposal))
        size = session.files.size(session.path)
    if pieces == (Kept(0, size),):
        raise CommitRefused(f"{session.path}: nothing in the view would change")
    change = Replace(session.path, size, pieces)
    return Patch((change,), session.path, "replace", locks=(session.path.with_name(LOCK),))


def fork(session: Session, view: View, proposal: Proposal, stamp: Stamp) -> Patch:
    """The view as a session in a folder of its own, with the proposal carried out. Raises CommitRefused."""
    _require_history(session)
    digits = stamp.new_id()
    identity = f"{digits[:8]}-{digits[8:12]}-7{digits[13:16]}-a{digits[17:20]}-{digits[20:32]}"
    folder = session.path.parent.with_name(identity)
    if session.files.exists(folder / HISTORY):
        raise CommitRefused(f"{folder} exists already: fork again")
    with holding(session.files, session.path):
        pieces = tuple(_named(session, piece) for piece in _pieces(session, view, proposal))
    changes: list[Change] = [
        Create(folder / SUMMARY, encoded(_summary_file(session, identity)) + b"\n"),
        Create(folder / HISTORY, pieces=pieces),
    ]
    signals = json_file(session.files, session.path.parent / SIGNALS)
    if signals is not None:
        changes.insert(0, Create(folder / SIGNALS, encoded(signals) + b"\n"))
    return Patch(tuple(changes), folder / HISTORY, "fork")


def _require_history(session: Session) -> None:
    known = detail(session)
    if known.refusal:
        raise CommitRefused(f"{session.path}: grok does not load it: {known.refusal}")
    if known.is_rebuilt or session.path.name in (UPDATES, SUMMARY):
        raise CommitRefused(
            f"{session.path}: without {HISTORY} grok makes the history anew from its updates: resume it once in grok"
        )


def _named(session: Session, piece: Piece) -> Piece:
    return Kept(piece.start, piece.stop, session.path) if isinstance(piece, Kept) else piece


def _summary_file(session: Session, identity: str) -> dict[str, Any]:
    """summary.json under the new id; without the parent's fork, of which grok would remind the model."""
    known = {
        name: told for name, told in detail(session).summary.items() if name not in ("parent_session_id", "forked_at")
    }
    info = known.get("info")
    return known | {"info": {**(info if isinstance(info, dict) else {}), "id": identity}}


def _pieces(session: Session, view: View, proposal: Proposal) -> Iterator[Piece]:
    """The rope of the lines that stay and those that are new."""
    decisions = Deciding(view, units(view), options).decide(proposal)
    gone = {entry for how in ("summarize", "drop") for entry in decisions.entries_gone(how)}
    gone |= _unpaired(session, view, decisions)
    summarised = next(iter(decisions.entries_gone("summarize")), None)
    at = 0
    last = None
    for entry in history_entries(session):
        new = _line(session, entry, decisions, gone, summarised)
        last = entry
        if new is None:
            continue
        stop = entry.offset + entry.length
        if at < entry.offset:
            yield Kept(at, entry.offset)
        if new:
            yield new
            at = stop
        else:
            at = _after(session, stop)
    end = session.files.size(session.path)
    if detail(session).end is not None and last is not None:
        end = max(at, _after(session, last.offset + last.length))
    if at < end:
        yield Kept(at, end)


def _line(session: Session, entry: Entry, decisions: Decisions, gone: set[str], summarised: str | None) -> bytes | None:
    """What stands in the place of a line: other bytes, none at all (empty), or the line itself (None)."""
    if entry.id == summarised and decisions.summary is not None:
        parts = [{"type": "text", "text": wrapped(decisions.summary.text)}]
        return encoded({"type": "user", "content": parts, "synthetic_reason": COMPACTION})
    if entry.id in gone:
        return b""
    new = decisions.shortened.get(entry.id)
    if new is None:
        return None
    line: dict[str, Any] = dict(value(session, entry))
    line["content"] = new.text
    if new.what == "point":
        line.pop("images", None)
    return encoded(line)


def _unpaired(session: Session, view: View, decisions: Decisions) -> set[str]:
    """Lines of results that grok itself drops, as a later one answers the same call: they go with the call."""
    left = {unit.id for unit in decisions.units} - decisions.gone.keys()
    calls = {
        view.items[at].call_id
        for unit in decisions.units
        if unit.id not in left
        for at in unit.items
        if view.items[at].kind == "tool_call"
    }
    stored = loaded(session)
    lost = dropped(stored)
    return {one.source.entry for one in stored if one.source in lost and one.call_id in calls}


def _after(session: Session, stop: int) -> int:
    """Behind the end of a line that ends at `stop`: its line feed goes with it."""
    found = session.files.read(session.path, stop, 2)
    return stop + (2 if found == b"\r\n" else 1 if found[:1] == b"\n" else 0)
