"""Disks that are full or read-only, and a user without rights: nothing is changed, and the message names the cause."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.faults.child import Child
from tests.faults.sessions import FORMS, make
from tests.faults.table import Row


@contextmanager
def mounted(folder: Path, *options: str) -> Iterator[None]:
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["mount", *options, str(folder)], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)  # the child may still be on its way out


def refused(row: Row, child: Child, path: Path, state: Path, words: str) -> None:
    """Commit, and expect a refusal with these words and no trace."""
    before, names = path.read_bytes(), sorted(path.parent.iterdir())
    child.begin(path, row.form, state)
    child.go()
    ended = child.end()
    row.outcomes["refused" if ended != "done" else "done"] += 1
    if words not in ended:
        row.problems.append(f"the message is {ended!r}")
    if path.read_bytes() != before or sorted(path.parent.iterdir()) != names:
        row.problems.append("something has changed")


def fill(folder: Path) -> None:
    with open(folder / "filler", "wb", buffering=0) as filler:
        try:
            while True:
                filler.write(b"x" * 4096)
        except OSError:
            return


def full_disk(folder: Path) -> Iterator[Row]:
    """A small tmpfs without room: below the session, then below our own journal and backups."""
    child = Child()
    for form in FORMS:
        row = Row("no space for the session", form)
        with mounted(folder / form, "-t", "tmpfs", "-o", "size=256k", "tmpfs"):
            path = make(folder / form, form)
            fill(folder / form)
            refused(row, child, path, folder / f"state-{form}", "no space left")
        yield row
        row = Row("no space for the journal", form)
        state = folder / f"small-{form}"
        with mounted(state, "-t", "tmpfs", "-o", "size=128k", "tmpfs"):
            path = make(folder / f"other-{form}", form)
            fill(state)
            refused(row, child, path, state, "no space left")
        yield row
    child.close()


def read_only(folder: Path) -> Iterator[Row]:
    """A file system that is mounted read-only."""
    child = Child()
    for form in FORMS:
        row, place = Row("a read-only file system", form), folder / f"ro-{form}"
        path = make(place, form)
        with mounted(place, "--bind", str(place)):
            subprocess.run(["mount", "-o", "remount,bind,ro", str(place)], check=True)
            refused(row, child, path, folder / f"ro-state-{form}", "read-only")
        yield row


def no_rights(folder: Path) -> Iterator[Row]:
    """Another user: a folder that may not be written, and a file that may not."""
    if shutil.which("setpriv") is None:
        return
    child = Child("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o777)
        for form in FORMS:
            for what in ("folder", "file"):
                if (form, what) == ("fork", "file"):
                    continue  # whoever may read a session may fork it
                row, place = Row(f"a {what} that may not be written", form), Path(name) / f"{form}-{what}"
                path = make(place, form)
                path.chmod(0o644 if what == "folder" else 0o444)
                os.chown(path, 65534, 65534)
                place.chmod(0o555 if what == "folder" else 0o777)
                words = "the folder is read-only" if what == "folder" else "permission denied"
                refused(row, child, path, Path(name) / f"state-{form}-{what}", words)
                yield row
    child.close()
