"""What the tests of the command line share: the program run as a person would, and a small session to run it on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.commands.writing import small_session

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Ran:
    """How a run of `seamline` ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def first_line(self) -> str:
        return self.err.partition("\n")[0]


Run = Callable[..., Ran]


@pytest.fixture
def environment(own_folders: Path) -> dict[str, str]:
    """The environment of a started program: this project, no network, folders of its own."""
    paths = [str(ROOT / "tests" / "offline"), str(ROOT)]
    return os.environ | {"PYTHONPATH": os.pathsep.join(paths), "PATH": "/usr/bin:/bin"}


@pytest.fixture
def run(environment: dict[str, str], tmp_path: Path) -> Run:
    """Run `seamline` with the given words, in an empty folder, to its end."""

    def run(*words: object, cwd: Path | None = None, **extra: str) -> Ran:
        done = subprocess.run(
            [sys.executable, "-m", "inspector", *map(str, words)],
            cwd=cwd or tmp_path,
            env=environment | extra,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=120,
        )
        return Ran(done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8"))

    return run


@pytest.fixture
def session(tmp_path: Path) -> Path:
    """A pi session of about 50 KB in a folder of its own."""
    path = tmp_path / "sessions" / "session.jsonl"
    path.parent.mkdir()
    path.write_bytes(small_session())
    return path
