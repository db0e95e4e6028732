"""A proposal as events at the end of a dsh log: with them dsh resumes with exactly the approved view.

A shortened result is dsh's own prune, the summary its own checkpoint. What else leaves the view is replaced by a reply
without content, which dsh sends to nobody. The token meter wants each reply inside a step of a turn, and dsh's
invariants want that of each prune too: so these stand in a turn of their own, as dsh itself has turns in which nothing
is asked. (dsh 0.1.0-rc.8.)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core.agents.deciding import Decisions, Shortened
from core.agents.dsh.decisions import Range, decide, ranges
from core.agents.dsh.estimating import estimate
from core.agents.dsh.events import Events, new_uuid
from core.agents.dsh.legacy import migrated
from core.agents.dsh.packing import frame, is_one_block
from core.agents.dsh.records import COMPACTOR, HEADER, OURS, data_of, detail, entry_seq, message_of, record
from core.agents.protocol import Stamp
from core.compressed import stored
from core.errors import CommitRefused
from core.patch import Append, Kept, Patch, Replace
from core.proposal import Proposal
from core.session import Session
from core.view import View

PREAMBLE = (
    "This is an automatically generated checkpoint condensing an earlier span of the conversation to free up context. "
    "Treat the captured context as established background and build on it without restating it. Continue the task "
    "directly from the messages that follow, without acknowledging this checkpoint.\n\n<compacted-summary>"
)
CLOSING = "</compacted-summary>"
"""Around the summary, in blocks of their own (dsh-compaction-basic 0.1.0-rc.8)."""


def encode(session: Session, view: View, proposal: Proposal, stamp: Stamp) -> Patch:
    """The proposal as one frame at the end of the log. Raises CommitRefused where that can't be.

    Of a frame that breaks off, dsh takes nothing but what whole blocks give. So a frame of one block is there whole or
    not at all; a larger one, and the lines of a log that is not compressed, come with a copy of the file and a rename.
    """
    known = detail(session)
    _check_end(session)
    content = new_events(session, view, proposal, stamp, known.next_seq).lines()
    if not content:
        raise CommitRefused(f"{session.path}: nothing in the view would change")
    data = frame(content) if known.frames is not None else content.replace(b"\n", line_end(session))
    size = stored(session.files).size(session.path)
    if known.frames is not None and is_one_block(data):
        return Patch((Append(session.path, size, data),), session.path, "append")
    return Patch((Replace(session.path, size, (Kept(0, size), data)),), session.path, "replace")


def line_end(session: Session) -> bytes:
    """The line end of a log that is not compressed, as the header has it."""
    header = session.entry(HEADER)
    assert header is not None
    ends = session.files.read(session.path, header.offset + header.length, 2)
    return b"\r\n" if ends == b"\r\n" else b"\n"


def _check_end(session: Session) -> None:
    """Raises CommitRefused where nothing can be put behind the log as it is."""
    known = detail(session)
    if known.frames is not None and known.frames.torn is not None:
        words = f"the last append, at byte {known.frames.torn} of the file, breaks off"
        raise CommitRefused(f"{session.path}: {words}: resume it once in dsh, which mends it, or use --as fork")
    if not known.whole:
        words = "more stands behind the end of this view, and dsh only ever appends"
        raise CommitRefused(f"{session.path}: {words}: use --as fork")
    if known.is_open:
        words = "its last turn has no end, so dsh is at work on it or was killed"
        raise CommitRefused(f"{session.path}: {words}: resume it once in dsh, which ends the turn, then try again")


def new_events(session: Session, view: View, proposal: Proposal, stamp: Stamp, seq: int) -> Events:
    """The events that carry the proposal out, numbered from `seq`. Raises CommitRefused."""
    decided = decide(view, proposal)
    leaving = ranges(session, decided)
    events = Events(seq, stamp)
    if not leaving and not decided.shortened:
        return events
    standing = next((one for one in leaving if one.summarised), None)
    compaction = new_uuid(stamp)
    _note(events, session, proposal, decided, standing, compaction)
    silent = [one for one in leaving if one is not standing]
    if silent or decided.shortened:
        _turn(events, session, decided, silent)
    if standing is not None:
        _checkpoint(events, session, standing, decided, compaction)
    return events


def _note(
    events: Events,
    session: Session,
    proposal: Proposal,
    decided: Decisions,
    standing: Range | None,
    compaction: str,
) -> None:
    """Our own record: what the events that follow do not tell, for later summaries.

    That is what was dropped though a checkpoint stands there, and what was summarised though nothing does.
    """
    under = set(standing.entries) if standing is not None else set[str]()
    dropped = [entry for entry in decided.entries_gone("drop") if entry in under]
    elsewhere = [entry for entry in decided.entries_gone("summarize") if entry not in under]
    data: dict[str, Any] = {
        "policy": proposal.policy,
        "dropped": [entry_seq(session, entry) for entry in dropped],
        "summarized": [entry_seq(session, entry) for entry in elsewhere],
    }
    if decided.summary is not None:
        data |= {"compactionId": compaction, "writer": decided.summary.writer}
        if decided.summary.state is not None:
            data["state"] = decided.summary.state
    events.add(OURS, data, ignorable=True)


def _turn(events: Events, session: Session, decided: Decisions, silent: Sequence[Range]) -> None:
    """A turn that asks nothing: in it results are shortened, and ranges leave without anything in their place."""
    turn = {"turn": detail(session).last_turn + 1}
    events.add("turn/start", turn)
    for entry, shortened in decided.shortened.items():
        _prune(events, session, entry, shortened)
    if silent:
        events.add("step/start", turn | {"step": 1})
        for one in silent:
            _leave_out(events, session, one, turn | {"step": 1})
        events.add("step/end", turn | {"step": 1})
    events.add("turn/end", turn | {"reason": {"kind": "completed"}})


def _prune(events: Events, session: Session, entry_id: str, shortened: Shortened) -> None:
    """A result in the place of itself: only what it holds may differ."""
    entry = session.entry(entry_id)
    assert entry is not None
    seq = entry_seq(session, entry_id)
    row = record(session, entry)
    kind, data = migrated(str(row.get("type")), seq, row.get("data"), session.identity)
    block = data["message"]["content"][0]
    changed = block | {"content": _result_content(block["content"], shortened)}
    _price(events, session, [entry_id])
    events.put(kind, data | {"message": data["message"] | {"content": [changed]}}, [seq], [])


def _result_content(content: list[Any], shortened: Shortened) -> list[Any]:
    """The blocks of a shortened result: one text, where the first text stood; pictures go with a pointer."""
    blocks: list[Any] = []
    text: dict[str, Any] = {"type": "text", "text": shortened.text}
    for block in content:
        kind = block.get("type") if isinstance(block, dict) else None
        if kind not in ("text", "tool-result"):
            blocks += [block] if shortened.what == "limit" else []
        elif text not in blocks:
            text = (block if kind == "text" else {}) | text
            blocks.append(text)
    return blocks if text in blocks else [text, *blocks]


def _leave_out(events: Events, session: Session, leaving: Range, step: dict[str, Any]) -> None:
    seqs = [entry_seq(session, entry) for entry in leaving.entries]
    provider, model = _spoken_to(session)
    message = {
        "id": new_uuid(events.stamp),
        "role": "assistant",
        "content": [],
        "source": {"kind": "model", "provider": provider, "model": model},
    }
    _price(events, session, leaving.entries)
    events.put("assistant/message", step | {"message": message}, seqs, [])


def _price(events: Events, session: Session, entries: Sequence[str]) -> None:
    """What dsh's meter takes off when the next event replaces these messages."""
    events.add("compaction/prune", _shadowed(session, entries))


def _shadowed(session: Session, entries: Sequence[str]) -> dict[str, Any]:
    seqs = [entry_seq(session, entry) for entry in entries]
    return {
        "shadowedRange": {"start": seqs[0], "end": seqs[-1]},
        "shadowedSeqs": seqs,
        "shadowedTokenCount": sum(estimate(message_of(session, entry)[1]) for entry in entries),
    }


def _checkpoint(events: Events, session: Session, standing: Range, decided: Decisions, compaction: str) -> None:
    """The summary in the place of a range, with the records that dsh's own compaction writes between two turns."""
    assert decided.summary is not None
    text = {"type": "text", "text": decided.summary.text}
    provider, model = _spoken_to(session)
    begun = {"compactionId": compaction, "turn": None}
    start = events.add("compaction/start", begun)
    told = {"compactionId": compaction, "summary": [text], **_shadowed(session, standing.entries)}
    summary = events.add("compaction/summary", told | {"provider": provider, "model": model})
    message = {
        "id": new_uuid(events.stamp),
        "role": "user",
        "content": [{"type": "text", "text": PREAMBLE}, text, {"type": "text", "text": CLOSING}],
        "source": {"kind": "plugin", "plugin": COMPACTOR, "compactionId": compaction},
    }
    seqs = [entry_seq(session, entry) for entry in standing.entries]
    events.put("user/message", message, seqs, [start, summary])
    events.add("compaction/end", begun)


def _spoken_to(session: Session) -> tuple[str, str]:
    """The provider and model of the last request; dsh wants some name where the log holds none."""
    entry = detail(session).header_entry
    header = data_of(session, entry).get("header") if entry is not None else None
    config = header.get("config") if isinstance(header, dict) else None
    config = config if isinstance(config, dict) else {}
    return str(config.get("provider") or "unknown"), str(config.get("model") or "unknown")
