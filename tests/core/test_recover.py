"""After a kill at any point the session is the old one or the approved one, unless the agent has written since."""

import os
import time
from dataclasses import replace
from pathlib import Path

import pytest

from core.commit import Journal, recover
from core.commit.apply import _operation
from core.commit.kinds import open_step
from core.commit.locking import locked
from tests.core.committing import DATA, LONG_AGO, OLD, Case, Child, child_process
from tests.core.troubling import quick_folder

tmp_path = pytest.fixture(quick_folder)
child = pytest.fixture(child_process, scope="module")

STEPS = {
    "append": ["locked", "start", "write", "written", "sync", "re-read", "end", "done"],
    "replace": [
        *("locked", "start", "back up", "create", "write", "written", "sync"),
        *("link", "rename", "renamed", "re-read", "end", "done"),
    ],
    "fork": ["locked", "start", "create", "write", "written", "sync", "name", "named", "re-read", "end", "done"],
    "fork apart": [
        *("locked", "start", "create", "folder", "write", "written", "sync", "name", "named", "re-read", "end", "done"),
    ],
}
UNDO_STEPS = {
    "append": ["locked", "start", "truncate", "give back", "sync", "end"],
    "replace": ["locked", "start", "create", "write", "written", "rename", "sync", "end"],
    "fork": ["locked", "start", "remove", "sync", "end"],
    "fork apart": ["locked", "start", "remove", "sync", "end"],
}


@pytest.mark.parametrize("kind", list(STEPS))
@pytest.mark.parametrize("short", [-1, 7])
def test_a_kill_at_any_step_of_a_commit(kind: str, short: int, tmp_path: Path, child: Child) -> None:
    finished: list[str] = []
    for step in STEPS[kind]:
        case = Case(tmp_path / step, kind).make()
        before = case.look()
        child.kill(case, "commit", step, short)
        if kind == "append":
            held = case.path.read_bytes()
            assert (OLD + DATA).startswith(held)
            assert held.startswith(OLD)
        outcomes = case.recover()
        if outcomes == ["finished"] or step == "done":
            finished.append(step)
            assert case.new()
            assert case.states() == ["done"]
            case.undo()
        else:
            assert outcomes == ([] if step in ("locked", "start") else ["rolled-back"])
        assert case.look() == before, step
        assert case.pending() == []
        assert case.recover() == []
        assert case.commit().state == "done"
    assert "re-read" in finished
    assert ("written" in finished) == (kind == "append" and short < 0)


@pytest.mark.parametrize("kind", list(UNDO_STEPS))
def test_a_kill_at_any_step_of_an_undo(kind: str, tmp_path: Path, child: Child) -> None:
    for step in UNDO_STEPS[kind]:
        case = Case(tmp_path / step, kind).make()
        before = case.look()
        case.commit()
        child.kill(case, "undo", step)
        case.recover()
        if case.states() == ["done"]:
            assert case.new(), step
            case.undo()
        assert case.states() == ["undone"]
        assert case.look() == before, step


def start(case: Case) -> str:
    """Journal a commit as begun, as a process does that is killed before it writes; the operation's id."""
    request, stamp = case.request(), case.stamp()
    identity = stamp.new_id()
    before, _ = case.look()
    steps = [
        open_step(change, identity, 0o640, case.state / "backups" / f"{identity}.0") for change in request.patch.changes
    ]
    with Journal(case.state) as journal:
        operation = _operation(request, stamp, identity, case.path, before, steps)
        journal.start(operation, [step.data for step in steps])
    for step in steps:
        step.close()
    return identity


def test_every_beginning_of_an_append_is_taken_back_and_the_whole_is_kept(tmp_path: Path) -> None:
    case = Case(tmp_path).make()
    for length in range(len(DATA) + 1):
        case.make()
        before = case.look()
        start(case)
        with open(case.path, "ab") as file:
            file.write(DATA[:length])
        if length < len(DATA):
            assert case.recover() == ["rolled-back"]
            assert case.look() == before
        else:
            assert case.recover() == ["finished"]
            assert case.new()
            case.undo()
            assert case.look() == before


@pytest.mark.parametrize("length", [1, 20, len(DATA) - 2])
def test_a_beginning_that_the_agent_has_written_behind_is_left_and_explained_once(tmp_path: Path, length: int) -> None:
    case = Case(tmp_path).make()
    start(case)
    with open(case.path, "ab") as file:
        file.write(DATA[:length] + b'\n{"turn":1}\n')
    left = case.look()
    with Journal(case.state) as journal:
        (found,) = recover(journal, case.path, now=time.time())
        assert found.outcome == "stopped"
        assert "written by somebody else since" in found.words
        assert str(case.path) in found.words
        assert found.receipt.state == "failed"
        assert recover(journal, case.path, now=time.time()) == ()
    assert case.look() == left
    case.agent_stopped = True
    assert case.commit().state == "done"


def test_a_session_that_the_agent_wrote_to_instead_of_us_is_left(tmp_path: Path) -> None:
    case = Case(tmp_path).make()
    start(case)
    with open(case.path, "ab") as file:
        file.write(b'{"turn":1}\n')
    assert case.recover() == ["stopped"]
    assert case.path.read_bytes() == OLD + b'{"turn":1}\n'


def test_a_whole_append_that_the_agent_went_on_from_is_done(tmp_path: Path) -> None:
    case = Case(tmp_path).make()
    start(case)
    with open(case.path, "ab") as file:
        file.write(DATA + b'{"turn":1}\n')
    assert case.recover() == ["finished"]
    (receipt,) = case.receipts()
    assert receipt.state == "done"
    assert "the agent has gone on" in receipt.reason
    assert receipt.after is not None
    assert receipt.after.size == len(OLD + DATA)
    with pytest.raises(Exception, match="the agent has written 11 bytes since"):
        case.undo()


def test_a_commit_that_failed_and_could_not_be_taken_back_is_never_finished(tmp_path: Path) -> None:
    case = Case(tmp_path).make()
    before = case.look()
    identity = start(case)
    with Journal(case.state) as journal:
        journal.mark(journal.operation(identity).receipt, "started", time.time(), "not what was approved")
    with open(case.path, "ab") as file:
        file.write(DATA)
    assert case.recover() == ["rolled-back"]
    assert case.look() == before


def test_without_the_bytes_that_were_to_be_written(tmp_path: Path) -> None:
    for length, outcome in ((0, "rolled-back"), (9, "stopped"), (len(DATA), "finished")):
        case = Case(tmp_path / str(length)).make()
        identity = start(case)
        (case.state / "pending" / f"{identity}.0").unlink()
        with open(case.path, "ab") as file:
            file.write(DATA[:length])
        assert case.recover() == [outcome]
        assert case.path.read_bytes() == OLD + DATA[:length]


def test_the_time_of_change_comes_back_where_only_that_was_left(tmp_path: Path) -> None:
    case = Case(tmp_path).make()
    start(case)
    os.utime(case.path)  # killed between the truncation of a failed commit and the end of it
    assert case.recover() == ["rolled-back"]
    assert case.path.stat().st_mtime_ns == LONG_AGO


def test_a_commit_that_is_still_being_carried_out_is_left_alone(tmp_path: Path) -> None:
    case = Case(tmp_path).make()
    start(case)
    with locked(case.state, [case.path]):
        assert case.recover() == ["busy"]
    assert case.states() == ["started"]
    assert case.recover() == ["rolled-back"]


def test_a_session_that_is_gone(tmp_path: Path) -> None:
    case = Case(tmp_path).make()
    start(case)
    case.path.unlink()
    assert case.recover() == ["stopped"]
    assert case.states() == ["failed"]
    assert case.pending() == []


def test_only_this_session(tmp_path: Path) -> None:
    case = Case(tmp_path).make()
    start(case)
    link = tmp_path / "link"
    link.symlink_to(case.path)
    with Journal(case.state) as journal:
        assert recover(journal, tmp_path / "other.jsonl", now=1.0) == ()
        assert [found.outcome for found in recover(journal, link, now=1.0)] == ["rolled-back"]


def test_a_fork_by_somebody_else_is_never_removed(tmp_path: Path) -> None:
    case = Case(tmp_path, "fork").make()
    start(case)
    case.result.write_bytes(b"mine")
    assert case.recover() == ["rolled-back"]
    assert case.result.read_bytes() == b"mine"


def test_a_fork_that_was_used_at_once_is_done(tmp_path: Path) -> None:
    case = Case(tmp_path, "fork").make()
    identity = start(case)
    case.result.write_bytes(OLD + DATA + b'{"turn":1}\n')
    os.link(case.result, case.path.with_name(f".seamline-{identity}.part"))
    assert case.recover() == ["finished"]
    assert case.names() == ["fork.jsonl", "one.jsonl"]


def test_an_undo_that_the_agent_wrote_behind_is_left(tmp_path: Path) -> None:
    case = Case(tmp_path).make()
    receipt = case.commit()
    with Journal(case.state) as journal:
        journal.mark(replace(receipt), "undoing", time.time())
    with open(case.path, "ab") as file:
        file.write(b'{"turn":1}\n')
    assert case.recover() == ["stopped"]
    assert case.states() == ["done"]
    assert case.path.read_bytes() == OLD + DATA + b'{"turn":1}\n'
