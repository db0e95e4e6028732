"""What screens tell the app."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from textual.message import Message


@dataclass
class OpenSession(Message):
    """A session was chosen."""

    path: Path
