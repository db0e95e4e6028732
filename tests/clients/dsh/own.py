"""What is tried with dsh alone: its own invariants, and an append of ours that breaks off."""

from __future__ import annotations

from collections.abc import Sequence

from tests.clients.client import OK, PROMPT
from tests.clients.dsh.client import Dsh
from tests.clients.kit import Job
from tests.clients.subjects import Subject
from tests.clients.trial import Trial

CHECKSUM = 4
"""Bytes at the end of a frame."""


def jobs(subject: Subject) -> Sequence[Job]:
    """The jobs, on one generated session."""
    return [Job("strict", subject, strictly), Job("torn", subject, torn)]


def strictly(trial: Trial) -> None:
    """All that follows a commit, with dsh's own invariants looking at every event."""
    assert isinstance(trial.client, Dsh)
    trial.client = trial.client.strict()
    trial.commits()


def torn(trial: Trial) -> None:
    """The file with a beginning of our append: dsh resumes from the old view, or the new one, and mends the file."""
    whole = trial.placed("whole")
    old, size = trial.seamline.view(whole), whole.stat().st_size
    with trial.row("append breaks off, resume") as row:
        flags, plan = trial.acting(whole)
        row.planned(plan)
        trial.seamline.compact(whole, flags)
        data, new = whole.read_bytes(), trial.seamline.view(whole)
        if plan["commits_as"] != "append":
            row.problems.append(f"it is no append, but {plan['commits_as']}")
        lengths = (size + 3, (size + len(data)) // 2, len(data) - CHECKSUM - 1, len(data) - CHECKSUM, len(data) - 1)
        for at in lengths:
            shown = new if at >= len(data) - CHECKSUM else old
            session = trial.placed(f"torn-{at}")
            session.write_bytes(session.read_bytes() + data[size:at])
            before = session.read_bytes()
            trial.compare(row, f"cut at {at - size}: seamline view", shown, trial.seamline.view(session))
            trial.seamline.try_compact(session, flags)
            if session.read_bytes() != before:
                row.problems.append(f"cut at {at - size}: a commit wrote behind what broke off")
            resumed = trial.client.resume(session, (PROMPT,), (OK,))
            row.problems += [resumed.error] if resumed.error else []
            trial.compare(row, f"cut at {at - size}: dsh", resumed.items, shown)
