"""Failing calls, interruptions, full and read-only disks: the old bytes or the approved ones, and the true cause."""

import errno
import os
import subprocess
from pathlib import Path

import pytest

from core.commit import Journal, can_write
from core.errors import CommitRefused, SeamlineError
from tests.core.committing import Case
from tests.core.troubling import faults, mounted, quick_folder, refused, unprivileged

KINDS = ["append", "replace", "fork"]
tmp_path = pytest.fixture(quick_folder)


@pytest.fixture(params=KINDS)
def case(request: pytest.FixtureRequest, tmp_path: Path) -> Case:
    return Case(tmp_path, request.param).make()


@pytest.fixture
def append(tmp_path: Path) -> Case:
    return Case(tmp_path).make()


def sweep(folder: Path, kind: str, monkeypatch: pytest.MonkeyPatch, error: BaseException, lasting: bool) -> int:
    """Commit with a fault at the first, second, … call until none is hit; the number of faults tried."""
    for number in range(1, 500):
        case = Case(folder / str(number), kind).make()
        before, request = case.look(), case.request()
        journal_made = Journal(case.state)
        journal_made.close()
        with faults(monkeypatch, number, error, lasting) as failed:
            try:
                case.commit(request=request)
                outcome = "done"
            except (SeamlineError, KeyboardInterrupt) as caught:
                outcome = str(caught)
        if not failed:
            assert case.new()
            return number - 1
        if lasting:
            assert "finished" not in case.recover()  # what was said to have failed is never finished later
        if outcome == "done":
            assert case.new(), (number, failed)
        else:
            assert case.look() == before, (number, failed, outcome)
            assert "done" not in case.states()
        assert case.recover() == [], (number, failed, outcome)
    raise AssertionError("the sweep did not end")


@pytest.mark.parametrize("kind", KINDS)
def test_a_fault_at_any_call_leaves_the_old_bytes_or_the_approved(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert sweep(tmp_path, kind, monkeypatch, OSError(errno.EIO, "I/O"), lasting=False) > 15


@pytest.mark.parametrize("kind", KINDS)
def test_an_interruption_at_any_call_leaves_the_old_bytes_or_the_approved(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert sweep(tmp_path, kind, monkeypatch, KeyboardInterrupt(), lasting=False) > 15


@pytest.mark.parametrize("kind", KINDS)
def test_a_disk_that_dies_at_any_call_is_recovered_from(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert sweep(tmp_path, kind, monkeypatch, OSError(errno.EIO, "I/O"), lasting=True) > 15


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.ENOSPC, "no space left on the disk: free some"),
        (errno.EDQUOT, "quota"),
        (errno.EROFS, "read-only"),
        (errno.EACCES, "permission denied"),
        (errno.EIO, "input/output error"),
    ],
)
def test_the_message_names_the_true_cause(case: Case, monkeypatch: pytest.MonkeyPatch, number: int, words: str) -> None:
    real = os.write

    def write(descriptor: int, data: bytes) -> int:
        if len(data) < 10:
            raise OSError(number, os.strerror(number))
        return real(descriptor, bytes(data)[: len(data) // 2])

    before = case.look()
    with monkeypatch.context() as patched:
        patched.setattr(os, "write", write)
        with pytest.raises(CommitRefused, match=words) as caught:
            case.commit()
    assert case.look() == before
    assert (number == errno.EACCES) == ("permission" in str(caught.value))
    assert case.commit().state == "done"  # and it works once the fault is gone


def test_short_writes_are_gone_on_with(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.write
    with monkeypatch.context() as patched:
        patched.setattr(os, "write", lambda descriptor, data: real(descriptor, bytes(data)[:5]))
        case.commit()
    assert case.new()


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root may mount")
@pytest.mark.parametrize("kind", KINDS)
def test_a_full_disk(kind: str, tmp_path: Path) -> None:
    with mounted(tmp_path / "sessions", "-t", "tmpfs", "-o", "size=64k", "tmpfs"):
        case = Case(tmp_path, kind).make(b"x" * 4095 + b"\n")
        with open(case.path.with_name("filler"), "wb", buffering=0) as filler, pytest.raises(OSError, match="space"):
            while True:
                filler.write(b"x" * 4096)
        refused(case, "no space left")


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root may mount")
def test_a_full_disk_under_the_journal(append: Case) -> None:
    with mounted(append.state, "-t", "tmpfs", "-o", "size=128k", "tmpfs"):
        Journal(append.state).close()
        with open(append.state / "filler", "wb", buffering=0) as filler, pytest.raises(OSError, match="space"):
            while True:
                filler.write(b"x" * 4096)
        refused(append, f"{append.state}.*no space left")


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root may mount")
@pytest.mark.parametrize("kind", KINDS)
def test_a_read_only_file_system(kind: str, tmp_path: Path) -> None:
    case = Case(tmp_path, kind).make()
    folder = case.path.parent
    with mounted(folder, "--bind", str(folder)):
        subprocess.run(["mount", "-o", "remount,bind,ro", str(folder)], check=True)
        with pytest.raises(CommitRefused, match="read-only file system"):
            can_write(case.path, fork=kind == "fork")
        refused(case, "read-only")


@pytest.mark.parametrize("what", ["file", "folder"])
def test_a_read_only_file_or_folder_is_said_before_any_work(what: str) -> None:
    with unprivileged() as folder:
        case = Case(folder).make()
        place = case.path if what == "file" else case.path.parent
        place.chmod(0o444 if what == "file" else 0o555)
        words = "cannot be written: permission denied" if what == "file" else "folder is read-only"
        with pytest.raises(CommitRefused, match=words):
            can_write(case.path)
        refused(case, words)
        place.chmod(0o755)
        assert case.commit().state == "done"


def test_a_read_only_file_can_be_forked() -> None:
    with unprivileged() as folder:
        case = Case(folder, "fork").make()
        case.path.chmod(0o444)
        assert case.commit().state == "done"
