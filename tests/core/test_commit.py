"""A commit is the approved one or none: what is checked before and after it is written."""

import errno
import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from core.commit import Journal, can_write, look
from core.errors import CommitRefused, Stale
from core.patch import Append, Patch
from tests.core.committing import DATA, LONG_AGO, OLD, Case, Child, child_process
from tests.core.troubling import quick_folder, refused

KINDS = ["append", "replace", "fork"]
tmp_path = pytest.fixture(quick_folder)
child = pytest.fixture(child_process)


@pytest.fixture(params=KINDS)
def case(request: pytest.FixtureRequest, tmp_path: Path) -> Case:
    return Case(tmp_path, request.param).make()


@pytest.fixture
def append(tmp_path: Path) -> Case:
    return Case(tmp_path).make()


def test_an_append_keeps_the_file_and_adds_the_approved_bytes(append: Case) -> None:
    before, names = append.look()
    receipt = append.commit()
    after, names_after = append.look()
    assert append.path.read_bytes() == OLD + DATA
    assert (after.inode, after.mode, names_after) == (before.inode, before.mode, names)
    assert receipt.state == "done"
    assert receipt.before == before
    assert receipt.after == after
    assert append.pending() == []


def test_a_fork_leaves_the_original_untouched(tmp_path: Path) -> None:
    case = Case(tmp_path, "fork").make()
    before, _ = case.look()
    receipt = case.commit()
    after, names = case.look()
    assert after == before
    assert names == ["fork.jsonl", "one.jsonl"]
    assert case.result.read_bytes() == OLD + DATA
    assert case.result.stat().st_mode & 0o777 == before.mode
    assert case.result.stat().st_nlink == 1
    assert receipt.result == case.result
    assert receipt.session == case.path


def test_a_second_commit_on_top(append: Case) -> None:
    append.commit()
    append.commit()
    assert append.path.read_bytes() == OLD + DATA + DATA
    assert append.states() == ["done", "done"]


def test_a_large_file_is_hashed_at_its_end_only(append: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    with open(append.path, "r+b") as file:
        file.truncate(200 << 20)  # sparse
    os.utime(append.path, ns=(LONG_AGO, LONG_AGO))
    request = replace(append.request(), approved="", reread=lambda path: "")
    read = 0
    real = os.pread

    def counted(descriptor: int, length: int, offset: int) -> bytes:
        nonlocal read
        block = real(descriptor, length, offset)
        read += len(block)
        return block

    monkeypatch.setattr(os, "pread", counted)
    receipt = append.commit(request=request)
    assert receipt.before.sha256.scope == "tail"
    assert read < 20 << 20
    append.undo()
    assert append.path.stat().st_size == 200 << 20
    assert append.path.stat().st_mtime_ns == LONG_AGO


@pytest.mark.parametrize("form", ["relative", "chained", "absolute"])
def test_a_symbolic_link_stays_and_its_target_is_written(append: Case, form: str) -> None:
    elsewhere = append.folder / "elsewhere"
    elsewhere.mkdir()
    link = elsewhere / "link.jsonl"
    if form == "absolute":
        link.symlink_to(append.path)
    else:
        link.symlink_to("../sessions/one.jsonl")
    if form == "chained":
        first, link = link, elsewhere / "second.jsonl"
        link.symlink_to(first.name)
    inode = append.path.stat().st_ino
    append.named = link
    receipt = append.commit()
    assert link.is_symlink()
    assert append.path.read_bytes() == OLD + DATA
    assert append.path.stat().st_ino == inode
    assert receipt.session == append.path
    with Journal(append.state) as journal:
        assert [found.id for found in journal.receipts(link)] == [receipt.id]
    append.undo()
    assert append.path.read_bytes() == OLD


def test_a_dangling_link_is_refused_and_creates_nothing(append: Case) -> None:
    request = append.request()
    link = append.folder / "dangling.jsonl"
    link.symlink_to("nowhere.jsonl")
    patch = Patch((Append(link, 0, DATA),), link, "append")
    with pytest.raises(CommitRefused, match="leads nowhere"):
        append.commit(request=replace(request, patch=patch, session=link))
    assert not (append.folder / "nowhere.jsonl").exists()


def test_a_loop_of_links_is_refused(append: Case) -> None:
    loop = append.folder / "loop.jsonl"
    loop.symlink_to("loop.jsonl")
    with pytest.raises(CommitRefused, match="cannot be followed"):
        can_write(loop)


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo])
def test_what_is_no_file_is_refused(append: Case, make: Callable[[Path], None]) -> None:
    odd = append.folder / "odd.jsonl"
    make(odd)
    with pytest.raises(CommitRefused, match="not a regular file"):
        can_write(odd)


def test_a_hard_link_is_appended_to_under_both_names(append: Case) -> None:
    other = append.folder / "other.jsonl"
    os.link(append.path, other)
    append.commit()
    assert other.read_bytes() == OLD + DATA


@pytest.mark.parametrize("more", [b'{"n":99}\n', b'{"n":9'], ids=["entry", "half an entry"])
def test_a_session_that_grew_since_the_proposal_is_refused(case: Case, more: bytes) -> None:
    request = case.request()
    with open(case.path, "ab") as file:
        file.write(more)
    os.utime(case.path, ns=(LONG_AGO, LONG_AGO))
    refused(case, "has changed since the proposal", Stale, request=request)
    assert case.path.read_bytes() == OLD + more
    assert case.states() == []


def test_a_session_rewritten_with_the_same_length_is_refused(case: Case) -> None:
    request = case.request()
    case.make(OLD.replace(b"line", b"LINE"))
    refused(case, "has changed since the proposal", Stale, request=request)


def test_a_missing_session_is_refused(case: Case) -> None:
    request = case.request()
    case.path.unlink()
    with pytest.raises(CommitRefused, match="no such file"):
        case.commit(request=request)


def test_a_known_running_agent_is_refused_whatever_is_said(append: Case) -> None:
    append.known_running = lambda path: "pi runs with it (process 7)"
    append.agent_stopped = True
    refused(append, "pi runs with it")


def test_a_file_written_just_now_needs_the_persons_word(append: Case) -> None:
    os.utime(append.path)
    refused(append, "may still be running")
    append.agent_stopped = True
    assert append.commit().state == "done"


def test_a_fork_needs_no_word(tmp_path: Path) -> None:
    case = Case(tmp_path, "fork", known_running=lambda path: "it runs").make()
    os.utime(case.path)
    assert case.commit().state == "done"


def test_our_own_writing_does_not_count_as_the_agents(append: Case) -> None:
    append.commit()
    with Journal(append.state) as journal:
        assert look(append.path, None, journal, time.time()).state == "quiet"
        os.utime(append.path)
        assert look(append.path, None, journal, time.time()).state == "recent"
        assert look(append.path, None, journal, time.time() + 31).state == "quiet"
        assert look(append.path, None, journal, time.time() - 100).state == "recent"  # a clock that is behind


def test_a_commit_that_nobody_ended_stands_in_the_way(append: Case, child: Child) -> None:
    child.kill(append, "commit", "sync")
    with pytest.raises(CommitRefused, match="interrupted"):
        append.commit()


def test_a_different_after_view_is_taken_back(case: Case) -> None:
    before = case.look()
    case.reread = lambda path: "another view"
    message = refused(case, "not what was approved")
    assert "as it was" in message
    assert case.look() == before
    assert case.states() == ["failed"]
    assert case.receipts()[0].reason == message


@pytest.mark.parametrize("error", [ValueError("unreadable"), KeyboardInterrupt(), SystemExit(1), MemoryError()])
def test_whatever_the_reader_raises_is_taken_back(case: Case, error: BaseException) -> None:
    def reread(path: Path) -> str:
        raise error

    before = case.look()
    case.reread = reread
    expected = CommitRefused if isinstance(error, Exception) else type(error)
    with pytest.raises(expected):
        case.commit()
    assert case.look() == before
    assert case.states() == ["failed"]
    assert case.recover() == []


def test_a_fork_never_overwrites(tmp_path: Path) -> None:
    case = Case(tmp_path, "fork").make()
    request = case.request()
    case.result.write_bytes(b"mine")
    refused(case, "exists already", request=request)
    assert case.result.read_bytes() == b"mine"


def test_a_fork_never_overwrites_what_comes_at_the_last_moment(tmp_path: Path) -> None:
    case = Case(tmp_path, "fork").make()

    def at(step: str) -> None:
        if step == "name":
            case.result.write_bytes(b"mine")

    with pytest.raises(CommitRefused, match="exists already"):
        case.commit(at)
    assert case.result.read_bytes() == b"mine"
    assert case.names() == ["fork.jsonl", "one.jsonl"]


def test_a_fork_where_there_are_no_hard_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def link(source: object, target: object) -> None:
        raise OSError(errno.EPERM, "no hard links")

    monkeypatch.setattr(os, "link", link)
    case = Case(tmp_path, "fork").make()
    case.commit()
    assert case.new()
