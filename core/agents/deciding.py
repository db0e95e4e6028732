"""A proposal, checked against a view and told unit by unit: what a format's writer has to carry out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from core.agents.protocol import Options
from core.errors import CommitRefused
from core.jsonl import trim
from core.proposal import Disposition, Proposal, Summary
from core.view import Source, Unit, View

Gone = Literal["summarize", "drop"]


@dataclass(frozen=True, slots=True)
class Shortened:
    """What stands in the place of one result."""

    what: Literal["limit", "point"]
    text: str


@dataclass(frozen=True)
class Decisions:
    """What becomes of each unit and result of a view."""

    units: tuple[Unit, ...]
    gone: dict[str, Gone]
    """Units that leave the view, by id."""
    results: dict[Source, Shortened]
    """Results that change."""
    summary: Summary | None
    """What stands for the summarised units; None exactly where no unit is summarised."""

    @cached_property
    def shortened(self) -> dict[str, Shortened]:
        """Results that change, by the id of their entry: for formats in which each result is an entry of its own."""
        return {source.entry: shortened for source, shortened in self.results.items()}

    @property
    def kept(self) -> tuple[Unit, ...]:
        """The units that stay, perhaps with shortened results."""
        return tuple(unit for unit in self.units if unit.id not in self.gone)

    def entries_gone(self, how: Gone) -> tuple[str, ...]:
        """The entries of the units that leave the view this way."""
        return tuple(entry for unit in self.units if self.gone.get(unit.id) == how for entry in unit.entries)


@dataclass(frozen=True)
class Deciding:
    """Judges a proposal by a format's own units and options."""

    view: View
    units: Sequence[Unit]
    options: Callable[[View, Unit], Options]

    def decide(self, proposal: Proposal) -> Decisions:
        """Raises CommitRefused where the proposal does not fit the view, or says what this format can't carry."""
        known = {unit.id: unit for unit in self.units}
        gone: dict[str, Gone] = {}
        results: dict[Source, Shortened] = {}
        changed: set[str] = set()
        for disposition in proposal.dispositions:
            unit = known.get(disposition.unit)
            if unit is None:
                raise CommitRefused(f"no unit {disposition.unit!r} in the view: make the proposal again")
            allowed, what = self.options(self.view, unit), disposition.what
            if what not in allowed.allowed:
                why = allowed.refused.get(what, "not possible here")
                raise CommitRefused(f"{unit.id} can't be set to {what}: {why}")
            if what in ("summarize", "drop"):
                if gone.setdefault(unit.id, what) != what:
                    raise CommitRefused(f"{unit.id} can't be both summarised and dropped: choose one")
            elif what in ("limit", "point"):
                results |= self._shortened(unit, disposition)
                changed.add(unit.id)
        for unit_id in gone:
            if unit_id in changed:
                raise CommitRefused(f"{unit_id} leaves the view as a whole: no result of it can be shortened too")
        return Decisions(tuple(self.units), gone, results, self._summary(gone, proposal))

    def _shortened(self, unit: Unit, disposition: Disposition) -> dict[Source, Shortened]:
        results = self.options(self.view, unit).results
        named = set(disposition.source) or set(results)
        text = disposition.text
        if text is None or not trim(text):
            raise CommitRefused(f"{unit.id}: say what stands in place of the result, it can't be empty")
        if len(named) != 1 or not named <= set(results):
            entries = ", ".join(sorted({source.entry for source in results}))
            raise CommitRefused(f"{unit.id}: name one of its results for each shortened text: {entries}")
        what: Literal["limit", "point"] = "limit" if disposition.what == "limit" else "point"
        return {named.pop(): Shortened(what, text)}

    def _summary(self, gone: dict[str, Gone], proposal: Proposal) -> Summary | None:
        if "summarize" not in gone.values():
            return None
        if proposal.summary is None or not trim(proposal.summary.text):
            raise CommitRefused("units are summarised but there is no summary: write one, or keep or drop them")
        for unit in self.units:
            if unit.kind == "summary" and unit.id not in gone:
                condition = self.options(self.view, unit).conditions.get("keep")
                if condition:
                    raise CommitRefused(f"the earlier summary {unit.id} can be kept {condition}")
        return proposal.summary
