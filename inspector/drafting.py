"""A proposal under a person's hand: the edits so far, undo and redo, and what one key does to the selection. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from core.cutting import legal_cuts
from core.edits import move_cut, set_summary, set_what, step_cut
from core.errors import EditRefused
from core.opening import Opened
from core.proposal import Proposal, What
from core.view import Item, Source, Unit, pair_up

OFFLINE = "offline"
"""The writer of a summary that needs no model and no person."""


@dataclass(frozen=True, slots=True)
class Draft:
    """All states that the proposal went through; `at` is the one that counts."""

    states: tuple[Proposal, ...]
    at: int = 0

    @property
    def proposal(self) -> Proposal:
        return self.states[self.at]

    @property
    def edits(self) -> int:
        """How many edits would be lost; 0 where everything is as the policy proposed it."""
        return 0 if _decided(self.proposal) == _decided(self.states[0]) else self.at

    def edited(self, proposal: Proposal) -> Draft:
        """One edit further; what was undone before is forgotten."""
        return Draft((*self.states[: self.at + 1], proposal), self.at + 1)

    def settled(self, proposal: Proposal) -> Draft:
        """The same step with its summary written: no edit of its own."""
        return Draft((*self.states[: self.at], proposal, *self.states[self.at + 1 :]), self.at)

    def undone(self) -> Draft:
        """One edit back. Raises EditRefused where there is none."""
        if self.at == 0:
            raise EditRefused("nothing to undo: this is the policy's own proposal")
        return replace(self, at=self.at - 1)

    def redone(self) -> Draft:
        """One edit forward again. Raises EditRefused where there is none."""
        if self.at + 1 >= len(self.states):
            raise EditRefused("nothing to redo")
        return replace(self, at=self.at + 1)


def _decided(proposal: Proposal) -> tuple[object, ...]:
    """What a person would lose: the decisions and their own words; the program writes its summary again."""
    summary = proposal.summary
    return (
        {(one.unit, one.what, one.source, one.text) for one in proposal.dispositions},
        proposal.cut.first_kept if proposal.cut else None,
        summary.text if summary is not None and summary.writer != OFFLINE else None,
    )


def unit_at(opened: Opened, position: int) -> Unit:
    """The unit that an item of the view is in."""
    return next(unit for unit in opened.units if position in unit.items)


def apply(opened: Opened, proposal: Proposal, position: int, what: What) -> Proposal:
    """One key on one item: its unit, or for `limit`, `point` and `keep` the one result. Raises EditRefused."""
    unit = unit_at(opened, position)
    gone = any(disposition.what in ("summarize", "drop") for disposition in proposal.of(unit.id))
    source: Sequence[Source] = ()
    if what in ("limit", "point") or (what == "keep" and not gone):
        source = _result_of(opened, unit, position)
    return set_what(opened, proposal, unit.id, what, source)


def _result_of(opened: Opened, unit: Unit, position: int) -> tuple[Source, ...]:
    """The result that an item is, or that belongs to the call that it is; empty: all of the unit's results."""
    items = opened.view.items
    results = opened.options(unit).results
    item = items[position]
    if item.kind == "tool_call":
        local = list(unit.items)
        for call, result in pair_up(items[at] for at in local).pairs:
            if local[call] == position:
                item = items[local[result]]
    return tuple(source for source in results if _comes_from(item, source))


def _comes_from(item: Item, source: Source) -> bool:
    return bool(item.source) and item.source[0].entry == source.entry and item.kind in ("tool_result", "image")


def apply_to_all(
    opened: Opened, proposal: Proposal, positions: Sequence[int], what: What
) -> tuple[Proposal, list[str]]:
    """One key on a whole turn: every unit that allows it; and why the others don't."""
    refused: list[str] = []
    inside = set(positions)
    units = [unit for unit in opened.units if inside & set(unit.items)]
    for unit in units:
        try:
            proposal = set_what(opened, proposal, unit.id, what)
        except EditRefused as reason:
            refused.append(str(reason))
    if units and len(refused) == len(units):
        raise EditRefused(refused[0])
    return proposal, refused


def step(opened: Opened, proposal: Proposal, steps: int) -> Proposal:
    """The cut at the next legal place; where there is none yet, at the first or the last. Raises EditRefused."""
    if proposal.cut is None and steps < 0:
        cuts = legal_cuts(opened.units, opened.view.items)
        if not cuts:
            raise EditRefused("no place in this view can be cut")
        return move_cut(opened, proposal, cuts[-1].first_kept)
    return step_cut(opened, proposal, steps)


def cut_before(opened: Opened, proposal: Proposal, position: int) -> Proposal:
    """The cut before the unit of the selected item. Raises EditRefused with the reason where none may stand there."""
    return move_cut(opened, proposal, unit_at(opened, position).id)


def with_text(proposal: Proposal, text: str) -> Proposal:
    """The summary in a person's words. Raises EditRefused where nothing is summarised."""
    if proposal.summary is not None and proposal.summary.text == text:
        return proposal
    return set_summary(proposal, text)


def summary_anew(proposal: Proposal) -> Proposal:
    """The summary to be written anew by the program. Raises EditRefused where nothing is summarised."""
    if proposal.summary is None:
        raise EditRefused("nothing is summarised, so there is no summary to write: set a cut first")
    return replace(proposal, summary=None, edited=True)
