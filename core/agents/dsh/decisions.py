"""A proposal told in places of dsh's surface: which results change, and which ranges of messages leave."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from core.agents.deciding import Deciding, Decisions
from core.agents.dsh.records import detail
from core.agents.dsh.units import options, units
from core.proposal import Proposal
from core.session import Session
from core.view import View


@dataclass(frozen=True, slots=True)
class Range:
    """Neighbours on the surface that leave together."""

    entries: tuple[str, ...]
    summarised: bool
    """Whether something in it is summarised, and not dropped."""


def decide(view: View, proposal: Proposal) -> Decisions:
    """Raises CommitRefused where the proposal does not fit the view, or says what this format can't carry."""
    return Deciding(view, units(view), options).decide(proposal)


def ranges(session: Session, decided: Decisions) -> tuple[Range, ...]:
    """What leaves, as ranges that are as long as can be, in the order of the surface.

    A message that sends nothing, such as an empty reply, belongs to no unit: it leaves with those on both its sides.
    """
    return tuple(_ranges(detail(session).surface, decided))


def _ranges(surface: tuple[str, ...], decided: Decisions) -> Iterator[Range]:
    fates = {entry: decided.gone.get(unit.id) for unit in decided.units for entry in unit.entries}
    run: list[str] = []
    silent: list[str] = []
    for entry in surface:
        if entry not in fates:
            silent += [entry] if run else []
        elif fates[entry] is not None:
            run += [*silent, entry]
            silent = []
        else:
            if run:
                yield _range(run, fates)
            run, silent = [], []
    if run:
        yield _range(run, fates)


def _range(run: list[str], fates: Mapping[str, str | None]) -> Range:
    return Range(tuple(run), any(fates.get(entry) == "summarize" for entry in run))
