"""A kill, or an error, at each call of a commit that touches a file: afterwards the old bytes, or the approved ones."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from core.commit import Journal, recover
from tests.faults.child import Child
from tests.faults.sessions import FORMS, approved, make, plan_for
from tests.faults.table import Row
from tests.faults.tracing import Tracer, calls_in

FAILURES = {
    "write": {"ENOSPC": "no space left", "EIO": "input/output error"},
    "fsync": {"EIO": "input/output error"},
    "rename": {"EIO": "input/output error", "EACCES": "permission denied"},
    "link": {"EIO": "input/output error"},
    "unlink": {"EIO": "input/output error"},
    "ftruncate": {"EIO": "input/output error"},
    "openat": {"EACCES": "permission denied", "EROFS": "read-only"},
}
"""Call → errors, each with the words that must name it."""


HIDDEN = "journal.sqlite3: the journal cannot be used: it "
"""Of its own files SQLite tells that they can't be opened, or only for reading, but not why."""


@dataclass
class Trial:
    """One session with a child that is about to commit."""

    folder: Path
    form: str
    child: Child

    def run(self, inject: str = "") -> str:
        """Commit under the tracer; how it ended."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.path = make(self.folder / "sessions", self.form)
        self.old = self.path.read_bytes()
        self.result, self.new = approved(plan_for(self.path, self.form))
        self.names = sorted(path.name for path in self.path.parent.iterdir())
        process = self.child.begin(self.path, self.form, self.folder / "state")
        tracer = Tracer(process, self.log, inject)
        self.child.go()
        ended = self.child.end()
        tracer.end()
        return ended

    @property
    def log(self) -> Path:
        return self.folder.with_suffix(".log")

    def problem(self) -> str:
        """What is wrong after a recovery; empty where nothing is."""
        with Journal(self.folder / "state") as journal:
            again = [found.outcome for found in recover(journal, now=time.time())]
            if [found.outcome for found in recover(journal, now=time.time())]:
                return "a recovery left something to recover"
            state = [receipt.state for receipt in journal.receipts()]
        if "stopped" in again:
            return "the recovery gave up"
        names = sorted(path.name for path in self.path.parent.iterdir())
        new = self.result.exists() and self.result.read_bytes() == self.new
        wanted = sorted({*self.names, self.result.name}) if new else self.names
        if names != wanted:
            return f"left behind: {sorted(set(names) ^ set(wanted))}"
        if not new and self.path.read_bytes() != self.old:
            return "neither the old bytes nor the approved ones"
        if new != (state[:1] == ["done"]):
            return f"the journal says {state} of {'the approved' if new else 'the old'} bytes"
        self.outcome = "approved" if new else "old"
        return ""


def kills(folder: Path) -> Iterator[Row]:
    """SIGKILL at each call, one after another."""
    child = Child()
    for form in FORMS:
        trial, row = Trial(folder / form, form, child), Row("killed at a call", form)
        trial.run()
        calls = calls_in(trial.log)
        for name, number in calls:
            ended = trial.run(f"{name}:signal=KILL:when={number}")
            told(row, trial, f"{name} {number}", "killed" if ended == "killed" else "survived")
        yield row
    child.close()


def errors(folder: Path) -> Iterator[Row]:
    """An error at each call that can give it."""
    child = Child()
    for form in FORMS:
        trial = Trial(folder / form, form, child)
        trial.run()
        calls = calls_in(trial.log)
        for name, failures in FAILURES.items():
            for error, words in failures.items():
                row = Row(f"{error} at a {name}", form)
                for number in range(1, sum(one == name for one, _ in calls) + 1):
                    ended = trial.run(f"{name}:error={error}:when={number}")
                    told(row, trial, f"{name} {number}", "")
                    if ended != "done" and words not in ended and HIDDEN not in ended:
                        row.problems.append(f"{name} {number}: the message is {ended!r}")
                if row.outcomes:
                    yield row
    child.close()


def told(row: Row, trial: Trial, where: str, how: str) -> None:
    problem = trial.problem()
    if problem:
        row.problems.append(f"{where}: {problem}")
    row.outcomes[f"{how} {'wrong' if problem else trial.outcome}".strip()] += 1
