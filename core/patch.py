"""What a commit would write: values made by an agent's writer, read by `Overlay`, carried out by `core.commit`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Append:
    """Write `data` (bytes, whole records) at the end of `path`, which must be `at` bytes long."""

    path: Path
    at: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Create:
    """Write a new file; refused where `path` exists."""

    path: Path
    data: bytes


@dataclass(frozen=True, slots=True)
class Patch:
    """Changes that belong together, and the session file that holds the result."""

    changes: tuple[Append | Create, ...]
    session: Path
    kind: str
    """`append` or `fork`, as `plan/1` names it in `commits_as`."""
