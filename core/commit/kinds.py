"""The kinds of change that there are: one module each."""

from __future__ import annotations

from typing import cast

from core.commit import append, create
from core.commit.append import AppendStep
from core.commit.change import Kind, Step
from core.commit.create import CreateStep
from core.patch import Append, Create

KINDS: dict[str, Kind] = {"append": cast(Kind, append), "create": cast(Kind, create)}


def open_step(change: Append | Create, identity: str, mode: int) -> Step:
    """The change, ready to be carried out. `mode`: permissions of a new file, which its owner may always write."""
    if isinstance(change, Append):
        return AppendStep(change, identity)
    return CreateStep(change, identity, mode | 0o600)
