"""A conversation, or its result under a proposal, as a new session in the same folder: a copy under an id of its own.

Like the client's own `--fork-session` (2.1.332): the lines of the conversation keep their uuids and get the new
session's id. Each hangs on the one before, as the client links what a boundary keeps; a line names the session that
the copy was made from, which the client does not look at.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from uuid import UUID

import msgspec

from core.agents.claude_code.records import Line, detail, record
from core.agents.claude_code.write import Lines, Target, check_writable, leaf_line, new_lines
from core.agents.pi.chain import iso_time
from core.agents.protocol import Stamp
from core.errors import CommitRefused
from core.jsonl import BYTE_ORDER_MARK, decode, encode
from core.patch import Create, Patch
from core.proposal import Proposal
from core.session import Session
from core.view import View

STANDING = ("mode", "permission-mode", "tools-used", "custom-title", "ai-title", "agent-name", "agent-color", "tag")
"""Types of lines beside the conversation that hold a state: the last one of each goes along."""

MARK = "seamline"
"""The type of our own line at the head."""

_FIELDS = msgspec.json.Decoder(dict[str, msgspec.Raw])


def fork(session: Session, view: View, proposal: Proposal, stamp: Stamp) -> Patch:
    """The conversation in a new file, with the proposal carried out; raises CommitRefused.

    What is no part of the conversation is left behind: other branches, what earlier compactions took out, sub-agents.
    The new bytes are held in memory.
    """
    check_writable(session)
    identity = str(UUID(hex=stamp.new_id(), version=4))
    path = session.path.parent / f"{identity}.jsonl"
    if session.files.exists(path):
        raise CommitRefused(f"{path} exists already: fork again")
    changed = new_lines(session, view, proposal, stamp, Target(identity, False)) or Lines({}, [])
    added = changed.added or [leaf_line(session, session.leaf or "", identity)]
    copies = _conversation(session, identity, changed.again)
    lines = [*_head(session, identity, stamp), *copies, *map(encode, added)]
    return Patch((Create(path, b"\n".join(lines) + b"\n"),), path, "fork")


def _head(session: Session, identity: str, stamp: Stamp) -> Iterator[bytes]:
    """The lines before the conversation. The first dated one is younger than what is copied: so the copies are known
    for such, and their tokens are not counted as this session's.
    """
    newest: dict[str, dict[str, Any]] = {}
    for entry in session.entries:
        if entry.kind in STANDING:
            newest[entry.kind] = record(session, entry)
    for kind in STANDING:
        if kind in newest:
            yield encode(newest[kind] | {"sessionId": identity})
    parent = {"sessionId": session.identity, "leafUuid": session.leaf}
    yield encode({"type": MARK, "forkedFrom": parent, "timestamp": iso_time(stamp.now), "sessionId": identity})


def _conversation(session: Session, identity: str, again: Mapping[str, dict[str, Any]]) -> Iterator[bytes]:
    """The lines of the conversation, each behind the one before: as they are stored, byte for byte, or written anew."""
    path = detail(session).path
    there = {line.id for line in path}
    above: str | None = None
    for line in path:
        changes: dict[str, Any] = {"parentUuid": above, "sessionId": identity}
        if line.boundary:
            changes |= _boundary(session, line, there)
        if line.id in again:
            yield encode(again[line.id] | changes)
        else:
            yield _changed(session.raw(line.entry), changes)
        above = line.id


def _boundary(session: Session, line: Line, there: set[str]) -> dict[str, Any]:
    """A boundary's fields without lines that are not copied: the client ignores a list that names an unknown one."""
    metadata = record(session, line.entry).get("compactMetadata")
    metadata = dict(metadata) if isinstance(metadata, dict) else {}
    messages = metadata.get("preservedMessages")
    listed = messages.get("uuids") if isinstance(messages, dict) else None
    kept = [own for own in listed if isinstance(own, str) and own in there] if isinstance(listed, list) else []
    metadata.pop("preservedSegment", None)
    metadata.pop("preservedMessages", None)
    anchor = messages.get("anchorUuid") if isinstance(messages, dict) else None
    if kept and anchor in there:
        metadata["preservedSegment"] = {"headUuid": kept[0], "anchorUuid": anchor, "tailUuid": kept[-1]}
        metadata["preservedMessages"] = {"anchorUuid": anchor, "uuids": kept, "allUuids": kept}
    return {"compactMetadata": metadata, "logicalParentUuid": None}


def _changed(raw: bytes, changes: dict[str, Any]) -> bytes:
    """A stored line with other values for some fields; all others keep their bytes."""
    try:
        fields = _FIELDS.decode(raw.removeprefix(BYTE_ORDER_MARK))
        parts = {name: bytes(value) for name, value in fields.items()}
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        parts = {name: encode(value) for name, value in decode(raw.removeprefix(BYTE_ORDER_MARK)).items()}
    parts |= {name: encode(value) for name, value in changes.items()}
    return b"{" + b",".join(encode(name) + b":" + value for name, value in parts.items()) + b"}"
