"""A replaced file: what it keeps of the old one, who may still write to that, and what is taken from where."""

import errno
import fcntl
import os
import subprocess
import time
from dataclasses import replace as altered
from pathlib import Path

import pytest

from core.commit import Journal, recover
from core.commit import replace as replacing
from core.errors import CommitRefused, Stale
from core.files import Disk, Overlay
from core.patch import Create, Kept, Patch, Replace
from tests.core.committing import DATA, NEW, OLD, Case, Child, child_process
from tests.core.troubling import quick_folder, refused, unprivileged, without_lease

tmp_path = pytest.fixture(quick_folder)
child = pytest.fixture(child_process)
LATE = b'{"late":1}\n'


@pytest.fixture
def case(tmp_path: Path) -> Case:
    return Case(tmp_path, "replace").make()


@pytest.mark.parametrize("length", [1, 7, 64, 100_000])
def test_a_rope_is_read_like_the_file_that_it_makes(tmp_path: Path, length: int) -> None:
    path, new = tmp_path / "a", tmp_path / "b"
    path.write_bytes(OLD)
    pieces = (b"[", Kept(3, 50), Kept(50, 50), b"", b"new", Kept(10, 200), b"]")
    wanted = b"[" + OLD[3:50] + b"new" + OLD[10:200] + b"]"
    named = tuple(altered(piece, path=path) if isinstance(piece, Kept) else piece for piece in pieces)
    for change in (Replace(path, len(OLD), pieces), Create(new, pieces=named)):
        seen = Overlay(Disk(), Patch((change,), change.path, "replace"))
        assert seen.size(change.path) == change.size == len(wanted)
        read = b"".join(seen.read(change.path, offset, length) for offset in range(0, len(wanted) + 9, length))
        assert read == wanted
    assert Overlay(Disk(), Patch((Replace(path, len(OLD), ()),), path, "replace")).read(path, 0, 9) == b""


def test_everything_but_the_bytes_is_kept(case: Case) -> None:
    owner = (12345, 54321) if os.geteuid() == 0 else (os.geteuid(), os.getegid())
    os.chown(case.path, *owner)
    try:
        os.setxattr(case.path, "user.note", b"mine")
    except OSError:
        pytest.skip("this file system has no extended attributes")
    before, _ = case.look()
    receipt = case.commit()
    status = case.path.stat()
    assert case.path.read_bytes() == NEW
    assert (status.st_uid, status.st_gid) == owner
    assert status.st_mode & 0o7777 == before.mode
    assert os.getxattr(case.path, "user.note") == b"mine"
    (backup,) = receipt.backups
    assert backup.read_bytes() == OLD
    assert backup.stat().st_mode & 0o777 == 0o600
    case.undo()
    assert case.look()[0] == before
    assert (case.path.stat().st_uid, os.getxattr(case.path, "user.note")) == (owner[0], b"mine")
    assert backup.exists()  # never purged silently


def test_the_owner_of_another_user_cannot_be_kept_so_it_is_refused() -> None:
    with unprivileged() as folder:
        case = Case(folder, "replace").make()
        if os.getuid() != 0:
            pytest.skip("only root can make somebody else's file")
        os.seteuid(0)
        os.chown(case.path, 4444, 65534)
        case.path.chmod(0o664)
        os.setegid(65534)
        os.seteuid(65534)
        try:
            with pytest.raises(CommitRefused, match="could not belong to the owner"):
                case.commit()
            assert case.path.read_bytes() == OLD
            assert case.names() == ["one.jsonl"]
        finally:
            os.seteuid(0)
            os.setegid(0)
            os.seteuid(65534)


def test_a_file_with_two_names_is_refused(case: Case) -> None:
    os.link(case.path, case.path.with_name("two.jsonl"))
    assert "2 names (hard links)" in refused(case, "hard links")


def test_the_backup_is_listed_and_an_undo_without_it_is_refused(case: Case) -> None:
    case.commit()
    (receipt,) = case.receipts()
    (backup,) = receipt.backups
    assert receipt.to_json()["backups"] == [str(backup)]
    backup.write_bytes(b"something else")
    with pytest.raises(CommitRefused, match="no longer holds the old bytes"):
        case.undo()
    backup.unlink()
    with pytest.raises(CommitRefused, match="are gone"):
        case.undo()
    assert case.path.read_bytes() == NEW
    assert case.receipts()[0].backups == ()


def test_no_room_for_the_backup_is_said_with_its_folder(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "no space")

    monkeypatch.setattr("core.commit.backup._cloned", full)
    refused(case, f"{case.state / 'backups'}: cannot keep a copy of the old session: no space left")
    assert list((case.state / "backups").iterdir()) == []


# Who still has the old file open.


@pytest.mark.parametrize("step", ["link", "rename", "renamed", "re-read"])
def test_a_line_that_comes_late_to_the_old_file_is_kept_and_said(
    case: Case, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open(case.path, "ab", buffering=0) as agent:

        def at(reached: str) -> None:
            if reached == step:
                agent.write(LATE)

        with pytest.raises(Stale, match=r"what it wrote is kept"):
            case.commit(at)
        assert case.path.read_bytes() == OLD + LATE
        assert os.path.samestat(case.path.stat(), os.fstat(agent.fileno()))  # and what it writes next is kept too
    assert case.names() == ["one.jsonl"]
    assert case.states() == ["failed"]


def test_a_line_within_the_grace_is_kept(case: Case) -> None:
    with open(case.path, "ab") as file:
        late = subprocess.Popen(["sh", "-c", "sleep 0.4; echo late"], stdout=file)
    with pytest.raises(Stale, match="what it wrote is kept"):
        case.commit()
    late.wait()
    assert case.path.read_bytes() == OLD + b"late\n"


def test_who_only_has_it_open_is_waited_for_and_no_longer(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replacing, "GRACE_SECONDS", 0.2)
    with open(case.path, "rb"):
        began = time.monotonic()
        assert case.commit().state == "done"
        assert 0.2 <= time.monotonic() - began < 2


def test_without_a_second_name_an_open_file_is_refused(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    def link(source: object, target: object) -> None:
        raise OSError(errno.EPERM, "no hard links")

    monkeypatch.setattr(os, "link", link)
    with open(case.path, "rb"):
        refused(case, "another program has it open")
    assert case.commit().state == "done"
    case.undo()
    assert case.path.read_bytes() == OLD


def test_lines_to_the_new_file_are_never_cut_off(case: Case) -> None:
    def at(step: str) -> None:
        if step == "re-read":
            with open(case.path, "ab") as file:
                file.write(LATE)

    with pytest.raises(CommitRefused, match=r"has changed.*left as it is"):
        case.commit(at)
    assert case.path.read_bytes() == NEW + LATE
    assert case.names() == ["one.jsonl"]


def test_a_line_that_came_late_while_we_were_dead_is_kept(case: Case, child: Child) -> None:
    with open(case.path, "ab", buffering=0) as agent:
        child.kill(case, "commit", "re-read")
        assert case.path.read_bytes() == NEW
        agent.write(LATE)
        assert case.recover() == ["rolled-back"]
        assert case.path.read_bytes() == OLD + LATE
    assert case.names() == ["one.jsonl"]


def test_late_lines_of_two_files_are_left_to_a_person(case: Case, child: Child) -> None:
    with open(case.path, "ab", buffering=0) as agent:
        child.kill(case, "commit", "re-read")
        agent.write(LATE)
        with open(case.path, "ab") as file:
            file.write(b"other\n")
    with Journal(case.state) as journal:
        (found,) = recover(journal, case.path, now=time.time())
    assert found.outcome == "stopped"
    (old,) = [path for path in case.path.parent.iterdir() if path != case.path]
    assert str(old) in found.words
    assert old.read_bytes() == OLD + LATE
    assert case.path.read_bytes() == NEW + b"other\n"


def test_a_replaced_file_that_the_agent_went_on_from_is_done(case: Case, child: Child) -> None:
    child.kill(case, "commit", "end")
    with open(case.path, "ab") as file:
        file.write(LATE)
    assert case.recover() == ["finished"]
    assert "the agent has gone on" in case.receipts()[0].reason
    with pytest.raises(CommitRefused, match="the agent has written 11 bytes since"):
        case.undo()


def test_a_writer_between_check_and_rename_is_never_overwritten(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    without_lease(monkeypatch)

    def at(step: str) -> None:
        if step == "sync":
            with open(case.path, "ab") as file:
                file.write(LATE)

    with pytest.raises(Stale, match="has changed"):
        case.commit(at)
    assert case.path.read_bytes() == OLD + LATE
    assert case.names() == ["one.jsonl"]


# The agent's own lock.


def test_the_agents_lock_is_held_and_a_lock_file_of_ours_goes(case: Case) -> None:
    lock = case.folder / "one.lock"
    case.locks = (lock, case.folder / "no such folder" / "x.lock")
    held: list[bool] = []

    def at(step: str) -> None:
        if step in ("write", "re-read"):
            with open(lock) as file, pytest.raises(BlockingIOError):
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            held.append(True)

    case.commit(at)
    assert held == [True, True]
    assert not lock.exists()
    lock.write_bytes(b"")
    case.undo()
    assert lock.exists()


def test_a_lock_that_the_agent_keeps_is_waited_for_and_then_said(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.commit.locking.PATIENCE_SECONDS", 0.2)
    lock = case.folder / "one.lock"
    case.locks = (lock,)
    with open(lock, "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        refused(case, f"{lock}: the agent holds its lock")
    assert case.commit().state == "done"
    with open(lock) as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(CommitRefused, match="holds its lock"):
            case.undo()
    case.undo()
    assert case.path.read_bytes() == OLD


def test_the_locks_are_known_after_a_kill(case: Case, child: Child, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.commit.locking.PATIENCE_SECONDS", 0.1)
    lock = case.folder / "one.lock"
    case.locks = (lock,)

    class Killed(BaseException):
        pass

    def at(step: str) -> None:
        if step == "renamed":
            monkeypatch.setattr("core.commit.apply._fail", lambda *_: None)  # as if killed
            raise Killed

    with pytest.raises(Killed):
        case.commit(at)
    with open(lock, "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert case.recover() == ["stopped"]
    assert case.recover() == ["finished"]
    assert case.path.read_bytes() == NEW
    assert DATA in NEW
