"""A story as values: what was said, called and answered, without any agent's format, and the truth planted in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Kind = Literal["read", "search", "list", "edit", "write", "shell", "plan"]
Where = Literal["text", "thinking", "result", "arguments"]


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call. The arguments are neutral; a writer gives them the names that its agent uses.

    read: path, offset, limit (lines) · search: pattern, path · list: path · edit: path, old, new ·
    write: path, content · shell: command · plan: steps, each (text, `done` | `doing` | `open`).
    """

    kind: Kind
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Result:
    """What a tool answered. `lines_left` and `next_line`: a read that stopped before the end of the file."""

    text: str = ""
    exit_code: int | None = None
    failed: bool = False
    lines_left: int = 0
    next_line: int = 0
    shown_from: int = 0
    """First line shown of an output of which only the end is shown; 0 where all of it is."""
    lines_in_all: int = 0


@dataclass(frozen=True, slots=True)
class Action:
    """A call with its result and the time between them in seconds."""

    call: Call
    result: Result
    seconds: float = 0.1


@dataclass(frozen=True, slots=True)
class UserSays:
    """A message of the user; `image` is a PNG."""

    text: str
    image: bytes | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """One reply of the model: what it thought, said and called. Several actions: parallel calls."""

    text: str = ""
    thinking: str = ""
    actions: tuple[Action, ...] = ()


@dataclass(frozen=True, slots=True)
class ShellByUser:
    """A command that the user ran inside the agent."""

    command: str
    output: str
    exit_code: int = 0


@dataclass(frozen=True, slots=True)
class Aside:
    """A side branch: tried from here, then left; what follows goes on from before it."""

    events: tuple[UserSays | Reply, ...]


Event = UserSays | Reply | ShellByUser | Aside


@dataclass(frozen=True, slots=True)
class Fact:
    """A truth planted in the story: the words, and the event (and action) in which they stand."""

    kind: str
    text: str
    event: int
    where: Where
    action: int = 0
    more: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class Story:
    """One session's story. `start` is in seconds since 1970, UTC; `cwd` the project's folder."""

    name: str
    language: str
    cwd: str
    start: int
    provider: str
    model: str
    window: int
    """Tokens."""
    reasons: bool
    """Whether the model thinks aloud."""
    events: tuple[Event, ...]
    facts: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a writer put one event: the id of the message's entry, and of each result's."""

    entry: str
    results: tuple[str, ...] = ()
