"""Whether an agent may have the session open: decided before anything is written.

Agents that keep no lock (pi among them) hold the conversation in memory and never read the file again. A commit under
such an agent would be lost, silently, as the agent goes on from its own last entry.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from core.commit.held import target_of
from core.commit.journal import Journal
from core.errors import CommitRefused

QUIET_SECONDS = 30
"""A file that nobody else has changed for this long is taken to be at rest."""


@dataclass(frozen=True, slots=True)
class Liveness:
    """What is known: `running` is always refused, `recent` needs the person's word, `quiet` needs nothing."""

    state: Literal["quiet", "recent", "running"]
    words: str = ""
    """What to tell the person; empty where the file is quiet."""


def look(path: Path, running: str | None, journal: Journal, now: float) -> Liveness:
    """Judge by what the agent's `known_running` said and by the time of change. `now` in seconds since 1970.

    Our own last write does not count: the journal knows the time of change that each commit and undo left behind.
    Raises CommitRefused where there is no such file.
    """
    target = target_of(path)
    if running is not None:
        return Liveness("running", f"{path}: {running}: end it first, then try again")
    modified = target.stat().st_mtime_ns
    age = now - modified / 1e9
    if age >= QUIET_SECONDS or modified in journal.own_times(target):
        return Liveness("quiet")
    when = f"{age:.0f} s ago" if age >= 0 else "with a time that lies ahead of this machine's clock"
    return Liveness("recent", f"{path}: it was written {when}, so its agent may still be running")


def require_quiet(liveness: Liveness, agent_stopped: bool) -> None:
    """Raise CommitRefused unless it is safe to write, or the person said that the agent has stopped."""
    if liveness.state == "running":
        raise CommitRefused(liveness.words)
    if liveness.state == "recent" and not agent_stopped:
        raise CommitRefused(f"{liveness.words}: end it and say so (--agent-stopped), or wait {QUIET_SECONDS} s")
