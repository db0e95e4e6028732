"""What the harness needs of a real client, whatever the agent: resume a session, take turns, compact by itself.

To add an agent: a folder beside `pi/` with an `install.sh` and a `kit.py`, and one line in `tests.clients.agents`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol


@dataclass(frozen=True)
class Call:
    """A tool call in a scripted reply; the client really runs it."""

    id: str
    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True)
class Reply:
    """One scripted answer of the model."""

    text: str = ""
    thinking: str = ""
    calls: tuple[Call, ...] = ()


OK = Reply("ok")
PROMPT = "seamline capture: say ok"


@dataclass(frozen=True)
class Request:
    """What a client sent to the model server."""

    path: str
    body: dict[str, Any]


@dataclass(frozen=True)
class Resumed:
    """What a client did with a session: the view of its first request that ends in our prompt, or its own refusal."""

    items: tuple[dict[str, Any], ...] = ()
    """The session's own part of that request, in the form of `model-view/1`."""
    error: str = ""
    """The client's own words where it sent no such request."""
    requests: tuple[Request, ...] = ()
    before: int = 0
    """Requests that came before that one: above 0 where the client compacted first."""
    session: Path | None = None
    """Where the session stands now, if the client moved it, as one that unpacks a packed file does."""


@dataclass(frozen=True)
class Compacted:
    """What a client's own compaction asked a model for."""

    asked: str = ""
    """The texts of all its requests, joined."""
    error: str = ""
    forgets: str = ""
    """Why this client, with its own summaries too, asks without the earlier one here; empty where it asks with it."""


class Client(Protocol):
    """One installed client. Every method works on the session itself and may run beside others on other sessions.

    A session is a file or a folder, as `place` gives it: what is given to `seamline` as well. A home for the client,
    with its settings, is the client's own affair and lies in the folder that it was placed in.
    """

    agent: str
    version: str

    def place(self, session: Path, folder: Path) -> Path:
        """A copy of a session inside `folder`, which is new, where the client finds it; changed as little as possible.

        The session is a subject's file or folder, or one that was placed before: what belongs to it comes along.
        """
        ...

    def resume(
        self, session: Path, prompts: Sequence[str] = (PROMPT,), replies: Sequence[Reply] = (OK,), window: int = 0
    ) -> Resumed:
        """Resume, type the prompts, answer with the replies. `window` (tokens) turns own compaction on."""
        ...

    def compact(self, session: Path, summary: str, keep_recent: int) -> Compacted:
        """The client's own compaction, answered with `summary`, keeping about `keep_recent` tokens where it can."""
        ...

    def lists(self, session: Path) -> bool | None:
        """Whether the client's own list of sessions has this one; None where it has no list without a terminal."""
        ...

    def turns(self, number: int) -> tuple[tuple[str, ...], tuple[Reply, ...]]:
        """Prompts and replies of further work with large results, to make a session grow; other ones per number."""
        ...
