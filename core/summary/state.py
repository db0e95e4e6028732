"""What a history proves, as values with the id of the entry behind each; and the same as JSON, the stored state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import msgspec

SCHEMA = "handoff/1"

Status = Literal["done", "active", "open"]
How = Literal["edited", "written", "command", "removed"]


@dataclass(frozen=True, slots=True)
class Quote:
    """Words of the session, letter for letter, and the entry that they stand in."""

    text: str
    entry: str
    shortened: bool = False
    """Only a part of what was said is given."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of the agent (or of the user, for a decision), quoted, with what speaks for or against it."""

    text: str
    entry: str
    shortened: bool = False
    hedged: bool = False
    """It holds a word like *probably*, or nothing was run that shows it: to be read as a guess."""
    evidence: str = ""
    """The entry of the tool result that it rests on; empty where there is none."""
    against: Quote | None = None
    """A later statement that takes it back."""
    error: Quote | None = None
    """The message of the failure that it speaks of, where it gives no reason itself."""
    tried: Quote | None = None
    """What was done right before, where the words only point back to it: a command, or a tool and its path."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the plan tool's last state."""

    text: str
    status: Status


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan tool's last state: done steps first, then the active ones, then the open ones."""

    steps: tuple[Step, ...]
    entry: str


@dataclass(frozen=True, slots=True)
class FileRead:
    """A file that was read: `lines` such as `1-80, 200-240`, empty for the whole file; `entry` is the last read."""

    path: str
    entry: str
    lines: str = ""
    times: int = 1


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file that was changed: `places` are `old line → new line` of its newest edits; `entry` is the last change."""

    path: str
    entry: str
    how: How = "edited"
    times: int = 1
    places: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Command:
    """A command with the exit code of its last run (None: unknown); `failed` also where no code was given."""

    command: str
    entry: str
    exit: int | None = None
    failed: bool = False
    times: int = 1
    shortened: bool = False


@dataclass(frozen=True, slots=True)
class Failure:
    """The lines of a failed result that say what failed, letter for letter, in runs of neighbouring lines."""

    blocks: tuple[str, ...]
    entry: str
    command: str = ""
    passed: str = ""
    """The entry in which the same command succeeded later; empty where it did not."""


@dataclass(frozen=True, slots=True)
class Facts:
    """All that a handoff document is made of."""

    goal: tuple[Quote, ...] = ()
    constraints: tuple[Quote, ...] = ()
    messages: tuple[Quote, ...] = ()
    """The user's other messages, oldest first."""
    decisions: tuple[Claim, ...] = ()
    plan: Plan | None = None
    milestones: tuple[Command, ...] = ()
    """Commits made and the last test runs that passed."""
    reports: tuple[Claim, ...] = ()
    """What the agent said it had done."""
    verified: tuple[Claim, ...] = ()
    unverified: tuple[Claim, ...] = ()
    attempts: tuple[Claim, ...] = ()
    """What was tried and did not work."""
    failures: tuple[Failure, ...] = ()
    next_steps: tuple[Claim, ...] = ()
    questions: tuple[Claim, ...] = ()
    request: Quote | None = None
    """The user's last request."""
    changes: tuple[FileChange, ...] = ()
    reads: tuple[FileRead, ...] = ()
    commands: tuple[Command, ...] = ()
    links: tuple[Quote, ...] = ()
    earlier: tuple[Quote, ...] = ()
    """Summaries by the agent itself whose originals are not at hand."""


def to_state(facts: Facts, language: str) -> dict[str, Any]:
    """The facts as plain JSON values, to be stored with the commit."""
    return {"schema": SCHEMA, "language": language, "facts": msgspec.to_builtins(facts)}


def from_state(state: object) -> Facts | None:
    """The facts of a stored state; None where it is none of ours or is damaged."""
    if not isinstance(state, dict) or state.get("schema") != SCHEMA:  # pyright: ignore[reportUnknownMemberType]
        return None
    try:
        return msgspec.convert(state.get("facts"), Facts)  # pyright: ignore[reportUnknownMemberType]
    except msgspec.ValidationError:
        return None
