"""What each kind of change must offer, so that the rest of the transaction need not know which one it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol

from core.commit.receipt import FileState
from core.commit.request import At
from core.errors import CommitRefused

if TYPE_CHECKING:
    from core.commit.journal import Change

Found = Literal["untouched", "partial", "whole", "continued", "foreign"]
"""What a process that is gone left of a change: nothing, a beginning, all of it, all of it and then more by the
agent, or something that is not ours."""


class Unsettled(CommitRefused):
    """What is ours cannot be told from, or parted from, what others have written: nothing more was touched."""


class Step(Protocol):
    """One change of a running commit, with its file held open."""

    change: Change
    data: bytes
    """What must be known after a kill to tell a beginning of ours; empty where the hash is enough."""

    def write(self, at: At) -> None:
        """Carry it out, durably."""
        ...

    def settle(self) -> FileState:
        """The state of the file after it; raises Stale where it is not what we wrote."""
        ...

    def take_back(self) -> None:
        """Undo what `write` did, however far it came, also if it did nothing."""
        ...

    def close(self) -> None: ...


class Kind(Protocol):
    """The module of a kind of change, for what other processes left. `data` is what was to be written, if known."""

    def judge(self, change: Change, data: bytes | None, identity: str) -> Found: ...

    def finish(self, change: Change, data: bytes | None, identity: str) -> FileState:
        """The state to record where all of it stands; removes what helped to write it."""
        ...

    def take_back(self, change: Change, data: bytes | None, identity: str) -> None: ...

    def check_reversible(self, change: Change) -> None:
        """Raise CommitRefused, with the reason, where `reverse` is not possible."""
        ...

    def reverse(self, change: Change, identity: str, at: At) -> None: ...

    def tidy(self, change: Change, identity: str) -> None:
        """Remove our own temporary files, and nothing else, where the rest is left to a person."""
        ...
