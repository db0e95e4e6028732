"""A view of a dsh session as a new session: its events up to the view's end, then what a proposal adds.

dsh's own forks are such copies: the header names the parent, and how many events are the parent's. The inbox of those
does not count any more, so what waits is put in anew.
"""

from __future__ import annotations

from bisect import bisect_right
from pathlib import Path
from typing import Any

from core.agents.dsh.events import Events, new_uuid
from core.agents.dsh.finding import NAMES, folder_name
from core.agents.dsh.inbox import NEXT_STEP, NEXT_TURN
from core.agents.dsh.packing import frame
from core.agents.dsh.records import HEADER, Detail, detail
from core.agents.dsh.view import waiting_message
from core.agents.dsh.write import line_end, new_events
from core.agents.protocol import Stamp
from core.errors import CommitRefused
from core.jsonl import encode
from core.patch import Create, Kept, Patch, Piece, size_of
from core.proposal import Proposal
from core.session import Session
from core.view import View


def fork(session: Session, view: View, proposal: Proposal, stamp: Stamp) -> Patch:
    """The events up to the view's end in a new file, with the proposal carried out; raises CommitRefused.

    Whole frames are copied as they lie in the file; what is new is held in memory.
    """
    known = detail(session)
    if known.is_open and proposal.dispositions:
        words = "the view ends inside a turn that has no end: take the end of a turn as --leaf"
        raise CommitRefused(f"{session.path}: {words}, or resume the session once in dsh, which ends the turn")
    identity = f"session-{new_uuid(stamp)}"
    path = _place(session, identity)
    if session.files.exists(path):
        raise CommitRefused(f"{path} exists already: fork again")
    header = encode(_header(known, session.identity, identity, int(stamp.now * 1000))) + b"\n"
    waiting = _waiting(session, known, stamp)
    added = waiting.lines() + new_events(session, view, proposal, stamp, waiting.seq).lines()
    if known.frames is not None:
        header, added = frame(header), frame(added) if added else b""
    else:
        added = added.replace(b"\n", line_end(session))
    pieces: tuple[Piece, ...] = (header, *_seed(session, known), added)
    return Patch((Create(path, pieces=tuple(piece for piece in pieces if size_of(piece))),), path, "fork")


def _place(session: Session, identity: str) -> Path:
    """Beside the old session, where that has a folder of its own as dsh makes them; else below its folder."""
    folder = session.path.parent
    among = folder.parent if folder.name == folder_name(session.identity) else folder
    return among / folder_name(identity) / NAMES[detail(session).frames is None]


def _header(known: Detail, parent: str, identity: str, time: int) -> dict[str, Any]:
    named: dict[str, Any] = {name: known.header[name] for name in ("cwd", "agentPreset") if name in known.header}
    start = {"type": "session", "version": 0, "id": identity, "createdAt": time}
    if "cwd" in named:
        start["cwd"] = named.pop("cwd")
    return start | {"parentSession": parent, "seedLength": known.next_seq, "delegationDepth": 0} | named


def _waiting(session: Session, known: Detail, stamp: Stamp) -> Events:
    """Events that put what waits into the inbox of the new session."""
    events = Events(known.next_seq, stamp)
    for target, waiting in ((NEXT_STEP, known.next_step), (NEXT_TURN, known.next_turn)):
        if waiting:
            inserted = [waiting_message(session, one) for one in waiting]
            events.add("agent/inbox/spliced", {"target": target, "start": 0, "inserted": inserted})
    return events


def _seed(session: Session, known: Detail) -> tuple[Piece, ...]:
    """The stored events up to the view's end: whole frames as they are, and what is left as a frame of its own."""
    if known.frames is None:
        header = session.entry(HEADER)
        assert header is not None
        start = header.offset + header.length + len(line_end(session))
        return (Kept(start, known.end, session.path),)
    contents, ends = known.frames.contents, known.frames.ends
    whole = bisect_right(contents, known.end)
    rest = session.files.read(session.path, contents[whole - 1], known.end - contents[whole - 1])
    kept = Kept(ends[0], ends[whole - 1], session.path)
    return (kept, frame(rest)) if rest else (kept,)
