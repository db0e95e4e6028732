"""The real `seamline`, run as people run it: as a process of its own, with a state folder of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PATIENCE = 120.0
"""Seconds that a command may take."""


class CommandFailed(Exception):
    """A command refused or failed where it should not have."""


@dataclass(frozen=True)
class Said:
    """A command's exit status and its JSON; its last line on standard error where it printed none."""

    status: int
    json: dict[str, Any]
    error: str


@dataclass(frozen=True)
class Seamline:
    """The command line, for one version of the client ("": the one that Seamline takes by itself)."""

    folder: Path
    client_version: str = ""

    def run(self, *arguments: str | Path) -> Said:
        """Run a command with `--json`."""
        program = Path(sys.executable).parent / "seamline"
        environment = {
            "PATH": "/usr/bin:/bin",
            "HOME": str(self.folder / "home"),
            "SEAMLINE_STATE_DIR": str(self.folder / "state"),
            "SEAMLINE_CACHE_DIR": str(self.folder / "cache"),
            "LANG": "C.UTF-8",
            "TMPDIR": os.environ.get("TMPDIR", "/tmp"),
        }
        done = subprocess.run(
            [program, *arguments, "--json"], env=environment, capture_output=True, timeout=PATIENCE, check=False
        )
        error = (done.stderr.decode("utf-8", "replace").strip().splitlines() or [""])[-1]
        try:
            said = json.loads(done.stdout)
        except ValueError:
            return Said(done.returncode, {}, error or "no JSON and no message")
        return Said(done.returncode, said, str(said.get("error", "")) or error)

    def view(self, session: Path) -> list[dict[str, Any]]:
        """The items of the view. Raises CommandFailed."""
        return self._succeeds("view", session, *self._circumstances())["items"]

    def plan(self, session: Path, flags: Sequence[str] = ()) -> dict[str, Any]:
        """The proposal. Raises CommandFailed."""
        return self._succeeds("plan", session, "--policy", "handoff", *flags, *self._circumstances())

    def try_plan(self, session: Path, flags: Sequence[str]) -> Said:
        """The proposal, or why there is none."""
        return self.run("plan", session, "--policy", "handoff", *flags, *self._circumstances())

    def try_compact(self, session: Path, flags: Sequence[str] = ()) -> Said:
        """Commit without asking, or say why not."""
        fixed = ("--policy", "handoff", "--summary", "offline", "--yes", "--agent-stopped")
        return self.run("compact", session, *fixed, *flags, *self._circumstances())

    def compact(self, session: Path, flags: Sequence[str] = ()) -> Path:
        """Commit; the session that holds the result. Raises CommandFailed."""
        said = self.try_compact(session, flags)
        if said.status:
            raise CommandFailed(f"compact: exit {said.status}: {said.error}")
        return Path(said.json["view"])

    def undo(self, session: Path) -> Said:
        """Take the last commit back, or say why not."""
        return self.run("undo", session, "--yes")

    def _succeeds(self, *arguments: str | Path) -> dict[str, Any]:
        said = self.run(*arguments)
        if said.status:
            raise CommandFailed(f"{arguments[0]}: exit {said.status}: {said.error}")
        return said.json

    def _circumstances(self) -> tuple[str, ...]:
        return ("--client-version", self.client_version) if self.client_version else ()
