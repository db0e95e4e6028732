"""What the harness knows of one agent: its versions, how its client is run, and what it alone is tried with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.clients.client import Client
from tests.clients.subjects import Subject
from tests.clients.trial import Trial


@dataclass(frozen=True)
class Job:
    """One thing to try with one session, in a folder of its own."""

    kind: str
    """In a word or two; with the session's name it is what `--only` is looked for in."""
    subject: Subject
    action: Callable[[Trial], None]


@dataclass(frozen=True)
class Kit:
    """One agent's part in the harness: `KIT` in `tests/clients/AGENT/kit.py`."""

    versions: tuple[str, ...]
    """Newest first: the first one is what Seamline takes where nobody names a version."""
    client: Callable[[Path], Client]
    """The client that `install.sh` put into a folder."""
    generated: tuple[Subject, ...] = ()
    """Sessions beside the samples in which a policy has something to do."""
    edited: frozenset[str] = frozenset()
    """Names of the samples and generated sessions whose proposals are edited; in a full run all are."""
    by_hand: frozenset[str] = frozenset()
    """Names of captured sessions, too small for a policy, that are cut by hand; in a full run all are."""
    window: int = 0
    """Tokens of a window that the first sample overflows, so that the client compacts by itself; 0: not tried."""
    own: Callable[[bool], Sequence[Job]] = field(default=lambda full: ())
    """What is tried with this agent alone; told whether the run is a full one."""
