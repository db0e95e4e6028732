"""What screens tell the app."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from textual.message import Message
from textual.screen import Screen


@dataclass
class OpenSession(Message):
    """A session was chosen."""

    path: Path
    instead: Screen[None] | None = None
    """The screen that this session takes the place of."""
    leaf: str | None = None
    """The entry at which the view ends; None: the client's own choice."""
