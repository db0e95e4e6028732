"""A session, or its past up to an entry, as a new rollout beside the old one."""

from __future__ import annotations

from typing import Any

from core.agents.codex.contents import sound
from core.agents.codex.records import detail, record
from core.agents.codex.units import options, units
from core.agents.codex.write import Records, checkpoint, uuid7
from core.agents.deciding import Deciding
from core.agents.protocol import Stamp
from core.compressed import is_compressed, stored
from core.errors import CommitRefused
from core.files import holding
from core.jsonl import encode as as_json
from core.patch import Create, Kept, Patch, Piece
from core.proposal import Proposal
from core.session import Entry, Session
from core.times import iso_time
from core.view import View

NOT_INHERITED = ("parent_thread_id", "agent_nickname", "agent_role", "agent_path", "forked_from_ordinal_exclusive")
"""What a fork's first line does not take over: it is a session of the user's own, also where a sub-agent was forked."""


def fork(session: Session, view: View, proposal: Proposal, stamp: Stamp) -> Patch:
    """A new rollout with its own id that inherits the session up to its leaf, as Codex forks; raises CommitRefused.

    One of a session with numbered records holds only its own lines and names the place where it left its parent. In
    sessions of the older kind the parent's lines are copied behind the fork's own first line, as Codex then did.
    """
    leaf = session.entry(session.leaf) if session.leaf is not None else None
    if leaf is None:
        raise CommitRefused(f"{session.path}: it holds nothing that could be forked")
    identity = uuid7(stamp)
    time = iso_time(stamp.now)
    path = session.path.parent / f"rollout-{time[:19].replace(':', '-')}-{identity}.jsonl"
    if session.files.exists(path):
        raise CommitRefused(f"{path} exists already: fork again")
    with holding(session.files, session.path):
        pieces = tuple(_pieces(session, view, proposal, stamp, leaf, identity))
    return Patch((Create(path, pieces=pieces),), path, "fork")


def _pieces(session: Session, view: View, proposal: Proposal, stamp: Stamp, leaf: Entry, identity: str) -> list[Piece]:
    known = detail(session)
    start = _start(session, stamp, identity)
    if known.paginated:
        ordinal = _ordinal_behind(session, leaf)
        thread = leaf.id.rpartition(":")[0] or session.identity
        base = {"thread_id": thread, "end_ordinal_exclusive": ordinal, "end_byte_offset": _end(session, leaf)}
        start |= {"forked_from_ordinal_exclusive": ordinal, "history_base": base}
        records = Records(stamp, ordinal)
    else:
        records = Records(stamp, None)
    records.add("session_meta", as_json(start))
    if known.paginated and session.title:
        # Codex lists a session by what its own file says of the user's words; the parent's does not count.
        records.add("event_msg", as_json({"type": "user_message", "message": sound(session.title), "kind": "plain"}))
    head = records.lines()
    if proposal.dispositions:
        decided = Deciding(view, units(view), options).decide(proposal)
        checkpoint(records, session, view, proposal, decided, stamp)
    tail = records.lines()[len(head) :]
    return [head + tail] if known.paginated else [head, *_copied(session, leaf), tail]


def _start(session: Session, stamp: Stamp, identity: str) -> dict[str, Any]:
    """The first line of the fork: its parent's, but for what is its own."""
    old = detail(session).start
    start: dict[str, Any] = {name: one for name, one in old.items() if name not in (*NOT_INHERITED, "history_base")}
    own = {"id": identity, "timestamp": iso_time(stamp.now), "forked_from_id": session.identity}
    if "session_id" in start:
        own["session_id"] = identity
    if isinstance(start.get("context_window"), dict):
        own["context_window"] = {"window_id": uuid7(stamp)}  # type: ignore[assignment]
    if isinstance(start.get("source"), dict) and "subagent" in start["source"]:
        own["source"] = "cli"
    return {**start, **own}


def _ordinal_behind(session: Session, leaf: Entry) -> int:
    """The number behind the last record that is inherited."""
    for entry in reversed(session.entries[: leaf.index + 1]):
        number = record(session, entry).get("ordinal")
        if isinstance(number, int):
            return number + 1
    raise CommitRefused(f"{session.path}: none of its records has a number, so none can be named: resume it in Codex")


def _end(session: Session, leaf: Entry) -> int:
    """Bytes of the leaf's (unpacked) file up to and with the end of its line."""
    path, end = leaf.path or session.path, leaf.offset + leaf.length
    behind = session.files.read(path, end, 2)
    return end + (2 if behind == b"\r\n" else 1 if behind[:1] == b"\n" else 0)


def _copied(session: Session, leaf: Entry) -> list[Piece]:
    """The lines of the parent, by reference where they lie on the disk as they are."""
    end = _end(session, leaf)
    if not end:
        return []
    last: Piece = b"" if session.files.read(session.path, end - 1, 1) == b"\n" else b"\n"
    if is_compressed(stored(session.files), session.path):
        return [session.files.read(session.path, 0, end), last]
    return [Kept(0, end, session.path), last]
