"""The journal: every commit, written ahead of its bytes, in an SQLite file in our state folder.

It holds facts and hashes. The bytes that a commit is about to append stand beside it in `pending/` until the commit
has ended, so that after a kill `recover` can tell a beginning of ours from anything else; then they are deleted. The
old bytes of files that were replaced stand in `backups/`; they are listed in the receipts and never deleted by us.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import msgspec
import platformdirs

from core.commit.causes import cause_of
from core.commit.held import sync_folder
from core.commit.receipt import Facts, FileState, Receipt, State
from core.errors import CommitRefused

STATE_FOLDER_VARIABLE = "SEAMLINE_STATE_DIR"
"""The environment variable that names another state folder."""

BUSY_SECONDS = 10
VERSION = 2

_TABLES = """
CREATE TABLE operations (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    time REAL NOT NULL,
    kind TEXT NOT NULL,
    session BLOB NOT NULL,
    result BLOB NOT NULL,
    facts TEXT NOT NULL,
    before TEXT NOT NULL,
    after TEXT,
    state TEXT NOT NULL,
    reason TEXT NOT NULL DEFAULT '',
    ended REAL,
    locks TEXT NOT NULL DEFAULT '[]'
);
CREATE TABLE changes (
    operation TEXT NOT NULL REFERENCES operations (id),
    number INTEGER NOT NULL,
    kind TEXT NOT NULL,
    path BLOB NOT NULL,
    bytes INTEGER NOT NULL,
    sha256 TEXT NOT NULL,
    before TEXT,
    after TEXT,
    backup BLOB,
    PRIMARY KEY (operation, number)
);
CREATE INDEX changes_path ON changes (path);
CREATE INDEX operations_session ON operations (session);
"""

_SINCE_VERSION_1 = """
ALTER TABLE operations ADD COLUMN locks TEXT NOT NULL DEFAULT '[]';
ALTER TABLE changes ADD COLUMN backup BLOB
"""

_RECEIPT = "id, time, kind, session, result, facts, before, after, state, reason, ended"


def state_folder() -> Path:
    """Where the journal is kept: SEAMLINE_STATE_DIR, or the system's folder for the state of programs."""
    named = os.environ.get(STATE_FOLDER_VARIABLE)
    return Path(named) if named else Path(platformdirs.user_state_dir("seamline", appauthor=False))


@dataclass(frozen=True, slots=True)
class Change:
    """One change of an operation: what is to be known of it when the process that made it is gone."""

    kind: Literal["append", "create", "replace"]
    path: Path
    """The real file."""
    size: int
    """Bytes of what is written."""
    sha256: str
    """Of what is written, in hexadecimal."""
    before: FileState | None
    """None for a new file."""
    after: FileState | None = None
    """Known once the commit is done."""
    backup: Path | None = None
    """Our copy of the old bytes, where the change replaces them."""


@dataclass(frozen=True, slots=True)
class Operation:
    """A receipt with its changes, in the order in which they are carried out."""

    receipt: Receipt
    changes: tuple[Change, ...]
    locks: tuple[Path, ...] = ()
    """The agent's own lock files."""


class Journal:
    """The open journal in `folder` (default: `state_folder()`), made if there is none.

    Raises CommitRefused, here and in every method, where it cannot be read or written: no commit without a record.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = state_folder() if folder is None else folder
        self.path = self.folder / "journal.sqlite3"
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        except OSError as error:
            raise self._refusal(error) from error
        with self._told():
            # A screen commits in a thread; SQLite itself lets one thread in at a time.
            self._database = sqlite3.connect(
                self.path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
            self._prepare()

    def _prepare(self) -> None:
        # EXTRA: what was committed survives a loss of power, also the removal of the rollback journal.
        self._database.execute("PRAGMA synchronous = EXTRA")
        with self._writing():
            version = self._database.execute("PRAGMA user_version").fetchone()[0]
            if version > VERSION:
                raise CommitRefused(f"{self.path}: written by a newer Seamline: use that one, or move the file away")
            if version < VERSION:
                for statement in (_TABLES if version == 0 else _SINCE_VERSION_1).split(";"):
                    self._database.execute(statement)
                self._database.execute(f"PRAGMA user_version = {VERSION}")

    def close(self) -> None:
        self._database.close()

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Reading.

    def receipts(self, path: Path | None = None) -> tuple[Receipt, ...]:
        """All receipts, newest first; with `path` those that were made for this session or changed this file."""
        if path is None:
            return tuple(operation.receipt for operation in self._operations("1"))
        name = os.fsencode(os.path.realpath(path))
        where = "session = ? OR id IN (SELECT operation FROM changes WHERE path = ?)"
        return tuple(operation.receipt for operation in self._operations(where, name, name))

    def operation(self, identity: str) -> Operation:
        """The operation with this id. Raises KeyError."""
        for operation in self._operations("id = ?", identity):
            return operation
        raise KeyError(identity)

    def unfinished(self, path: Path | None = None) -> tuple[Operation, ...]:
        """Operations that were begun and not ended, oldest first; with `path` those on this real path."""
        open_states = "state IN ('started', 'undoing')"
        if path is None:
            found = self._operations(open_states)
        else:
            where = f"{open_states} AND id IN (SELECT operation FROM changes WHERE path = ?)"
            found = self._operations(where, os.fsencode(path))
        return found[::-1]

    def last_done(self, path: Path) -> Operation | None:
        """The last commit that changed this real path and was not undone."""
        where = "state = 'done' AND id IN (SELECT operation FROM changes WHERE path = ?)"
        for operation in self._operations(where, os.fsencode(path)):
            return operation
        return None

    def own_times(self, path: Path) -> frozenset[int]:
        """The times of change (nanoseconds) that our commits and undos left on this real path."""
        name = os.fsencode(path)
        with self._told():
            rows = self._database.execute("SELECT before, after FROM changes WHERE path = ?", (name,)).fetchall()
        states = [state for row in rows for text in row if (state := _state_from(text)) is not None]
        return frozenset(state.mtime_ns for state in states)

    def _operations(self, where: str, *values: Any) -> tuple[Operation, ...]:
        query = f"SELECT {_RECEIPT}, locks FROM operations WHERE {where} ORDER BY number DESC"
        with self._told():
            rows = self._database.execute(query, values).fetchall()
            return tuple(self._operation(row) for row in rows)

    def _operation(self, row: Sequence[Any]) -> Operation:
        changes = self._changes(row[0])
        backups = tuple(change.backup for change in changes if change.backup is not None and change.backup.exists())
        locks = tuple(map(Path, json.loads(row[-1])))
        return Operation(_receipt_from(row[:-1], backups), changes, locks)

    def _changes(self, identity: str) -> tuple[Change, ...]:
        columns = "kind, path, bytes, sha256, before, after, backup"
        query = f"SELECT {columns} FROM changes WHERE operation = ? ORDER BY number"
        return tuple(
            Change(kind, _path_from(path), size, sha256, _state_from(before), _state_from(after), _backup(backup))
            for kind, path, size, sha256, before, after, backup in self._database.execute(query, (identity,))
        )

    # Writing.

    def start(self, operation: Operation, data: Sequence[bytes]) -> None:
        """Record, durably, that `operation` is about to write `data` (one element a change)."""
        receipt = operation.receipt
        row = (
            receipt.id,
            receipt.time,
            receipt.kind,
            os.fsencode(receipt.session),
            os.fsencode(receipt.result),
            _text(receipt.facts),
            _text(receipt.before),
            receipt.state,
            json.dumps([os.fspath(path) for path in operation.locks]),
        )
        changes = [
            (
                receipt.id,
                number,
                change.kind,
                os.fsencode(change.path),
                change.size,
                change.sha256,
                _text(change.before),
                None if change.backup is None else os.fsencode(change.backup),
            )
            for number, change in enumerate(operation.changes)
        ]
        columns = "id, time, kind, session, result, facts, before, state, locks"
        with self._writing():
            self._database.execute(f"INSERT INTO operations ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
            columns = "operation, number, kind, path, bytes, sha256, before, backup"
            self._database.executemany(f"INSERT INTO changes ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", changes)
            self._sweep()
            self._keep(receipt.id, data)

    def done(self, operation: Operation, after: Sequence[FileState], now: float, reason: str = "") -> Receipt:
        """Record that all of it stands: the state of each changed file, and the result's in the receipt."""
        receipt = operation.receipt
        states = dict(zip((change.path for change in operation.changes), after, strict=True))
        ended = replace(receipt, state="done", after=states.get(receipt.result), reason=reason, ended=now)
        with self._writing():
            self._end(ended)
            for number, state in enumerate(after):
                values = (_text(state), receipt.id, number)
                self._database.execute("UPDATE changes SET after = ? WHERE operation = ? AND number = ?", values)
        self._forget(receipt.id)
        return ended

    def mark(self, receipt: Receipt, state: State, now: float, reason: str = "") -> Receipt:
        """Record another state and the reason for it."""
        marked = replace(receipt, state=state, reason=reason, ended=now)
        with self._writing():
            self._end(marked)
        if state not in ("started", "undoing"):
            self._forget(receipt.id)
        return marked

    def _end(self, receipt: Receipt) -> None:
        after = None if receipt.after is None else _text(receipt.after)
        values = (receipt.state, receipt.reason, receipt.ended, after, receipt.id)
        self._database.execute("UPDATE operations SET state = ?, reason = ?, ended = ?, after = ? WHERE id = ?", values)

    # The bytes that are about to be written.

    def pending(self, identity: str, number: int) -> bytes | None:
        """What the unfinished operation was to write as its change `number`; None where it is gone."""
        try:
            return self._pending_path(identity, number).read_bytes()
        except FileNotFoundError:
            return None

    def _keep(self, identity: str, data: Sequence[bytes]) -> None:
        folder = self.folder / "pending"
        try:
            folder.mkdir(mode=0o700, exist_ok=True)
            for number, block in enumerate(data):
                if not block:  # what appears whole or not at all is known again by its hash
                    continue
                flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
                with open(os.open(self._pending_path(identity, number), flags, 0o600), "wb") as file:
                    file.write(block)
                    file.flush()
                    os.fsync(file.fileno())
            sync_folder(folder)
        except OSError as error:
            self._forget(identity)
            raise CommitRefused(f"{folder}: cannot keep what is about to be written: {cause_of(error)}") from error

    def _forget(self, identity: str) -> None:
        """Delete what was kept; where that fails, `_sweep` tries again."""
        for path in (self.folder / "pending").glob(f"{identity}.*"):
            with suppress(OSError):
                path.unlink()

    def _sweep(self) -> None:
        """Delete what a kill left behind. Inside a transaction: nobody else is between keeping and recording."""
        rows = self._database.execute("SELECT id FROM operations WHERE state IN ('started', 'undoing')")
        needed = {row[0] for row in rows}
        for identity in {path.name.rpartition(".")[0] for path in (self.folder / "pending").glob("*.*")} - needed:
            self._forget(identity)

    def _pending_path(self, identity: str, number: int) -> Path:
        return self.folder / "pending" / f"{identity}.{number}"

    # Errors.

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """One durable transaction."""
        with self._told():
            self._database.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._database.execute("COMMIT")
            except BaseException:
                if self._database.in_transaction:
                    self._database.execute("ROLLBACK")
                raise

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise self._refusal(error) from error

    def _refusal(self, error: BaseException) -> CommitRefused:
        return CommitRefused(
            f"{self.path}: the journal cannot be used: {cause_of(error)} (another folder: {STATE_FOLDER_VARIABLE})"
        )


def _text(value: Facts | FileState | None) -> str | None:
    """As JSON in ASCII; the standard encoder, as a hostile session's ids may hold lone surrogates."""
    return None if value is None else json.dumps(msgspec.to_builtins(value))


def _state_from(text: str | None) -> FileState | None:
    return None if text is None else msgspec.convert(json.loads(text), type=FileState)


def _path_from(name: bytes) -> Path:
    return Path(os.fsdecode(name))


def _backup(name: bytes | None) -> Path | None:
    return None if name is None else _path_from(name)


def _receipt_from(row: Sequence[Any], backups: tuple[Path, ...]) -> Receipt:
    identity, time, kind, session, result, facts, before, after, state, reason, ended = row
    return Receipt(
        id=identity,
        time=time,
        facts=msgspec.convert(json.loads(facts), type=Facts),
        kind=kind,
        session=_path_from(session),
        result=_path_from(result),
        before=msgspec.convert(json.loads(before), type=FileState),
        after=_state_from(after),
        state=state,
        reason=reason,
        ended=ended,
        backups=backups,
    )
