"""Where a history may be divided: all legal cuts with their quality, and why any other place is refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from core.proposal import Cut
from core.view import Item, Unit, pair_up, turns

_NEVER_FIRST = {
    "orphan": "a tool result without its call can't stand first",
    "summary": "an earlier summary stays at the head or is summarised anew",
    "system": "the system prompt is not part of the history",
}


@dataclass(frozen=True, slots=True)
class LegalCut:
    """A place between two units: everything before `first_kept` may be summarised."""

    position: int
    """Index of the first kept unit in the view's units."""
    first_kept: str
    at_turn: bool
    reason: str


def legal_cuts(units: Sequence[Unit], items: Sequence[Item]) -> tuple[LegalCut, ...]:
    """Every place where the history may be cut, oldest first.

    A cut at a turn's start is the best kind. Inside a turn, a cut may stand between two units: pairs are whole,
    and thinking stays with the calls it led to, because both are in one unit.
    """
    turn_of = {unit.id: turn.number for turn in turns(units) for unit in turn.units}
    reach, running, beyond = _reach(units), _running_call(units, items), _behind_summaries(units)
    cuts: list[LegalCut] = []
    for position in range(1, len(units)):
        if _refusal(units, position, reach, running, beyond):
            continue
        unit = units[position]
        number = turn_of[unit.id]
        reason = f"start of turn {number}" if unit.starts_turn else f"inside turn {number}, between two steps"
        cuts.append(LegalCut(position, unit.id, unit.starts_turn, reason))
    return tuple(cuts)


def refusal(units: Sequence[Unit], items: Sequence[Item], position: int) -> str:
    """Why the history may not be cut before unit `position`; empty where it may."""
    if not 0 < position < len(units):
        return "nothing lies before this place" if position <= 0 else "nothing would be kept"
    return _refusal(units, position, _reach(units), _running_call(units, items), _behind_summaries(units))


def _refusal(units: Sequence[Unit], position: int, reach: Sequence[int], running: int | None, beyond: int) -> str:
    unit = units[position]
    if unit.kind in _NEVER_FIRST:
        return _NEVER_FIRST[unit.kind]
    if position < beyond:
        return "an earlier summary stands behind this place: cut behind it, so that it is summarised anew"
    if reach[position - 1] > unit.first:
        return "a tool call before this place has its result after it"
    if running is not None and running < position:
        return "the call before this place has no result yet: wait for it, or cut before it"
    return ""


def _reach(units: Sequence[Unit]) -> tuple[int, ...]:
    """For each unit the last item that it or any unit before it holds."""
    return tuple(accumulate((unit.last for unit in units), max))


def _behind_summaries(units: Sequence[Unit]) -> int:
    """The first position with no earlier summary at or behind it."""
    return max((at + 1 for at, unit in enumerate(units) if unit.kind == "summary"), default=0)


def _running_call(units: Sequence[Unit], items: Sequence[Item]) -> int | None:
    """Index of the unit whose call still runs at the end of the session: it must not be summarised away."""
    last_exchange = max((at for at, unit in enumerate(units) if unit.kind == "exchange"), default=None)
    if last_exchange is None or any(unit.starts_turn for unit in units[last_exchange + 1 :]):
        return None
    unanswered = {items[at].call_id for at in pair_up(items).unanswered}
    repaired = {item.call_id for item in items if item.kind == "tool_result" and item.origin == "repair"}
    calls = {items[at].call_id for at in units[last_exchange].items if items[at].kind == "tool_call"}
    return last_exchange if calls & (unanswered | repaired) else None


def ranked(cuts: Sequence[LegalCut], best: int) -> dict[int, int]:
    """The rank of each cut by position, 1 for `best`: turn starts first, then by distance from `best`."""
    order = sorted(cuts, key=lambda cut: (cut.position != best, not cut.at_turn, abs(cut.position - best)))
    return {cut.position: rank for rank, cut in enumerate(order, 1)}


def as_cut(cut: LegalCut, cuts: Sequence[LegalCut], best: int) -> Cut:
    """The cut as it stands in a proposal, ranked against the one that the policy likes best."""
    return Cut(cut.first_kept, ranked(cuts, best)[cut.position], cut.reason)
