"""A proposal, checked against a view and told entry by entry: what pi's writer has to carry out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from core.agents.pi.units import options, units
from core.errors import CommitRefused
from core.jsonl import trim
from core.proposal import Disposition, Proposal, Summary
from core.view import Unit, View

Gone = Literal["summarize", "drop"]


@dataclass(frozen=True, slots=True)
class Shortened:
    """What stands in the place of one result."""

    what: Literal["limit", "point"]
    text: str


@dataclass(frozen=True)
class Decisions:
    """What becomes of each unit and entry of a view."""

    units: tuple[Unit, ...]
    gone: dict[str, Gone]
    """Units that leave the view, by id."""
    shortened: dict[str, Shortened]
    """Results that change, by the id of their entry."""
    summary: Summary | None
    """What stands for the summarised units; None exactly where no unit is summarised."""

    @property
    def kept(self) -> tuple[Unit, ...]:
        """The units that stay, perhaps with shortened results."""
        return tuple(unit for unit in self.units if unit.id not in self.gone)

    def entries_gone(self, how: Gone) -> tuple[str, ...]:
        """The entries of the units that leave the view this way."""
        return tuple(entry for unit in self.units if self.gone.get(unit.id) == how for entry in unit.entries)


def decide(view: View, proposal: Proposal) -> Decisions:
    """Raises CommitRefused where the proposal does not fit the view, or says what this format can't carry."""
    known = {unit.id: unit for unit in units(view)}
    gone: dict[str, Gone] = {}
    shortened: dict[str, Shortened] = {}
    for disposition in proposal.dispositions:
        unit = known.get(disposition.unit)
        if unit is None:
            raise CommitRefused(f"no unit {disposition.unit!r} in the view: make the proposal again")
        allowed = options(view, unit)
        what = disposition.what
        if what not in allowed.allowed:
            raise CommitRefused(f"{unit.id} can't be set to {what}: {allowed.refused.get(what, 'not possible here')}")
        if what in ("summarize", "drop"):
            if gone.setdefault(unit.id, what) != what:
                raise CommitRefused(f"{unit.id} can't be both summarised and dropped: choose one")
        elif what in ("limit", "point"):
            shortened |= _shortened(view, unit, disposition)
    for unit_id in gone:
        if set(known[unit_id].entries) & set(shortened):
            raise CommitRefused(f"{unit_id} leaves the view as a whole: no result of it can be shortened too")
    summary = _summary(view, known, gone, proposal)
    return Decisions(tuple(known.values()), gone, shortened, summary)


def _shortened(view: View, unit: Unit, disposition: Disposition) -> dict[str, Shortened]:
    results = {source.entry for source in options(view, unit).results}
    named = {source.entry for source in disposition.source} or results
    text = disposition.text
    if text is None or not trim(text):
        raise CommitRefused(f"{unit.id}: say what stands in place of the result, it can't be empty")
    if len(named) != 1 or not named <= results:
        raise CommitRefused(f"{unit.id}: name one of its results for each shortened text: {', '.join(sorted(results))}")
    what: Literal["limit", "point"] = "limit" if disposition.what == "limit" else "point"
    return {named.pop(): Shortened(what, text)}


def _summary(view: View, known: dict[str, Unit], gone: dict[str, Gone], proposal: Proposal) -> Summary | None:
    if "summarize" not in gone.values():
        return None
    if proposal.summary is None or not trim(proposal.summary.text):
        raise CommitRefused("units are summarised but there is no summary: write one, or keep or drop them")
    for unit in known.values():
        if unit.kind == "summary" and unit.id not in gone:
            condition = options(view, unit).conditions["keep"]
            raise CommitRefused(f"the earlier summary {unit.id} can be kept {condition}")
    return proposal.summary
