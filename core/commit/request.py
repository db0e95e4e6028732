"""What a commit is asked to do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from core.commit.receipt import Facts
from core.patch import Patch

At = Callable[[str], None]
"""Called with the name of each step just before it; tests fail or kill there."""


def nowhere(step: str) -> None:
    """The `At` of ordinary use: nothing happens between the steps."""


def nobody(path: Path) -> str | None:
    """The `known_running` of an agent that cannot be recognised."""
    return None


@dataclass(frozen=True, slots=True)
class Request:
    """One approved patch with all that must hold before and after it is written."""

    patch: Patch
    session: Path
    """The session that the proposal was made for; a fork leaves it untouched."""
    fingerprint: str
    """Of `session`, when the proposal was made (`Session.fingerprint`)."""
    approved: str
    """The digest of the after-view that the person saw, read through the patch laid over the disk."""
    reread: Callable[[Path], str]
    """Opens the result afresh from the disk and digests its view in the same way; may raise."""
    facts: Facts
    known_running: Callable[[Path], str | None] = nobody
    """The agent's own `known_running`; asked under the lock, so the function is passed and not its answer."""
    agent_stopped: bool = False
    """The person's word that the agent does not have the session open."""
