"""A proposal as a new session beside the old one: a copy of the path in version 3, then the proposal's records."""

from __future__ import annotations

import re
from collections.abc import Iterator
from uuid import UUID

from core.agents.pi.chain import line_of
from core.agents.pi.records import CURRENT_VERSION, detail, record
from core.agents.pi.write import new_records
from core.agents.protocol import Stamp
from core.errors import CommitRefused
from core.patch import Create, Patch
from core.proposal import Proposal
from core.session import Session
from core.times import iso_time
from core.view import View


def fork(session: Session, view: View, proposal: Proposal, stamp: Stamp) -> Patch:
    """The path to the leaf in a new file, with the proposal carried out; raises CommitRefused.

    Labels on other branches and a name given on one are left behind, as is everything that is not on the path. The
    new bytes are held in memory.
    """
    time, identity = iso_time(stamp.now), str(UUID(hex=stamp.new_id()))
    path = session.path.parent / f"{re.sub('[:.]', '-', time)}_{identity}.jsonl"
    if session.files.exists(path):
        raise CommitRefused(f"{path} exists already: fork again")
    header = {
        "type": "session",
        "version": CURRENT_VERSION,
        "id": identity,
        "timestamp": time,
        "cwd": session.cwd,
        "parentSession": str(session.path.absolute()),
    }
    added = new_records(session, view, proposal, stamp) if proposal.dispositions else []
    lines = [line_of(header), *_path_lines(session), *map(line_of, added)]
    return Patch((Create(path, b"\n".join(lines) + b"\n"),), path, "fork")


def _path_lines(session: Session) -> Iterator[bytes]:
    """The records of the path: the stored bytes where they are of this version, else as pi would migrate them."""
    current = detail(session).version >= CURRENT_VERSION
    for entry in detail(session).path:
        yield session.raw(entry) if current else line_of(record(session, entry))
