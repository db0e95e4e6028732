"""A proposal: what would happen to each unit, where the cut is, and the summary. A value; edits make a new one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from core.view import Source

What = Literal["keep", "limit", "point", "summarize", "drop"]
Class = Literal["verbatim", "summary", "pointer", "drop"]

CLASS_OF: dict[What, Class] = {
    "keep": "verbatim",
    "limit": "verbatim",
    "point": "pointer",
    "summarize": "summary",
    "drop": "drop",
}


@dataclass(frozen=True, slots=True)
class Disposition:
    """What happens to a unit, or to single results inside it, and why."""

    unit: str
    what: What
    reason: str
    source: tuple[Source, ...] = ()
    """The results that `limit` and `point` apply to; empty for the whole unit."""
    text: str | None = None
    """What stands there instead, for `limit` and `point`."""

    @property
    def klass(self) -> Class:
        """The class that seed and `plan/1` speak of."""
        return CLASS_OF[self.what]


@dataclass(frozen=True, slots=True)
class Cut:
    """Everything before `first_kept` (a unit's id) is summarised, unless a disposition says otherwise."""

    first_kept: str
    rank: int
    """1 is best."""
    reason: str
    split: str = ""
    """Where the cut stands inside a turn that is too large: the unit with which that turn starts; its first half is
    summarised apart. Empty where the span is summarised as one."""


@dataclass(frozen=True, slots=True)
class Summary:
    """The handoff document that stands for the summarised span."""

    writer: str
    """`offline`, `file`, `person`, or the model's name."""
    text: str
    state: dict[str, Any] | None = None
    """The structured state behind the text, stored with the commit where the format has room."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """One policy's suggestion, perhaps edited. `dispositions` in view order; what is not listed is kept."""

    policy: str
    dispositions: tuple[Disposition, ...] = ()
    cut: Cut | None = None
    summary: Summary | None = None
    tail: tuple[Disposition, ...] = ()
    """What the policy would do to each unit if it stayed: the layer from which a moved cut is re-derived."""
    edited: bool = False
    """Whether a person changed the cut or a disposition; who wrote the summary stands there."""

    def of(self, unit: str) -> tuple[Disposition, ...]:
        """The dispositions of one unit; empty where it is simply kept."""
        return tuple(disposition for disposition in self.dispositions if disposition.unit == unit)
