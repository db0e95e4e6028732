"""A proposal as records at the end of a Codex rollout: a checkpoint that holds the whole view, and what goes with it.

Codex itself compacts so (0.171.0): `compacted` with its history, then a full `world_state` and the `turn_context` that
say what the model was told, then a token count with an estimate of the new view.
"""

from __future__ import annotations

import json
import re
from typing import Any
from uuid import UUID

from core.agents.codex import decoding
from core.agents.codex.baselines import Baselines, baselines, token_count, window
from core.agents.codex.contents import Contents, contents, sound, summary_text
from core.agents.codex.rebuilding import path_of, tokens_of
from core.agents.codex.records import detail
from core.agents.codex.running import lock_of
from core.agents.codex.units import options, units
from core.agents.deciding import Deciding, Decisions
from core.agents.line_ends import line_end_of
from core.agents.protocol import Stamp
from core.compressed import is_compressed, stored
from core.errors import CommitRefused
from core.files import holding
from core.jsonl import decode
from core.jsonl import encode as as_json
from core.patch import Append, Kept, Patch, Replace
from core.proposal import Proposal
from core.session import Session
from core.times import iso_time
from core.view import View


def encode(session: Session, view: View, proposal: Proposal, stamp: Stamp) -> Patch:
    """The proposal as an append, or a whole new file where the session is compressed. Raises CommitRefused.

    A beginning of the append that stops at any byte leaves a session that Codex reads: the old view, or, from the end
    of the first record on, the new one. What may be missing then: what the model was told (Codex tells it again) and
    the estimate (Codex may compact by itself).
    """
    if session.leaf != last_of(session):
        raise CommitRefused(f"{session.path}: more stands behind the end of this view: use --as fork")
    decided = Deciding(view, units(view), options).decide(proposal)
    if not decided.gone and not decided.results:
        raise CommitRefused(f"{session.path}: nothing in the view would change")
    known = detail(session)
    with holding(session.files, session.path):
        records = Records(stamp, known.ordinal + 1 if known.ordinal is not None else None)
        checkpoint(records, session, view, proposal, decided, stamp)
        size = session.files.size(session.path)
        unended = session.files.read(session.path, size - 1, 1) != b"\n"
        end = line_end_of(session.files, session.path)
    # No record holds a raw line feed but its own end.
    data = (b"\n" * unended + records.lines()).replace(b"\n", end)
    packed = stored(session.files)
    if not is_compressed(packed, session.path):
        return Patch((Append(session.path, size, data),), session.path, "append", lock_of(session))
    size = packed.size(session.path)
    pieces = (Kept(0, size), frame(data))
    return Patch((Replace(session.path, size, pieces),), session.path, "replace", lock_of(session))


def last_of(session: Session) -> str | None:
    """The last entry that Codex reads: where the view ends by itself."""
    skipped = detail(session).skipped
    return next((entry.id for entry in reversed(session.entries) if entry.id not in skipped), None)


def frame(data: bytes) -> bytes:
    """More content for a compressed file: Codex reads frame after frame."""
    import zstandard

    return zstandard.ZstdCompressor().compress(data)


class Records:
    """New lines in Codex's own form, numbered from `ordinal` (None in sessions whose records have no numbers)."""

    def __init__(self, stamp: Stamp, ordinal: int | None) -> None:
        self._time = iso_time(stamp.now)
        self._numbered = ordinal is not None
        self._ordinal = ordinal
        self._lines: list[bytes] = []

    def add(self, kind: str, payload: bytes) -> None:
        """One record; its payload is JSON."""
        number = b"" if self._ordinal is None else b'"ordinal":%d,' % self._ordinal
        head = b'{"timestamp":"%s",%s"type":"%s","payload":' % (self._time.encode(), number, kind.encode())
        self._lines.append(head + payload + b"}\n")
        self._ordinal = None if self._ordinal is None else self._ordinal + 1

    def lines(self) -> bytes:
        """All of them, each with its line end.

        Without numbers (files of the older kind) they are plain ASCII: Codex refuses such a file as a whole where half
        a character stands in it, as an append that breaks off could leave it.
        """
        lines = b"".join(self._lines)
        return lines if self._numbered else _BEYOND_ASCII.sub(_escaped, lines.decode()).encode()


_BEYOND_ASCII = re.compile("[^\x00-\x7f]")


def _escaped(found: re.Match[str]) -> str:
    """A character beyond ASCII, which in JSON stands in a string, as JSON escapes it."""
    return json.dumps(found[0])[1:-1]


def checkpoint(
    records: Records, session: Session, view: View, proposal: Proposal, decided: Decisions, stamp: Stamp
) -> None:
    """Add the records that carry a proposal out. Raises CommitRefused where Codex would not read them."""
    told = baselines(session)
    made = contents(session, view, decided, with_system=told is not None)
    if told is not None and made.loses_context:
        told, made = None, contents(session, view, decided, with_system=False)
    payload = _compacted(session, proposal, decided, made, stamp)
    _require_readable(session, made, payload)
    turn = _turn(session, told, stamp)
    if turn:
        records.add("event_msg", as_json({"type": "task_started", "turn_id": turn}))
    records.add("compacted", payload)
    if told is not None:
        records.add("world_state", told.world_state)
        records.add("turn_context", told.turn_context)
    count = token_count(session, made.tokens + _instructions(session))
    if count is not None:
        records.add("event_msg", count)
    if turn:
        records.add("event_msg", as_json({"type": "task_complete", "turn_id": turn, "last_agent_message": None}))


def _turn(session: Session, told: Baselines | None, stamp: Stamp) -> str:
    """The id of a turn for the checkpoint to stand in; empty where it needs none.

    In files of the older kind a roll-back takes turns back until it meets the beginning of one: without a turn of its
    own the checkpoint could go with them. Its id is that of the turn context behind it, else Codex sees two turns.
    """
    rolled_back = any(entry.kind == "event_msg/thread_rolled_back" for entry in path_of(session))
    if detail(session).paginated or not rolled_back:
        return ""
    known = decode(told.turn_context).get("turn_id") if told is not None else None
    return known if isinstance(known, str) else uuid7(stamp)


def _compacted(session: Session, proposal: Proposal, decided: Decisions, made: Contents, stamp: Stamp) -> bytes:
    """The payload of the checkpoint."""
    summary = decided.summary
    fields: dict[str, Any] = {"message": "" if summary is None else summary_text(summary.text)}
    history = b'"replacement_history":[%s]' % b",".join(made.items)
    behind: dict[str, Any] = _window_fields(session, stamp) if detail(session).paginated else {}
    ours: dict[str, Any] = {"policy": proposal.policy}
    if summary is not None:
        ours["writer"] = summary.writer
        if summary.state is not None:
            ours["state"] = summary.state
    ours["dropped"] = [unit.id for unit in decided.units if decided.gone.get(unit.id) == "drop"]
    ours["summarized"] = [unit.id for unit in decided.units if decided.gone.get(unit.id) == "summarize"]
    rest = sound(as_json({**behind, "seamline": ours}).decode())
    return as_json(fields)[:-1] + b"," + history + b"," + rest[1:].encode()


def _window_fields(session: Session, stamp: Stamp) -> dict[str, Any]:
    """The next window of the thread. Its number is what makes the checkpoint hold against roll-backs (0.171.0).

    Left out in files of the older kind: there it is no more than a label, and older clients wrote a number as its id.
    """
    before = window(session)
    ids = {"first_window_id": before.first, "previous_window_id": before.last, "window_id": uuid7(stamp)}
    return {"window_number": before.number + 1} | {name: one for name, one in ids.items() if one}


def uuid7(stamp: Stamp) -> str:
    """An id as Codex gives them: it begins with the time."""
    number = int(stamp.new_id(), 16) & ((1 << 80) - 1)
    number |= (int(stamp.now * 1000) & ((1 << 48) - 1)) << 80
    number = number & ~(0xF << 76) | 7 << 76
    return str(UUID(int=number & ~(0b11 << 62) | 0b10 << 62))


def _instructions(session: Session) -> int:
    """Tokens of the stored system prompt, by Codex's estimate, which includes them."""
    base = detail(session).start.get("base_instructions")
    text = base.get("text") if isinstance(base, dict) else None
    return tokens_of(text) if isinstance(text, str) else 0


def _require_readable(session: Session, made: Contents, payload: bytes) -> None:
    """One unfit item, and Codex skips the whole checkpoint without a word: the old history would be back."""
    for item, unit in zip(made.items, made.units, strict=True):
        if decoding.is_too_deep(b'{"payload":{"replacement_history":[%s]}}' % item):
            words = f"{unit or 'an item'} is nested too deep to stand in a checkpoint: summarise or drop it"
            raise CommitRefused(f"{session.path}: {words}")
    try:
        decoding.compacted(payload)
    except decoding.FAILURES as error:
        raise CommitRefused(
            f"{session.path}: Codex would not read the result ({error}): nothing was written"
        ) from error
