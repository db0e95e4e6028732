"""Two commits at once, and agents that write at the same time: no byte of anybody is lost."""

import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from core.commit import Receipt
from core.commit.held import Held
from core.commit.locking import locked
from core.errors import CommitRefused, SeamlineError, Stale
from tests.core.committing import DATA, LONG_AGO, OLD, Case, Child
from tests.core.troubling import quick_folder, refused, without_lease

KINDS = ["append", "replace", "fork"]
tmp_path = pytest.fixture(quick_folder)


@pytest.fixture(params=KINDS)
def case(request: pytest.FixtureRequest, tmp_path: Path) -> Case:
    return Case(tmp_path, request.param).make()


@pytest.fixture
def append(tmp_path: Path) -> Case:
    return Case(tmp_path).make()


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


def test_the_lock_is_told(append: Case) -> None:
    with locked(append.state, [append.path]):
        refused(append, "locked")


def test_the_same_commit_in_two_processes_at_once_is_made_once(tmp_path: Path) -> None:
    children = [Child(), Child()]
    for number in range(40):
        case = Case(tmp_path / str(number)).make()
        for child in children:
            child.begin(case, "commit")
        for child in children:
            child.go()
        outcomes = [child.end() for child in children]
        assert case.new()
        assert outcomes.count("done") == 1
        assert any("locked" in outcome or "changed" in outcome for outcome in outcomes)
        assert case.states() == ["done"]
    for child in children:
        child.close()


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
    assert outcomes["done"] + outcomes["Stale"] + outcomes["CommitRefused"] > 10


def attempt(work: Callable[[], Receipt]) -> str:
    try:
        return work().state
    except SeamlineError as error:
        return type(error).__name__
