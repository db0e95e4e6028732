"""What an agent's folder must offer. Formats turn bytes into entries and proposals into bytes; they never write."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

import msgspec

from core.files import Files
from core.patch import Patch
from core.proposal import Proposal, What
from core.resume import Overrides, Resume
from core.session import Damage, Session
from core.view import Item, Seen, Source, Unit, View

Progress = Callable[[int, int], None]
"""Called with bytes done and bytes in all; may raise to cancel."""

ToolKind = Literal["read", "search", "list", "edit", "write", "shell", "plan", "web", "skill", "agent", "other"]


@dataclass(frozen=True, slots=True)
class Tool:
    """What one of the agent's tools does, as its `agent.toml` says."""

    name: str
    kind: ToolKind = "other"
    path: str = ""
    """The argument that holds a path; empty where there is none."""
    command: str = ""
    """The argument that holds a shell command or a search pattern."""
    reobtainable: bool = False
    """Running it again gives the result back, without side effects."""
    protected: bool = False
    """Its results are never pruned (skills, plans)."""


@dataclass(frozen=True, slots=True)
class Profile:
    """Facts about an agent that are data: tools, thresholds, defaults, each from `agent.toml`."""

    agent: str
    title: str
    newest_client: str
    reserve: int
    """Tokens that the agent's own compaction keeps free, in its usual window."""
    keep_recent: int
    """Tokens that the agent's own compaction keeps."""
    image_tokens: int
    """Tokens charged for one image."""
    image_rule: str
    """Where that rate comes from."""
    tools: dict[str, Tool] = field(default_factory=dict)
    command: str = ""
    """The client's program as it stands on the PATH, asked for its version; empty where there is none."""
    reserve_share: float = 0.0
    """Where it is not 0: the share of the window that the agent's own compaction keeps free, whatever its size."""
    reopen: str = ""
    """What a person does in the client to make it read the session anew."""
    session_names: tuple[str, ...] = ()
    """Patterns of the names of its session files."""
    own_folder: bool = False
    """Whether each session has a folder of its own, in which all other files belong to it."""

    def reserve_of(self, window: int) -> int:
        """Tokens that the agent's own compaction keeps free in a window of so many."""
        return round(window * self.reserve_share) if self.reserve_share else self.reserve

    def tool(self, name: str) -> Tool:
        """The tool's description; kind `other` where it is unknown."""
        return self.tools.get(name) or Tool(name)


@dataclass(frozen=True, slots=True)
class Options:
    """What may happen to a unit in this format: `allowed`, and for all else the reason with the alternative."""

    allowed: frozenset[What]
    refused: dict[What, str]
    results: tuple[Source, ...] = ()
    """The single results that `limit` and `point` can apply to."""
    conditions: dict[What, str] = field(default_factory=dict[What, str])
    """What is allowed only together with something else in the proposal: the condition, in words."""
    grows_back: dict[What, str] = field(default_factory=dict[What, str])
    """What takes content away that the client may bring back by itself: when, in words."""


class UsagePoint(msgspec.Struct, frozen=True, gc=False):
    """What the provider reported for one reply, counted once."""

    entry: str
    context: int
    """Tokens in the window after the reply: input with cache, and output."""
    cached: int
    output: int
    model: str
    inherited: bool = False
    """Whether the parent of a fork has paid for it: it counts there."""


@dataclass(frozen=True, slots=True)
class Boundary:
    """A compaction in the session's past."""

    entry: str
    by: str
    """`pi`, `seamline`, …"""
    tokens_before: int | None
    time: float | None


@dataclass(frozen=True, slots=True)
class Usage:
    """The provider's figures along the path, and where the context stands now."""

    points: tuple[UsagePoint, ...]
    boundaries: tuple[Boundary, ...]
    current: int | None
    """Reported tokens of the last reply, where nothing has changed the view since; else None."""
    later: tuple[Source, ...] = ()
    """Parts that came after that reply: to be estimated and shown as such."""
    stale: str = ""
    """Why the last reported figure no longer holds; empty where it does."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """Time and ids for a writer: passed in, so that the same inputs give the same bytes."""

    now: float
    """Seconds since 1970, UTC."""
    new_id: Callable[[], str]
    """A new random hexadecimal id of 32 characters at each call; a writer shortens it as its format wants."""


@dataclass(frozen=True, slots=True)
class Found:
    """A session on this machine, as far as its name and head tell."""

    path: Path
    agent: str
    cwd: str
    modified: float
    size: int
    relation: str = ""
    """Of a child: `fork` or `sub-agent`; empty for a session that nobody began."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """Another end that a view of the session can have, for `--leaf`."""

    entry: str
    kind: str
    """`branch`, `sub-agent`, `taken-back`, `conversation`, or `request` (of a log)."""
    messages: int
    """Messages that only this way has."""
    left: str
    """The entry at which it left the way to the view's own end; empty where it has a beginning of its own."""
    line: int
    time: float | None
    """Seconds since 1970."""
    words: str
    """How its last message begins; of turns that were taken back, the first of them."""

    def to_json(self) -> dict[str, Any]:
        """One of `leaves` in `stats/1`."""
        return {
            "entry": self.entry,
            "kind": self.kind,
            "messages": self.messages,
            "left": self.left,
            "line": self.line,
            "time": self.time,
            "words": self.words,
        }


class Agent(Protocol):
    """One agent's format. Pure over its inputs, but for what it reads through `Files`."""

    name: str

    @property
    def profile(self) -> Profile: ...

    def detect(self, files: Files, path: Path) -> bool:
        """Whether this agent wrote the file (judged by content, from a bounded head)."""
        ...

    def open(self, files: Files, path: Path, leaf: str | None = None, progress: Progress | None = None) -> Session:
        """Entries and damage. Raises ClientRefuses only from `view`, so that a refused file can be inspected."""
        ...

    def resume(self, session: Session, overrides: Overrides) -> Resume: ...

    def view(self, session: Session, resume: Resume) -> View:
        """The request that the client would send. Raises ClientRefuses with the client's reason."""
        ...

    def system(self, session: Session, resume: Resume) -> tuple[Item, ...]:
        """The stored system prompt and tool definitions, where the format keeps them; for metering only."""
        ...

    def history(self, session: Session, resume: Resume) -> Iterator[Seen]:
        """The whole path to the leaf, oldest first, also what a compaction or an edit took out of the view."""
        ...

    def units(self, view: View) -> tuple[Unit, ...]:
        """The view's items grouped; every item is in exactly one unit; in order of their first item."""
        ...

    def options(self, view: View, unit: Unit) -> Options: ...

    def encode(self, session: Session, view: View, proposal: Proposal, stamp: Stamp) -> Patch:
        """The proposal as bytes for this file. Raises CommitRefused where the format cannot carry it in place."""
        ...

    def fork(self, session: Session, view: View, proposal: Proposal, stamp: Stamp) -> Patch:
        """The proposal as a new session beside the old one."""
        ...

    def usage(self, session: Session) -> Usage: ...

    def known_running(self, path: Path) -> str | None:
        """Words for the running agent that is known to have the session open; None where none is known."""
        ...

    def find(self) -> Iterator[Found]:
        """The sessions in the agent's own folders on this machine."""
        ...

    def folders(self) -> tuple[Path, ...]:
        """Where `find` looks on this machine, whether or not the folders exist."""
        ...

    def image(self, session: Session, source: Sequence[Source]) -> bytes | None:
        """The bytes of an image item, read now."""
        ...

    def bundle(self, files: Files, folder: Path) -> Path | None:
        """The session that `folder` is as a whole, as a path for `open`; None where it is no bundle of this agent."""
        return None

    def children(self, files: Files, path: Path) -> Iterator[Found]:
        """Sub-agents and forks that the session at `path` began, as far as they lie on this machine."""
        return iter(())

    def leaves(self, session: Session) -> Iterator[Leaf]:
        """Where else the view could end: branches, conversations, turns that were taken back."""
        return iter(())

    def framing_tokens(self, session: Session, resume: Resume, view: View) -> int:
        """Tokens that a request costs around the items and the stored system prompt, by the provider's own rule."""
        return 0

    def findings(self, session: Session, resume: Resume) -> Iterator[Damage]:
        """Where the stored history breaks a rule of those who read it, beside what pairing alone tells."""
        return iter(())
