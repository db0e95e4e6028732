"""What is remembered of a commit: facts and hashes, never a word of the session."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

Scope = Literal["whole", "tail"]
State = Literal["started", "done", "failed", "rolled-back", "undoing", "undone"]
"""`started` and `undoing` are written ahead of the bytes; `recover` ends what a killed process left in them."""


@dataclass(frozen=True, slots=True)
class Sha256:
    """A SHA-256 in hexadecimal, of the whole file or (above 64 MiB) of its last MiB only."""

    value: str
    scope: Scope

    def to_json(self) -> dict[str, Any]:
        return {"value": self.value, "scope": self.scope}


@dataclass(frozen=True, slots=True)
class FileState:
    """One state of a file: enough to recognise it again, and to give mode and time of change back."""

    size: int
    """Bytes."""
    sha256: Sha256
    mode: int
    """Permission bits."""
    mtime_ns: int
    """Time of change, nanoseconds since 1970."""
    inode: int
    device: int


@dataclass(frozen=True, slots=True)
class Span:
    """What stood for the replaced range: the first and the last entry's id, and how many units went which way."""

    first: str | None = None
    last: str | None = None
    counts: Mapping[str, int] = field(default_factory=dict[str, int])
    """Disposition → number of units."""

    def to_json(self) -> dict[str, Any]:
        return {"first": self.first, "last": self.last, "counts": dict(self.counts)}


@dataclass(frozen=True, slots=True)
class Facts:
    """What the caller knows of a commit and the engine does not. No text of the session and no key belongs here."""

    agent: str
    policy: str
    range: Span = Span()
    tokens_before: Mapping[str, Any] | None = None
    """`value`, `kind` and `includes`, as in `plan/1`."""
    tokens_after: Mapping[str, Any] | None = None
    summary_writer: str | None = None
    """`offline`, `file`, `person`, or the model's name; None where there is no summary."""
    summary_call: Mapping[str, Any] | None = None
    """Facts of the model call, such as tokens, seconds and cost; None where no model was asked."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """One commit as the journal has it."""

    id: str
    time: float
    """Seconds since 1970, UTC."""
    facts: Facts
    kind: str
    """`append`, `replace` or `fork`."""
    session: Path
    """The session that the proposal was made for."""
    result: Path
    """The file that holds the result: the same one, or the fork."""
    before: FileState
    """The session as it was."""
    after: FileState | None
    """The result as it was right after the commit; None where there is none."""
    state: State
    reason: str = ""
    """Why it failed or was taken back, or what is to be known of how it ended; empty otherwise."""
    ended: float | None = None
    """When it got this state; seconds since 1970, UTC."""
    backups: tuple[Path, ...] = ()
    """Our copies of the old bytes of replaced files, as far as they are there; those of a commit are never deleted."""

    def to_json(self) -> dict[str, Any]:
        """One element of `receipts` in `receipts/1`."""
        facts = self.facts
        return {
            "id": self.id,
            "time": _iso(self.time),
            "agent": facts.agent,
            "session": _printable(self.session),
            "result": _printable(self.result),
            "policy": facts.policy,
            "kind": self.kind,
            "range": facts.range.to_json(),
            "tokens_before": _plain(facts.tokens_before),
            "tokens_after": _plain(facts.tokens_after),
            "sha256_before": self.before.sha256.to_json(),
            "sha256_after": None if self.after is None else self.after.sha256.to_json(),
            "bytes_before": self.before.size,
            "bytes_after": None if self.after is None else self.after.size,
            "summary": {"writer": facts.summary_writer, "call": _plain(facts.summary_call)},
            "state": self.state,
            "reason": self.reason,
            "ended": None if self.ended is None else _iso(self.ended),
            "backups": [_printable(path) for path in self.backups],
        }


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _printable(path: Path) -> str:
    """A path as text; bytes that are not UTF-8 are escaped, so that it can stand in JSON."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _plain(mapping: Mapping[str, Any] | None) -> dict[str, Any] | None:
    return None if mapping is None else dict(mapping)
