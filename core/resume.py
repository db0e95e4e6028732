"""The circumstances that a view depends on beside the file, each value with the place it came from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Known(Generic[T]):
    """A value and where it came from, in words that a person can check."""

    value: T
    source: str


@dataclass(frozen=True, slots=True)
class Overrides:
    """What the person said on the command line; None where nothing was said."""

    client_version: str | None = None
    model: str | None = None
    wire: str | None = None
    window: int | None = None
    """Tokens."""
    installed: Known[str] | None = None
    """The version of the client that is installed on this machine: said by nobody, but better than the newest known."""


@dataclass(frozen=True, slots=True)
class Resume:
    """How the session would be resumed. None: unknown, never guessed."""

    client_version: Known[str]
    provider: Known[str] | None = None
    model: Known[str] | None = None
    wire: Known[str] | None = None
    window: Known[int] | None = None
    """The model's context size in tokens."""
    max_output: Known[int] | None = None
    """The model's longest reply in tokens."""
    image_input: bool = True

    def to_json(self) -> dict[str, Any]:
        """Each known value with its source, as `session.resume` of `plan/1`."""
        names = ("client_version", "provider", "model", "wire", "window", "max_output")
        known = {name: getattr(self, name) for name in names}
        return {name: {"value": k.value, "source": k.source} for name, k in known.items() if k is not None}
