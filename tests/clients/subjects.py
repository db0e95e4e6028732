"""The sessions that the harness commits to: the samples, generated ones, and captured ones of every kind."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

BESIDE = ("expected.json", "expected_1.6.0.json", "note.txt", "README.md")
"""What lies beside a captured session and is no part of it."""


@dataclass(frozen=True)
class Subject:
    """One session by name: a file or a folder that lies in the repository, or bytes made when they are needed."""

    name: str
    stored: Path | None = None
    data: Callable[[], bytes] | None = None
    ending: str = ".jsonl"
    """How the name of a file made from `data` ends."""
    sample: bool = False

    def put(self, folder: Path) -> Path:
        """A copy in `folder`: a file called as the session with the endings it had, or a folder."""
        if self.stored is None:
            assert self.data is not None
            path = folder / f"{self.name}{self.ending}"
            path.write_bytes(self.data())
            return path
        if self.stored.is_dir():
            return Path(shutil.copytree(self.stored, folder / self.name))
        return Path(shutil.copyfile(self.stored, folder / f"{self.name}{''.join(self.stored.suffixes)}"))


def samples(agent: str) -> list[Subject]:
    """The sample sessions of an agent: files, or folders that are one session each."""
    found = sorted((ROOT / "sample_sessions" / agent).glob("[!.]*"))
    return [Subject(path.name.split(".")[0], path, sample=True) for path in found]


def captured(agent: str) -> list[Subject]:
    """Small sessions of every kind the client writes or stumbles over, with what it sent for them."""
    found: list[Subject] = []
    for case in sorted((ROOT / "tests" / "data" / "conformance" / agent).glob("[!.]*")):
        inside = sorted(path for path in case.glob("session*") if path.name not in BESIDE)
        found += [Subject(case.name, path) for path in inside[:1]]
    return found
