"""Two commits at once, and an agent that begins to write once the check for it is over: no line of anybody is lost."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from core.commit import Journal, recover
from tests.faults.child import ROOT, Child
from tests.faults.sessions import FORMS, approved, make, plan_for
from tests.faults.table import Row

LINES = 12
"""How many lines the agent writes, 50 a second."""

WRITER = f"""
import sys, time
for line in sys.stdin:
    path = line.rstrip("\\n")
    open(sys.argv[1], "rb").readline()
    for number in range({LINES}):
        with open(path, "ab", buffering=0) as file:
            file.write(b'{{"late":%d}}\\n' % number)
        time.sleep(0.02)
    print("written", flush=True)
"""


def twice_at_once(folder: Path, tries: int) -> Iterator[Row]:
    """Exactly one of two succeeds, and the other is told why it did not."""
    children = [Child(), Child()]
    for form in FORMS:
        row = Row("the same commit twice at once", form)
        for number in range(tries):
            place = folder / f"{form}-{number}"
            path = make(place / "sessions", form)
            result, new = approved(plan_for(path, form))
            for child in children:
                child.begin(path, form, place / "state")
            for child in children:
                child.go()
            ended = sorted(child.end() for child in children)
            if ended.count("done") != 1:
                row.problems.append(f"try {number}: {ended}")
            elif result.read_bytes() != new:
                row.problems.append(f"try {number}: not the approved bytes")
            other = next((one for one in ended if one != "done"), "")
            known = [word for word in ("locked", "changed", "exists already") if word in other]
            row.outcomes[f"once, the other {known[0] if known else 'twice'}"] += 1
            if not known:
                row.problems.append(f"try {number}: the other was told {other!r}")
        yield row
    for child in children:
        child.close()


def writer_at_work(folder: Path, tries: int) -> Iterator[Row]:
    """An agent that opens the file for each line, 50 a second, from after the running check on."""
    folder.mkdir(parents=True, exist_ok=True)
    fifo = folder / "go"
    os.mkfifo(fifo)
    ours = os.open(fifo, os.O_RDWR)
    child = Child()
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(fifo)], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT
    )
    assert writer.stdin is not None and writer.stdout is not None
    for form in ("append", "replace"):
        row, reached = Row("an agent writes from the check on", form), 0
        for number in range(tries):
            place = folder / f"{form}-{number}"
            path = make(place / "sessions", form)
            old = path.read_bytes()
            _, new = approved(plan_for(path, form))
            child.begin(path, form, place / "state", str(fifo))
            print(path, file=writer.stdin, flush=True)
            child.go()
            ended = child.end()
            writer.stdout.readline()
            came, _, words = ended.partition(" ")
            reached += came == "reached"
            with Journal(place / "state") as journal:
                recover(journal, now=time.time())
            problem = lost(path.read_bytes(), old, new)
            if problem:
                row.problems.append(f"try {number}: {problem} ({words})")
            row.outcomes[outcome(words)] += 1
        row.outcomes[f"of them reached the write step: {reached}"] += 0
        if reached * 2 < tries:
            row.problems.append(f"only {reached} of {tries} reached the write step")
        yield row
    child.close()
    writer.communicate(timeout=20)
    os.close(ours)


def outcome(words: str) -> str:
    for known in ("done", "another program", "left as it is", "changed", "end it first"):
        if known in words:
            return known
    return words


def lost(found: bytes, old: bytes, new: bytes) -> str:
    """What is missing of the agent's lines or of the session; empty where nothing is."""
    late = [b'{"late":%d}\n' % number for number in range(LINES)]
    rest = found
    at = 0
    for line in late:
        place = rest.find(line, at)
        if place < 0:
            return f"the agent's line {line!r} is lost"
        rest = rest[:place] + rest[place + len(line) :]
        at = place
    return "" if rest in (old, new) else "the rest is neither the old session nor the approved one"
