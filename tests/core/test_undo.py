"""Undo gives back the same bytes, mode and time of change, or refuses with the reason and touches nothing."""

import errno
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from core.commit import Journal, look
from core.commit.locking import locked
from core.commit.undo import last_commit
from core.errors import CommitRefused, SeamlineError
from tests.core.committing import DATA, LONG_AGO, OLD, Case
from tests.core.troubling import faults, quick_folder

tmp_path = pytest.fixture(quick_folder)


@pytest.fixture
def case(tmp_path: Path) -> Case:
    return Case(tmp_path).make()


@pytest.fixture
def fork(tmp_path: Path) -> Case:
    return Case(tmp_path, "fork").make()


def refused(case: Case, words: str) -> None:
    before = case.look(), case.result.read_bytes()
    with pytest.raises(CommitRefused, match=words) as caught:
        case.undo()
    assert (case.look(), case.result.read_bytes()) == before
    assert str(caught.value).startswith("/")


def test_everything_comes_back(case: Case) -> None:
    before = case.look()
    case.commit()
    receipt = case.undo()
    assert case.look() == before
    assert case.path.read_bytes() == OLD
    assert receipt.state == "undone"
    assert receipt.after is not None
    assert case.states() == ["undone"]


def test_a_changed_mode_and_a_touched_file_come_back_too(case: Case) -> None:
    before = case.look()
    case.commit()
    case.path.chmod(0o600)
    os.utime(case.path)
    case.undo()
    assert case.look() == before


def test_commits_are_undone_one_by_one(case: Case) -> None:
    before = case.look()
    case.commit()
    middle = case.look()
    case.commit()
    case.undo()
    assert case.look() == middle
    case.undo()
    assert case.look() == before
    refused(case, "nothing to undo")
    case.commit()
    assert case.states() == ["done", "undone", "undone"]


def test_after_an_undo_the_file_counts_as_quiet(case: Case) -> None:
    recent = time.time_ns() - 2_000_000_000
    os.utime(case.path, ns=(recent, recent))
    case.agent_stopped = True
    case.commit()
    case.undo()
    assert case.path.stat().st_mtime_ns == recent
    with Journal(case.state) as journal:
        assert look(case.path, None, journal, time.time()).state == "quiet"


def test_what_the_agent_wrote_since_is_never_cut_off(case: Case) -> None:
    case.commit()
    with open(case.path, "ab") as file:
        file.write(b'{"turn":1}\n')
    refused(case, "the agent has written 11 bytes since")
    assert case.states() == ["done"]


@pytest.mark.parametrize(
    "change",
    [
        lambda whole: whole[:-3],
        lambda whole: whole.replace(b"SECRET", b"PUBLIC"),
        lambda whole: whole.replace(b"line", b"LINE"),
        lambda whole: whole.replace(b"line", b"LINE") + b"more\n",
        lambda whole: b"",
    ],
    ids=["shorter", "ours altered", "the old altered", "altered and longer", "empty"],
)
def test_a_file_that_is_no_longer_as_we_left_it(case: Case, change: Callable[[bytes], bytes]) -> None:
    case.commit()
    case.path.write_bytes(change(case.path.read_bytes()))
    refused(case, "no longer as the commit left it")


def test_a_running_agent_is_refused(case: Case) -> None:
    case.commit()
    case.known_running = lambda path: "pi runs with it (process 7)"
    refused(case, "pi runs with it")


def test_nothing_on_record(case: Case) -> None:
    refused(case, "nothing to undo: no commit on it is on record")


def test_the_lock_is_told(case: Case) -> None:
    case.commit()
    with locked(case.state, [case.path]):
        refused(case, "locked")


def test_a_session_that_is_gone(case: Case) -> None:
    case.commit()
    case.path.unlink()
    with pytest.raises(CommitRefused, match="no such file"):
        case.undo()


def test_a_copy_put_in_its_place_is_undone_too(case: Case) -> None:
    case.commit()
    copy = case.folder / "copy"
    shutil.copy(case.path, copy)
    copy.replace(case.path)
    case.undo()
    assert case.path.read_bytes() == OLD
    assert case.path.stat().st_mtime_ns == LONG_AGO


def test_the_commit_that_would_be_undone(case: Case) -> None:
    receipt = case.commit()
    with Journal(case.state) as journal:
        assert last_commit(case.path, journal) == receipt


# A fork.


def test_a_fork_is_removed(fork: Case) -> None:
    before = fork.look()
    fork.commit()
    fork.undo()
    assert fork.look() == before
    assert fork.states() == ["undone"]


def test_a_fork_that_was_used_stays(fork: Case) -> None:
    fork.commit()
    with open(fork.result, "ab") as file:
        file.write(b'{"turn":1}\n')
    refused(fork, "has been used since")


def test_a_fork_that_was_deleted_counts_as_undone(fork: Case) -> None:
    fork.commit()
    fork.result.unlink()
    assert fork.undo().state == "undone"


def test_undo_on_the_original_names_the_fork(fork: Case) -> None:
    fork.commit()
    with Journal(fork.state) as journal, pytest.raises(CommitRefused, match=f"undo {fork.result}"):
        last_commit(fork.path, journal)


# Faults.


@pytest.mark.parametrize("kind", ["append", "replace", "fork"])
@pytest.mark.parametrize("lasting", [False, True])
@pytest.mark.parametrize("error", [OSError(errno.EIO, "I/O"), KeyboardInterrupt()])
def test_a_fault_at_any_call_leaves_the_commit_or_undoes_it(
    kind: str, lasting: bool, error: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(1, 200):
        case = Case(tmp_path / str(number), kind).make()
        before = case.look()
        case.commit()
        with faults(monkeypatch, number, error, lasting) as failed:
            try:
                case.undo()
            except (SeamlineError, OSError, KeyboardInterrupt) as caught:
                assert number < 8 or isinstance(caught, SeamlineError | KeyboardInterrupt), caught
        if not failed:
            assert number > 8
            break
        case.recover()
        if case.states() == ["undone"]:
            assert case.look() == before
        else:
            assert case.states() == ["done"], (number, failed)
            assert case.new(), (number, failed)
            case.undo()
            assert case.look() == before
    else:
        raise AssertionError("the sweep did not end")


def test_the_bytes_that_were_ours_are_not_kept(case: Case) -> None:
    case.commit()
    case.undo()
    kept = b"".join(path.read_bytes() for path in case.state.rglob("*") if path.is_file())
    assert b"SECRET" not in kept
    assert DATA not in kept
