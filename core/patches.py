"""The patch format of `apply_patch`: which files a patch changes, and between which lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

_FILE = re.compile(r"^\*\*\* (Update|Add|Delete) File: (.+?)\s*$")
_MOVE = re.compile(r"^\*\*\* Move to: (.+?)\s*$")

Made = Literal["edited", "written", "removed"]
_MADE: dict[str, Made] = {"Update": "edited", "Add": "written", "Delete": "removed"}


@dataclass(slots=True)
class Patched:
    """One file of a patch."""

    path: str
    how: Made
    old: list[str] = field(default_factory=list[str])
    new: list[str] = field(default_factory=list[str])


def patched(text: str) -> Iterator[Patched]:
    """The files of a patch in their order; nothing where the text is no patch (codex 0.171)."""
    current: Patched | None = None
    for line in text.split("\n"):
        head, move = _FILE.match(line), _MOVE.match(line)
        if head:
            if current is not None:
                yield current
            current = Patched(head[2], _MADE[head[1]])
        elif move and current is not None:
            yield Patched(current.path, "removed")
            current.path = move[1]
        elif current is not None and line[:1] == "-":
            current.old.append(line[1:])
        elif current is not None and line[:1] == "+":
            current.new.append(line[1:])
    if current is not None:
        yield current
