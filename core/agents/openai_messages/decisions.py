"""A proposal, checked against a view and told entry by entry: what the writer has to carry out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from core.agents.openai_messages.units import options, units
from core.errors import CommitRefused
from core.proposal import Disposition, Proposal, Summary
from core.view import Source, Unit, View


@dataclass(frozen=True, slots=True)
class Shortened:
    """What stands in the place of one result."""

    what: Literal["limit", "point"]
    text: str


@dataclass(frozen=True)
class Decisions:
    """What becomes of the entries of a view."""

    gone: frozenset[str]
    """Entries that leave."""
    summarised: str | None
    """The first entry that the summary stands for, whose place it takes; None where nothing is summarised."""
    summary: Summary | None
    shortened: dict[Source, Shortened]


def decide(view: View, proposal: Proposal) -> Decisions:
    """Raises CommitRefused where the proposal does not fit the view, or says what this format can't carry."""
    known = {unit.id: unit for unit in units(view)}
    gone: dict[str, str] = {}
    shortened: dict[Source, Shortened] = {}
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
        if set(known[unit_id].entries) & {source.entry for source in shortened}:
            raise CommitRefused(f"{unit_id} leaves the view as a whole: no result of it can be shortened too")
    summarised = [unit for unit in known.values() if gone.get(unit.id) == "summarize"]
    return Decisions(
        gone=frozenset(entry for unit_id in gone for entry in known[unit_id].entries),
        summarised=summarised[0].entries[0] if summarised else None,
        summary=_summary(view, known, gone, proposal) if summarised else None,
        shortened=shortened,
    )


def _shortened(view: View, unit: Unit, disposition: Disposition) -> dict[Source, Shortened]:
    results = options(view, unit).results
    named = disposition.source or results
    text = disposition.text
    if text is None or not text.strip():
        raise CommitRefused(f"{unit.id}: say what stands in place of the result, the APIs refuse an empty one")
    if len(named) != 1 or named[0] not in results:
        places = ", ".join(f"{source.entry} part {source.part}" for source in results)
        raise CommitRefused(f"{unit.id}: name one of its results for each shortened text: {places}")
    what: Literal["limit", "point"] = "limit" if disposition.what == "limit" else "point"
    return {named[0]: Shortened(what, text)}


def _summary(view: View, known: dict[str, Unit], gone: dict[str, str], proposal: Proposal) -> Summary:
    if proposal.summary is None or not proposal.summary.text.strip():
        raise CommitRefused("units are summarised but there is no summary: write one, or keep or drop them")
    for unit in known.values():
        if unit.id not in gone and "keep" in options(view, unit).conditions:
            raise CommitRefused(f"the earlier summary {unit.id} can be kept {options(view, unit).conditions['keep']}")
    return proposal.summary
