"""The journal keeps facts and hashes of every commit, and not a word of the session."""

import hashlib
import json
import os
import sqlite3
import stat
from pathlib import Path

import pytest

from core.commit import Journal, state_folder
from core.errors import CommitRefused
from tests.core.committing import DATA, OLD, Case, Child, child_process

child = pytest.fixture(child_process)


def test_a_receipt_as_json(tmp_path: Path) -> None:
    case = Case(tmp_path).make()
    case.commit()
    (receipt,) = case.receipts()
    shown = json.loads(json.dumps(receipt.to_json()))
    assert shown["agent"] == "pi"
    assert shown["session"] == str(case.path)
    assert shown["policy"] == "handoff"
    assert shown["kind"] == "append"
    assert shown["range"] == {"first": "a", "last": "b", "counts": {"drop": 2}}
    assert (shown["tokens_before"], shown["tokens_after"]) == ({"value": 9}, {"value": 3})
    assert shown["sha256_before"] == {"value": hashlib.sha256(OLD).hexdigest(), "scope": "whole"}
    assert shown["sha256_after"] == {"value": hashlib.sha256(OLD + DATA).hexdigest(), "scope": "whole"}
    assert shown["summary"] == {"writer": "offline", "call": None}
    assert shown["state"] == "done"
    assert shown["time"].endswith("Z")


def test_no_text_of_the_session_is_kept(tmp_path: Path) -> None:
    case = Case(tmp_path).make()
    case.commit()
    for path in case.state.rglob("*"):
        if path.is_file():
            assert b"SECRET" not in path.read_bytes()


def test_the_bytes_about_to_be_written_are_kept_for_a_recovery_and_swept_later(tmp_path: Path, child: Child) -> None:
    case = Case(tmp_path).make()
    child.kill(case, "commit", "write")
    (name,) = case.pending()
    pending = case.state / "pending" / name
    assert pending.read_bytes() == DATA
    assert stat.S_IMODE(pending.stat().st_mode) == 0o600
    orphan = case.state / "pending" / ("0" * 32 + ".0")
    orphan.write_bytes(b"of a process that was killed before it could say so")
    case.recover()
    case.commit()
    assert case.pending() == []


def test_only_the_owner_may_read_it(tmp_path: Path) -> None:
    with Journal(tmp_path / "state") as journal:
        assert stat.S_IMODE(journal.folder.stat().st_mode) == 0o700
        assert stat.S_IMODE(journal.path.stat().st_mode) == 0o600


def test_where_it_is_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SEAMLINE_STATE_DIR", str(tmp_path / "mine"))
    assert state_folder() == tmp_path / "mine"
    with Journal() as journal:
        assert journal.path == tmp_path / "mine" / "journal.sqlite3"
    monkeypatch.delenv("SEAMLINE_STATE_DIR")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    assert state_folder().is_relative_to(tmp_path)
    assert "seamline" in state_folder().parts


def test_newest_first_and_by_session(tmp_path: Path) -> None:
    first, second = Case(tmp_path / "1").make(), Case(tmp_path / "2", "fork").make()
    with Journal(tmp_path / "state") as journal:
        from core.commit import commit

        stamp = first.stamp()
        receipts = [commit(case.request(), journal, stamp) for case in (first, second, first)]
        assert journal.receipts() == tuple(reversed(receipts))
        assert journal.receipts(first.path) == (receipts[2], receipts[0])
        assert journal.receipts(second.path) == (receipts[1],)
        assert journal.receipts(second.result) == (receipts[1],)
        with pytest.raises(KeyError):
            journal.operation("unknown")


def test_names_and_ids_that_are_no_text(tmp_path: Path) -> None:
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/odd-\xff"))
    case = Case(folder).make()
    receipt = case.commit()
    assert case.receipts() == (receipt,)
    assert r"odd-\xff" in json.dumps(receipt.to_json()["session"]).replace("\\\\", "\\")
    case.undo()
    assert case.path.read_bytes() == OLD


def test_a_damaged_journal_is_said(tmp_path: Path) -> None:
    (tmp_path / "journal.sqlite3").write_bytes(b"this is no database" * 100)
    with pytest.raises(CommitRefused, match="no SQLite file: move it away"):
        Journal(tmp_path)


def test_a_newer_journal_is_said(tmp_path: Path) -> None:
    with Journal(tmp_path) as journal:
        path = journal.path
    database = sqlite3.connect(path)
    database.execute("PRAGMA user_version = 99")
    database.close()
    with pytest.raises(CommitRefused, match="newer Seamline"):
        Journal(tmp_path)


def test_a_state_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(CommitRefused, match=r"the journal cannot be used.*SEAMLINE_STATE_DIR"):
        Journal(tmp_path / "file" / "state")


def test_a_journal_held_by_another_program_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.commit.journal.BUSY_SECONDS", 0.1)
    case = Case(tmp_path).make()
    before = case.look()
    with Journal(case.state) as journal:
        other = sqlite3.connect(journal.path)
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(CommitRefused, match="another program holds it"):
            case.commit()
        other.close()
    assert case.look() == before
    assert case.pending() == []
