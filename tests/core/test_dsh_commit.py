"""Commits on dsh's logs by the engine itself: written, read back, undone to the same bytes; forks with their folder."""

from __future__ import annotations

import hashlib
import os
import shutil
import time
from pathlib import Path
from uuid import uuid4

import pytest

from core.agents.protocol import Stamp
from core.approving import approve
from core.commit import Journal, undo
from core.errors import CommitRefused, Stale
from core.opening import open_session
from core.planning import plan_session
from core.policies.settings import Settings
from core.resume import Overrides

SAMPLE = Path(__file__).parents[2] / "sample_sessions" / "dsh" / "home-lin-orders"


def stamp() -> Stamp:
    return Stamp(time.time(), lambda: uuid4().hex)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    shutil.copytree(SAMPLE, tmp_path / "sessions")
    (path,) = (tmp_path / "sessions").rglob("session.jsonl.zstd")
    path.chmod(0o640)
    os.utime(path, (1_780_000_000, 1_780_000_000))
    return path


def state(path: Path) -> tuple[str, int, int, list[str]]:
    status = path.stat()
    names = sorted(str(one) for one in path.parents[1].rglob("*"))
    return hashlib.sha256(path.read_bytes()).hexdigest(), status.st_mode, status.st_mtime_ns, names


@pytest.mark.parametrize("policy", ["handoff", "dsh"])
def test_commits_are_appended_read_back_and_undone_to_the_same_bytes(policy: str, log: Path) -> None:
    before = state(log)
    for window in (100_000, 20_000):
        plan = plan_session(open_session(log, Overrides(window=window)), policy, Settings(), stamp())
        assert plan.commits_as == "append" and plan.may_commit, [one for one in plan.checks if not one.ok]
        receipt = approve(plan, stamp())
        assert receipt.state == "done" and receipt.kind == "append"
        assert open_session(log).view.items == plan.after.view.items
    with Journal() as journal:
        for _ in range(2):
            undo(log, journal, now=time.time())
    assert state(log) == before


def test_a_fork_gets_a_folder_of_its_own_which_undo_removes(log: Path) -> None:
    before = state(log)
    plan = plan_session(open_session(log), "handoff", Settings(), stamp(), fork=True)
    made = approve(plan, stamp()).result
    assert made.parents[1] == log.parents[1] and made.stat().st_mode & 0o777 == 0o640
    assert made.parent.stat().st_mode & 0o777 == 0o700
    assert state(log)[:3] == before[:3]
    assert open_session(made).view.items == plan.after.view.items
    with Journal() as journal:
        undo(made, journal, now=time.time())
    assert state(log) == before


def test_a_log_that_breaks_off_is_refused_and_stays_as_it_is(log: Path) -> None:
    log.write_bytes(log.read_bytes()[:-50])
    before = log.read_bytes()
    plan = plan_session(open_session(log), "handoff", Settings(), stamp())
    assert plan.commits_as == "none" and "breaks off" in plan.why and "as a fork" in plan.why
    with pytest.raises(CommitRefused, match="nothing to commit"):
        approve(plan, stamp())
    assert log.read_bytes() == before


def test_a_session_that_has_grown_is_refused(log: Path) -> None:
    plan = plan_session(open_session(log), "handoff", Settings(), stamp())
    with log.open("ab") as file:
        file.write(b"(\xb5/\xfd")
    os.utime(log, (1_780_000_000, 1_780_000_000))
    with pytest.raises(Stale):
        approve(plan, stamp())
