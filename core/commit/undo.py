"""The exact reverse of the last commit: the same bytes, mode and time of change, or a refusal with the reason."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from core.commit.causes import cause_of
from core.commit.held import Held
from core.commit.journal import Change, Journal, Operation
from core.commit.kinds import KINDS
from core.commit.liveness import Liveness, require_quiet
from core.commit.locking import agents_locks, locked
from core.commit.receipt import Receipt
from core.commit.request import At, nobody, nowhere
from core.errors import CommitRefused, SeamlineError


def last_commit(path: Path, journal: Journal) -> Receipt:
    """The receipt of the commit that `undo` would reverse. Raises CommitRefused where there is none."""
    return last_operation(path, journal).receipt


def undo(
    path: Path, journal: Journal, now: float, known_running: Callable[[Path], str | None] = nobody, at: At = nowhere
) -> Receipt:
    """Reverse the last commit that changed `path` and was not undone; a fork is removed.

    `now` in seconds since 1970. Raises CommitRefused where there is none, where the agent is known to run, or where
    anything was written since; then nothing is touched.
    """
    target = Path(os.path.realpath(path))
    operation = last_operation(path, journal)
    with locked(journal.folder, [target, *(change.path for change in operation.changes)]):
        at("locked")
        operation = last_operation(path, journal)
        if journal.unfinished(target):
            raise CommitRefused(f"{path}: an earlier commit was interrupted: run it again to put that right")
        running = known_running(path) if target.exists() else None
        if running is not None:
            require_quiet(Liveness("running", f"{path}: {running}: end it first, then undo"), False)
        with agents_locks(operation.locks):
            return _undo(path, operation, journal, now, at)


def _undo(path: Path, operation: Operation, journal: Journal, now: float, at: At) -> Receipt:
    try:
        for change in operation.changes:
            KINDS[change.kind].check_reversible(change)
    except OSError as error:
        raise CommitRefused(f"{path}: cannot undo: {cause_of(error)}") from error
    except CommitRefused as refusal:
        if operation.receipt.kind == "fork":
            raise
        raise CommitRefused(f"{refusal}; the old view as a session of its own: seamline undo --as fork") from refusal
    at("start")
    journal.mark(operation.receipt, "undoing", now)
    try:
        _reverse(operation, at)
        at("end")
        return journal.mark(operation.receipt, "undone", now)
    except BaseException as error:
        _fail(operation, journal, now, error)
        raise


def last_operation(path: Path, journal: Journal) -> Operation:
    """The last commit that changed `path` and was not undone. Raises CommitRefused where there is none."""
    operation = journal.last_done(Path(os.path.realpath(path)))
    if operation is not None:
        return operation
    for receipt in journal.receipts(path):
        if receipt.kind == "fork" and receipt.state == "done":
            words = f"its last commit was a fork, which left it untouched: undo {receipt.result} to remove that"
            raise CommitRefused(f"{path}: nothing to undo: {words}")
    raise CommitRefused(f"{path}: nothing to undo: no commit on it is on record in {journal.path}")


def _reverse(operation: Operation, at: At) -> None:
    for change in reversed(operation.changes):
        KINDS[change.kind].reverse(change, operation.receipt.id, at)


def _fail(operation: Operation, journal: Journal, now: float, error: BaseException) -> None:
    """Bring a broken undo to one end or the other; raise the true cause, or return where it is an interruption."""
    path = operation.receipt.result
    words = str(error) if isinstance(error, SeamlineError) else f"{path}: not undone: {cause_of(error)}"
    try:
        if settle_undo(operation, journal, now).state == "undone":
            words = f"{path}: undone, but with trouble on the way: {cause_of(error)}"
    except OSError as trouble:
        words = f"{words}; it was left half done ({cause_of(trouble)}): that is put right before the next commit"
    except SeamlineError as refusal:
        words = str(refusal)
    if isinstance(error, Exception):
        raise CommitRefused(words) from error


def settle_undo(operation: Operation, journal: Journal, now: float) -> Receipt:
    """End an undo that was begun: where every file is as the commit left it, the commit stands; else go on with it.

    Raises CommitRefused (the commit is then recorded as standing, with the reason) where that is not possible, OSError.
    """
    receipt = operation.receipt
    for change in operation.changes:
        KINDS[change.kind].tidy(change, receipt.id)
    if all(_stands(change) for change in operation.changes):
        return journal.mark(receipt, "done", now, "an undo of it was interrupted before anything was changed")
    try:
        for change in operation.changes:
            KINDS[change.kind].check_reversible(change)
        _reverse(operation, nowhere)
    except CommitRefused as refusal:
        journal.mark(receipt, "done", now, f"an undo of it was interrupted: {refusal}")
        raise
    return journal.mark(receipt, "undone", now)


def _stands(change: Change) -> bool:
    """Whether the file is as the commit left it."""
    assert change.after is not None
    try:
        with Held(change.path) as held:
            return held.is_as(change.after)
    except FileNotFoundError:
        return False
