"""`python -m tests.faults.run`: commits that are killed, refused by the disk, or raced; prints a table."""

# ruff: noqa: T201 (a program that prints a table)

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

from tests.faults.disks import full_disk, no_rights, read_only
from tests.faults.kills import errors, kills
from tests.faults.races import twice_at_once, writer_at_work

PARTS = ("kills", "errors", "disks", "twice", "writer")


def missing() -> list[str]:
    """What this machine lacks for all of it."""
    found: list[str] = []
    if shutil.which("strace") is None:
        found.append("strace (apt-get install strace): no kills, no errors of calls")
    if os.geteuid() != 0:
        found.append("root: no small disks, no read-only ones, no other user")
    elif shutil.which("setpriv") is None:
        found.append("setpriv (util-linux): no other user")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(prog="tests/faults/run", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; default: all")
    parser.add_argument("--tries", type=int, default=0, help="fewer tries of the races (default: 100 and 200)")
    arguments = parser.parse_args()
    unknown = set(arguments.parts) - set(PARTS)
    if unknown:
        parser.error(f"no part {', '.join(sorted(unknown))}: there are {', '.join(PARTS)}")
    for what in missing():
        print(f"missing: {what}", file=sys.stderr)
    began, wrong = time.monotonic(), 0
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as name:
        for part in arguments.parts or PARTS:
            wrong += carry_out(part, Path(name) / part, arguments.tries)
    print(f"{'all held' if not wrong else f'{wrong} did not hold'}, {time.monotonic() - began:.0f} s")
    return 1 if wrong else 0


def carry_out(part: str, folder: Path, tries: int) -> int:
    """One part; how many of its rows did not hold."""
    traced, root = shutil.which("strace") is not None, os.geteuid() == 0
    rows = {
        "kills": lambda: kills(folder) if traced else (),
        "errors": lambda: errors(folder) if traced else (),
        "disks": lambda: (*full_disk(folder), *read_only(folder), *no_rights(folder)) if root else (),
        "twice": lambda: twice_at_once(folder, tries or 100),
        "writer": lambda: writer_at_work(folder, tries or 200),
    }[part]()
    wrong = 0
    for row in rows:
        wrong += not row.held
        print(row.line(), flush=True)
    return wrong


if __name__ == "__main__":
    sys.exit(main())
