"""What the screens ask of the commit engine; every function may take a while, so they are called in threads."""

from __future__ import annotations

import time
from pathlib import Path

from core.approving import approve
from core.commit import Receipt
from core.commit.apply import can_write
from core.commit.journal import Journal
from core.commit.liveness import Liveness, look
from core.commit.recover import recover
from core.commit.undo import last_commit, undo
from core.errors import CommitRefused
from core.opening import Opened
from core.planning import Plan
from core.rebasing import rebased
from inspector.commands.planned import stamp


def made_ready(path: Path) -> list[str]:
    """Put right what a killed process left on this session, and make sure that it can be written.

    Returns what was put right, for the person; the file has then changed. Raises CommitRefused.
    """
    said: list[str] = []
    with Journal() as journal:
        for found in recover(journal, path, now=time.time()):
            if found.outcome in ("stopped", "busy"):
                raise CommitRefused(found.words)
            said.append(found.words)
    can_write(path)
    return said


def liveness_of(opened: Opened) -> Liveness:
    """Whether an agent may have the session open now. Raises CommitRefused."""
    path = opened.session.path
    with Journal() as journal:
        return look(path, opened.agent.known_running(path), journal, now=time.time())


def committed(plan: Plan, agent_stopped: bool) -> Receipt:
    """Write what was approved. Raises CommitRefused or Stale, and then nothing has changed."""
    return approve(plan, stamp(), agent_stopped)


def regrown(plan: Plan) -> Plan:
    """The same decisions on the session as it has grown since. Raises Stale, CommitRefused where that can't be."""
    again = rebased(plan, stamp())
    failed = [check for check in again.checks if not check.ok]
    if again.patch is None or failed:
        raise CommitRefused(f"{failed[0].id}: {failed[0].message}" if failed else again.why)
    return again


def last_receipt(path: Path) -> Receipt:
    """The commit that an undo would take back. Raises CommitRefused where there is none."""
    with Journal() as journal:
        return last_commit(path, journal)


def undone(opened: Opened, path: Path) -> Receipt:
    """Take the last commit on `path` back. Raises CommitRefused with the reason."""
    with Journal() as journal:
        return undo(path, journal, now=time.time(), known_running=opened.agent.known_running)
