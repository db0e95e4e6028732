"""The commit: everything is checked again under a lock, written, read back, and recorded; or nothing is."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from core.agents.protocol import Stamp
from core.commit.append import changed
from core.commit.backup import backup_path
from core.commit.causes import cause_of
from core.commit.change import Step, Unsettled
from core.commit.held import Held, target_of
from core.commit.journal import Journal, Operation
from core.commit.kinds import open_step
from core.commit.liveness import look, require_quiet
from core.commit.locking import agents_locks, locked
from core.commit.receipt import FileState, Receipt
from core.commit.request import At, Request, nowhere
from core.errors import CommitRefused, SeamlineError, Stale
from core.files import fingerprint
from core.patch import Create


def can_write(path: Path, fork: bool = False) -> None:
    """Raise CommitRefused, with the reason, where a commit on `path` could not be written; touches nothing.

    To be asked before any work, and before a summary is paid for. `fork`: only the folder need be writable.
    """
    target = target_of(path)
    if not target.is_file():
        raise CommitRefused(f"{path}: not a regular file")
    _check_folder(target.parent)
    # Asked, not tried: to open it for writing would look to another commit like an agent that is at work.
    if not fork and not _permitted(target, os.R_OK | os.W_OK):
        raise CommitRefused(f"{path}: cannot be written: permission denied (a read-only or protected file)")


def _permitted(path: Path, mode: int) -> bool:
    return os.access(path, mode, effective_ids=os.access in os.supports_effective_ids)


def _check_folder(folder: Path) -> None:
    if os.statvfs(folder).f_flag & os.ST_RDONLY:
        raise CommitRefused(f"{folder}: it is on a read-only file system: copy the session elsewhere")
    if not _permitted(folder, os.W_OK | os.X_OK):
        raise CommitRefused(f"{folder}: the folder is read-only: make it writable, or copy the session elsewhere")


def commit(request: Request, journal: Journal, stamp: Stamp, at: At = nowhere) -> Receipt:
    """Carry out the approved patch. Raises Stale or CommitRefused; the session is then as it was.

    An interruption (KeyboardInterrupt and its like) is taken back in the same way and raised again.
    """
    target = target_of(request.session)
    fork = request.patch.kind == "fork"
    if not fork:
        can_write(request.session)
    paths = [target, *(Path(os.path.realpath(change.path)) for change in request.patch.changes)]
    with locked(journal.folder, paths), ExitStack() as opened:
        at("locked")
        if any(journal.unfinished(path) for path in paths):
            raise CommitRefused(f"{request.session}: an earlier commit was interrupted: run it again to put that right")
        if not fork:
            running = request.known_running(request.session)
            require_quiet(look(request.session, running, journal, stamp.now), request.agent_stopped)
        opened.enter_context(agents_locks(request.patch.locks))
        before = _unchanged(request, target)
        identity = stamp.new_id()
        try:
            steps = _open(request, identity, before.mode, journal, opened)
        except OSError as error:
            raise CommitRefused(f"{request.patch.session}: cannot be written: {cause_of(error)}") from error
        return _carry_out(
            request, _operation(request, stamp, identity, target, before, steps), steps, journal, stamp, at
        )


def _unchanged(request: Request, target: Path) -> FileState:
    """The session's state, if it still is what the proposal was made for."""
    try:
        with Held(target) as held:
            before = held.observe()
            same = fingerprint(held, target) == request.fingerprint
            status = held.status()
            still = (status.st_size, status.st_mtime_ns) == (before.size, before.mtime_ns) and held.is_at_its_path()
    except OSError as error:
        raise CommitRefused(f"{request.session}: cannot be read: {cause_of(error)}") from error
    if not same or not still:
        raise Stale(changed(request.session))
    return before


def _open(request: Request, identity: str, mode: int, journal: Journal, opened: ExitStack) -> list[Step]:
    steps: list[Step] = []
    for number, change in enumerate(request.patch.changes):
        if isinstance(change, Create):
            folder = change.path.parent if change.path.parent.is_dir() else change.path.parent.parent
            if folder.is_dir():
                _check_folder(folder)
        step = open_step(change, identity, mode, backup_path(journal.folder, identity, number))
        opened.callback(step.close)
        steps.append(step)
    return steps


def _operation(
    request: Request, stamp: Stamp, identity: str, target: Path, before: FileState, steps: Sequence[Step]
) -> Operation:
    result = Path(os.path.realpath(request.patch.session))
    changes = tuple(step.change for step in steps)
    receipt = Receipt(
        id=identity,
        time=stamp.now,
        facts=request.facts,
        kind=request.patch.kind,
        session=target,
        result=result,
        before=before,
        after=None,
        state="started",
        backups=tuple(change.backup for change in changes if change.backup is not None),
    )
    for change in changes:
        if change.path == target and change.before != before:
            raise Stale(changed(request.session))
    return Operation(receipt, changes, tuple(path.absolute() for path in request.patch.locks))


def _carry_out(
    request: Request, operation: Operation, steps: Sequence[Step], journal: Journal, stamp: Stamp, at: At
) -> Receipt:
    at("start")
    journal.start(operation, [step.data for step in steps])
    try:
        for step in steps:
            step.write(at)
        at("re-read")
        found = request.reread(request.patch.session)
        after = [step.settle() for step in steps]  # asked first: an agent that wrote meanwhile is the truer cause
        if found != request.approved:
            raise CommitRefused("what the agent would read is not what was approved")
        at("end")
        receipt = journal.done(operation, after, stamp.now)
    except BaseException as error:
        _fail(request, operation, steps, journal, stamp, error)
        raise  # only an interruption comes here
    at("done")
    return receipt


def _fail(
    request: Request, operation: Operation, steps: Sequence[Step], journal: Journal, stamp: Stamp, error: BaseException
) -> None:
    """Put back what is ours, record the true cause, and raise it in words; return where it must be raised as it is."""
    words = _words(request, error)
    trouble = _take_back(steps)
    settled = trouble is None or isinstance(trouble, Unsettled)
    if trouble is None:
        told = words if isinstance(error, Stale) else f"{words}; the session is as it was"
    elif settled:
        told = f"{words}; {trouble}"
    else:
        told = f"{words}; it could not be taken back either ({cause_of(trouble)}): the next commit tries that again"
    try:
        journal.mark(operation.receipt, "failed" if settled else "started", stamp.now, told)
    except SeamlineError as unrecorded:
        # The operation stays open in the journal; `recover` will find the file as it was, and say so.
        told = f"{told}; not recorded: {unrecorded}"
    if isinstance(error, Exception):
        raise (Stale if isinstance(error, Stale) and trouble is None else CommitRefused)(told) from error


def _take_back(steps: Sequence[Step]) -> BaseException | None:
    """Take every change back, the last one first; what went wrong with it, if anything did."""
    trouble: BaseException | None = None
    for step in reversed(steps):
        try:
            step.take_back()
        except (OSError, SeamlineError) as error:
            trouble = error
    return trouble


def _words(request: Request, error: BaseException) -> str:
    path = request.patch.session
    if isinstance(error, SeamlineError):
        words = str(error)
        return words if words.startswith(str(path)) else f"{path}: not committed: {words}"
    return f"{path}: not committed: {cause_of(error)}"
