"""What a killed process left: each commit that was begun and not ended is finished or taken back, by the journal.

To be run before a session is opened for writing, as it may change the file.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

from core.commit.causes import cause_of
from core.commit.change import Found, Unsettled
from core.commit.journal import Change, Journal, Operation
from core.commit.kinds import KINDS
from core.commit.locking import Locked, agents_locks, locked
from core.commit.receipt import Receipt
from core.commit.undo import settle_undo
from core.errors import CommitRefused, SeamlineError


@dataclass(frozen=True, slots=True)
class Recovered:
    """How one interrupted operation was ended."""

    receipt: Receipt
    outcome: Literal["finished", "rolled-back", "stopped", "busy"]
    """`stopped`: nothing was touched, and a person should look before anything more is written. `busy`: another
    process is still at it."""
    words: str
    """What to tell the person, in one line."""


def recover(journal: Journal, path: Path | None = None, *, now: float) -> tuple[Recovered, ...]:
    """End every interrupted commit and undo, or (with `path`) those on this session; oldest first.

    `now` in seconds since 1970. Where the agent has written since, nothing is touched: that is said once, recorded
    as failed, and stands in the way of nothing later. Raises CommitRefused where the journal cannot be used.
    """
    real = None if path is None else Path(os.path.realpath(path))
    return tuple(_settle(operation, journal, now) for operation in journal.unfinished(real))


def _settle(operation: Operation, journal: Journal, now: float) -> Recovered:
    receipt = operation.receipt
    name = (
        f"{receipt.result}: the {'undo of the ' if receipt.state == 'undoing' else ''}commit of {_when(receipt.time)}"
    )
    try:
        with locked(journal.folder, (change.path for change in operation.changes)):
            operation = journal.operation(receipt.id)
            with agents_locks(operation.locks):
                if operation.receipt.state == "undoing":
                    return _settle_undo(operation, journal, now, name)
                if operation.receipt.state == "started":
                    return _settle_commit(operation, journal, now, name)
            return Recovered(operation.receipt, "finished", f"{name} has meanwhile ended ({operation.receipt.state})")
    except Locked:
        return Recovered(receipt, "busy", f"{name} is still being carried out by another process")
    except (OSError, SeamlineError) as error:
        return Recovered(receipt, "stopped", f"{name} was interrupted, and cannot be put right yet: {cause_of(error)}")


def _settle_undo(operation: Operation, journal: Journal, now: float, name: str) -> Recovered:
    try:
        receipt = settle_undo(operation, journal, now)
    except CommitRefused as refusal:
        current = journal.operation(operation.receipt.id).receipt
        return Recovered(current, "stopped", f"{name} was interrupted; nothing was touched now: {refusal}")
    if receipt.state == "undone":
        return Recovered(receipt, "finished", f"{name} was interrupted; it is now complete")
    return Recovered(receipt, "rolled-back", f"{name} was interrupted before anything was changed; the commit stands")


def _settle_commit(operation: Operation, journal: Journal, now: float, name: str) -> Recovered:
    receipt = operation.receipt
    try:
        found = _judge(operation, journal)
    except FileNotFoundError:
        reason = f"{name} was interrupted, and the file is gone since"
        return Recovered(journal.mark(receipt, "failed", now, reason), "stopped", reason)
    # A reason stands there where the commit failed and could not be taken back at once: it is never finished then.
    if not receipt.reason and all(one in ("whole", "continued") for one in found):
        reason = "interrupted after all of it was written"
        if "continued" in found:
            reason += "; the agent has gone on from it since"
        after = [KINDS[c.kind].finish(c, data, receipt.id) for c, data in _with_data(operation, journal)]
        done = journal.done(operation, after, now, reason)
        return Recovered(done, "finished", f"{name} was {reason}; it is recorded as done")
    if any(one in ("foreign", "continued") for one in found):
        return _stop(operation, journal, now, name)
    try:
        for change, data in reversed(_with_data(operation, journal)):
            KINDS[change.kind].take_back(change, data, receipt.id)
    except Unsettled:
        return _stop(operation, journal, now, name)
    reason = receipt.reason or "interrupted before all of it was written"
    reason += "; taken back now: the session is as it was"
    return Recovered(journal.mark(receipt, "rolled-back", now, reason), "rolled-back", f"{name}: {reason}")


def _stop(operation: Operation, journal: Journal, now: float, name: str) -> Recovered:
    reason = (
        "interrupted, and the file was written by somebody else since: it was left as it is; check it before you go on"
    )
    for change in operation.changes:
        try:
            KINDS[change.kind].tidy(change, operation.receipt.id)
        except Unsettled as trouble:
            reason += f"; {trouble}"
    return Recovered(journal.mark(operation.receipt, "failed", now, reason), "stopped", f"{name} was {reason}")


def _judge(operation: Operation, journal: Journal) -> list[Found]:
    identity = operation.receipt.id
    return [KINDS[change.kind].judge(change, data, identity) for change, data in _with_data(operation, journal)]


def _with_data(operation: Operation, journal: Journal) -> list[tuple[Change, bytes | None]]:
    identity = operation.receipt.id
    return [(change, journal.pending(identity, number)) for number, change in enumerate(operation.changes)]


def _when(seconds: float) -> str:
    return datetime.fromtimestamp(seconds).astimezone().isoformat(" ", "seconds")
