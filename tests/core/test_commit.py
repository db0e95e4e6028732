"""A commit is the approved one or none: every refusal and every fault leaves the session as it was."""

import errno
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.commit import Journal, Receipt, can_write, look
from core.commit.held import Held
from core.commit.locking import locked
from core.errors import CommitRefused, SeamlineError, Stale
from core.patch import Append, Patch
from tests.core.committing import DATA, LONG_AGO, OLD, Case

KINDS = ["append", "fork"]


@pytest.fixture(params=KINDS)
def case(request: pytest.FixtureRequest, tmp_path: Path) -> Case:
    return Case(tmp_path, request.param).make()


@pytest.fixture
def append(tmp_path: Path) -> Case:
    return Case(tmp_path).make()


# What a commit does.


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


# Links.


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


# What is checked before anything is written.


def refused(case: Case, words: str, error: type[Exception] = CommitRefused, **kw: Any) -> str:
    """Commit, expect a refusal with these words and no trace, and give the message."""
    before = case.look()
    with pytest.raises(error, match=words) as caught:
        case.commit(**kw)
    assert case.look() == before
    assert case.pending() == []
    message = str(caught.value)
    assert message.startswith("/")
    assert "\n" not in message
    return message


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


def test_an_appended_line_between_check_and_write_is_kept(append: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    without_lease(monkeypatch)  # with one, nobody could

    def at(step: str) -> None:
        if step == "start":
            with open(append.path, "ab") as file:
                file.write(b'{"late":1}\n')

    with pytest.raises(Stale, match="has changed"):
        append.commit(at)
    assert append.path.read_bytes() == OLD + b'{"late":1}\n'
    assert append.states() == ["failed"]


def test_a_file_replaced_between_check_and_write_is_refused(append: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    without_lease(monkeypatch)  # with one, nobody could

    def at(step: str) -> None:
        if step == "start":
            other = append.path.with_name("other")
            other.write_bytes(OLD)
            os.utime(other, ns=(LONG_AGO, LONG_AGO))
            other.replace(append.path)

    with pytest.raises(Stale, match="has changed"):
        append.commit(at)
    assert append.path.read_bytes() == OLD


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


def test_a_commit_that_nobody_ended_stands_in_the_way(append: Case) -> None:
    child = append.child("commit", "sync")
    child.communicate()
    with pytest.raises(CommitRefused, match="interrupted"):
        append.commit()


# What is checked after the writing.


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


def test_lines_of_an_agent_that_came_before_ours_stay_when_ours_go(
    append: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_lease(monkeypatch)

    def at(step: str) -> None:
        if step == "write":
            with open(append.path, "ab") as file:
                file.write(b'{"late":1}\n')

    with pytest.raises(Stale, match="has changed"):
        append.commit(at)
    assert append.path.read_bytes() == OLD + b'{"late":1}\n'


def test_lines_of_an_agent_that_came_behind_ours_are_never_cut_off(append: Case) -> None:
    def at(step: str) -> None:
        if step == "re-read":
            with open(append.path, "ab") as file:
                file.write(b'{"late":1}\n')

    with pytest.raises(CommitRefused, match=r"has changed.*left as it is"):
        append.commit(at)
    assert append.path.read_bytes() == OLD + DATA + b'{"late":1}\n'
    assert append.states() == ["failed"]


def without_lease(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Held, "_lease", lambda self, take: False)


def test_a_writer_that_comes_while_we_write_goes_first(append: Case) -> None:
    with Held(append.path, os.O_RDWR | os.O_APPEND) as held, held.alone():
        if not held._leased:
            pytest.skip("this file system has no leases")
    writers: list[subprocess.Popen[bytes]] = []

    def at(step: str) -> None:
        if step == "write":
            writers.append(subprocess.Popen(["sh", "-c", f"echo late >> {append.path}"]))
            time.sleep(0.3)

    with pytest.raises(CommitRefused, match="another program is writing to it"):
        append.commit(at)
    writers[0].wait(10)
    assert append.path.read_bytes() == OLD + b"late\n"
    assert append.states() == ["failed"]


def test_an_undo_gives_way_to_a_writer(append: Case) -> None:
    append.commit()
    with Held(append.path, os.O_RDWR | os.O_APPEND) as held, held.alone():
        if not held._leased:
            pytest.skip("this file system has no leases")
        reader = subprocess.Popen(["cat", append.path], stdout=subprocess.DEVNULL)
        time.sleep(0.2)
        assert not held.awaited()  # who only reads is no danger
        writer = subprocess.Popen(["sh", "-c", f"echo late >> {append.path}"])
        time.sleep(0.2)
        assert held.awaited()
    writer.wait(10)
    reader.wait(10)
    with pytest.raises(CommitRefused, match="the agent has written 5 bytes"):
        append.undo()


def test_a_writer_that_opens_per_line_waits_while_we_write(append: Case) -> None:
    with Held(append.path, os.O_RDWR | os.O_APPEND) as held:
        with held.alone():
            if not held._leased:
                pytest.skip("this file system has no leases")
            writer = subprocess.Popen(["sh", "-c", f"echo late >> {append.path}"])
            with pytest.raises(subprocess.TimeoutExpired):
                writer.wait(0.3)
            os.write(held.descriptor, DATA)
        writer.wait(10)
    assert append.path.read_bytes() == OLD + DATA + b"late\n"


# Faults: every call that touches a file fails once, or from then on for good.

CALLS = ["open", "write", "fsync", "ftruncate", "utime", "link", "unlink", "fchmod", "pread", "fstat"]


@contextmanager
def faults(monkeypatch: pytest.MonkeyPatch, number: int, error: BaseException, lasting: bool) -> Iterator[list[str]]:
    """Let the call `number` (counted over all of CALLS) raise `error`; yields the calls that failed."""
    failed: list[str] = []
    count = 0

    def wrap(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **keywords: Any) -> Any:
            nonlocal count
            count += 1
            if count == number or (lasting and count > number):
                failed.append(name)
                raise error
            return real(*arguments, **keywords)

        return call

    with monkeypatch.context() as patched:
        for name in CALLS:
            patched.setattr(os, name, wrap(name, getattr(os, name)))
        yield failed


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


# Real file systems and rights.


@contextmanager
def mounted(folder: Path, *options: str) -> Iterator[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(["mount", *options, str(folder)], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"cannot mount here: {done.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


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


@contextmanager
def unprivileged() -> Iterator[Path]:
    """A folder of somebody without root's rights, as whom the block is run."""
    with tempfile.TemporaryDirectory() as name:
        if os.geteuid() != 0:
            yield Path(name)
            return
        os.chown(name, 65534, 65534)
        os.seteuid(65534)
        try:
            yield Path(name)
        finally:
            os.seteuid(0)


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


# Two at once.


def test_the_lock_is_told(append: Case) -> None:
    with locked(append.state, [append.path]):
        refused(append, "locked")


def test_the_same_commit_in_two_processes_at_once_is_made_once(tmp_path: Path) -> None:
    children = [Case(tmp_path).child("race") for _ in range(2)]
    for number in range(30):
        case = Case(tmp_path / str(number)).make()
        for child in children:
            print(number, file=child.stdin, flush=True)
        assert [child.stdout.readline() for child in children if child.stdout] == ["ready\n"] * 2
        for child in children:
            print("go", file=child.stdin, flush=True)
        outcomes = [json.loads(child.stdout.readline()) for child in children if child.stdout]
        assert case.new()
        (lost,) = [outcome for outcome in outcomes if "error" in outcome]
        assert "locked" in lost["message"] or "changed" in lost["message"]
        assert case.states() == ["done"]
    for child in children:
        child.communicate(timeout=30)


@pytest.mark.parametrize("leases", [True, False])
def test_no_line_of_an_agent_that_writes_all_the_time_is_lost(
    append: Case, monkeypatch: pytest.MonkeyPatch, leases: bool
) -> None:
    if not leases:
        without_lease(monkeypatch)
    script = "for n in range(300):\n open(p, 'ab', 0).write(b'{\"late\":%d}\\n' % n); time.sleep(0.005)"
    writer = subprocess.Popen([sys.executable, "-c", f"import time; p = {str(append.path)!r}\n{script}"])
    outcomes: Counter[str] = Counter()
    append.agent_stopped = True
    while writer.poll() is None:
        outcomes[attempt(append.commit)] += 1
        outcomes[attempt(append.undo)] += 1
    append.recover()
    written = append.path.read_bytes()
    assert [b'{"late":%d}' % n for n in range(300)] == [line for line in written.splitlines() if b"late" in line]
    rest = b"".join(line + b"\n" for line in written.splitlines() if b"late" not in line)
    assert rest.startswith(OLD)
    assert rest.removeprefix(OLD).replace(DATA, b"") == b""
    print(dict(outcomes))  # noqa: T201
    # With leases the agent is noticed in time, and nothing of ours is ever left behind for nothing.
    assert not leases or rest.count(DATA) == outcomes["done"] - outcomes["undone"], outcomes


def attempt(work: Callable[[], Receipt]) -> str:
    try:
        return work().state
    except SeamlineError as error:
        return type(error).__name__
