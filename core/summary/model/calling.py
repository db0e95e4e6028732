"""One call of a model, whoever makes it: what goes out, what comes back, and what can go wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol

from core.errors import SeamlineError

Finish = Literal["stop", "length", "tool_call", "other"]
Trouble = Literal["temporary", "too_long", "refused"]


@dataclass(frozen=True, slots=True)
class Call:
    """One request: no tools, one system text, one user text."""

    system: str
    prompt: str
    max_output: int
    """Tokens that the answer may have."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the model said, and why it ended."""

    text: str
    finish: Finish
    input_tokens: int | None = None
    """As the provider reported; None where it did not."""
    output_tokens: int | None = None


class CallFailed(SeamlineError):
    """The provider gave no answer. `temporary`: trying again may help; `too_long`: something shorter may."""

    def __init__(self, trouble: Trouble, message: str) -> None:
        super().__init__(message)
        self.trouble: Trouble = trouble


class Stopped(SeamlineError):
    """The person stopped the call; nothing was changed."""


class Caller(Protocol):
    """Makes calls, one at a time."""

    name: str
    """The model, as a receipt names it."""

    def complete(self, call: Call, on_text: Callable[[str], None]) -> Answer:
        """The answer; `on_text` gets each piece as it comes. Raises CallFailed, Stopped."""
        ...
