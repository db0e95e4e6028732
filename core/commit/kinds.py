"""The kinds of change that there are: one module each."""

from __future__ import annotations

from pathlib import Path
from typing import cast

from core.commit import append, create, replace
from core.commit.append import AppendStep
from core.commit.change import Kind, Step
from core.commit.create import CreateStep
from core.commit.replace import ReplaceStep
from core.patch import Append, Change, Replace

KINDS: dict[str, Kind] = {
    "append": cast(Kind, append),
    "create": cast(Kind, create),
    "replace": cast(Kind, replace),
}


def open_step(change: Change, identity: str, mode: int, backup: Path) -> Step:
    """The change, ready to be carried out.

    `mode`: permissions of a new file, which its owner may always write; `backup`: where old bytes would be kept.
    """
    if isinstance(change, Append):
        return AppendStep(change, identity)
    if isinstance(change, Replace):
        return ReplaceStep(change, identity, backup)
    return CreateStep(change, identity, mode | 0o600)
