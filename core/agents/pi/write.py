"""A proposal as bytes at the end of a pi session: records that make pi resume with exactly the approved view."""

from __future__ import annotations

from typing import Any

from core.agents.deciding import Decisions
from core.agents.line_ends import line_end_of
from core.agents.pi.chain import Chain, line_of, stored_id
from core.agents.pi.client import client
from core.agents.pi.context import selected
from core.agents.pi.copying import copy
from core.agents.pi.decisions import decide
from core.agents.pi.editing import edit, last_edits, left_out
from core.agents.pi.prompt import replayed
from core.agents.pi.records import CURRENT_VERSION, detail, record
from core.agents.pi.usage import tokens_now
from core.agents.protocol import Stamp
from core.errors import CommitRefused
from core.patch import Append, Patch
from core.proposal import Proposal
from core.session import Session
from core.view import Item, View


def encode(session: Session, view: View, proposal: Proposal, stamp: Stamp) -> Patch:
    """The proposal as an append. Raises CommitRefused where this file, or this format, can't carry it in place.

    A beginning of the append that stops at any byte leaves a session that pi reads: the old view, or the summary with
    more kept behind it than approved, or a view that lacks some of what goes; each call has its result, or pi's
    "No result provided". For clients without `context_edit` it may also be the summary, or nothing, with a beginning
    of what is kept.
    """
    if detail(session).version < CURRENT_VERSION:
        version = detail(session).version
        raise CommitRefused(
            f"{session.path} is of version {version} and pi rewrites it with new ids when it opens it: use --as fork"
        )
    records = new_records(session, view, proposal, stamp)
    if not records:
        raise CommitRefused(f"{session.path}: nothing in the view would change")
    size = session.files.size(session.path)
    end = line_end_of(session.files, session.path)
    data = end.join([*map(line_of, records), b""])
    if size and session.files.read(session.path, size - 1, 1) != b"\n":
        data = end + data
    return Patch((Append(session.path, size, data),), session.path, "append")


def new_records(session: Session, view: View, proposal: Proposal, stamp: Stamp) -> list[dict[str, Any]]:
    """The records that carry the proposal out, for the end of the path. Raises CommitRefused."""
    if session.leaf is None or detail(session).header_fault:
        raise CommitRefused(f"{session.path}: pi finds no history in this file, so there is nothing to change")
    decisions = decide(view, proposal)
    if not decisions.gone and not decisions.shortened:
        return []
    edits = last_edits(session, selected(session)) if client(view.resume.client_version.value).edits else {}
    chain = Chain(session, stamp, stored_id(session, session.leaf))
    prompt = replayed(session, edits, int(stamp.now * 1000))
    compaction = _compaction(session, view, proposal, decisions, prompt) if decisions.summary is not None else None
    if client(view.resume.client_version.value).edits:
        edit(chain, decisions, compaction)
    else:
        copy(chain, decisions, compaction, prompt)
    return chain.records


def _compaction(
    session: Session, view: View, proposal: Proposal, decisions: Decisions, prompt: dict[str, Any] | None
) -> dict[str, Any]:
    """The fields of the compaction record that do not depend on where the kept part begins."""
    assert decisions.summary is not None
    seamline: dict[str, Any] = {"policy": proposal.policy, "writer": decisions.summary.writer}
    if decisions.summary.state is not None:
        seamline["state"] = decisions.summary.state
    seamline["dropped"] = list(decisions.entries_gone("drop"))
    seamline["summarized"] = list(left_out(decisions, session))
    fields: dict[str, Any] = {
        "summary": decisions.summary.text,
        "tokensBefore": tokens_now(session, view),
        "details": {**_files(session, view, decisions), "seamline": seamline},
        "fromHook": True,
    }
    return fields if prompt is None else fields | {"systemMessage": prompt}


def _files(session: Session, view: View, decisions: Decisions) -> dict[str, list[str]]:
    """The files that the summarised calls read and changed, by pi's own rule, with those of the last compaction."""
    read: set[str] = set()
    modified: set[str] = set()
    first = selected(session)[0]
    if first.kind == "compaction":
        before = record(session, first).get("details")
        if isinstance(before, dict):
            read.update(_texts(before.get("readFiles")))
            modified.update(_texts(before.get("modifiedFiles")))
    for unit in decisions.units:
        if unit.id in decisions.gone:
            for position in unit.items:
                _note(view.items[position], read, modified)
    return {"readFiles": sorted(read - modified), "modifiedFiles": sorted(modified)}


def _note(item: Item, read: set[str], modified: set[str]) -> None:
    if item.kind != "tool_call" or not isinstance(item.arguments, dict):
        return
    path = item.arguments.get("path")
    if isinstance(path, str) and path:
        if item.name == "read":
            read.add(path)
        elif item.name in ("write", "edit"):
            modified.add(path)


def _texts(value: Any) -> list[str]:
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []
