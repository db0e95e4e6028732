"""What a person may do to a proposal before it is approved. Pure: each edit gives a new proposal or a reason.

Nothing here can split a pair: a unit holds its calls with their results, `summarize` and `drop` take whole units,
and a cut stands only where `core.cutting` allows it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from core.agents.protocol import Options
from core.calls import calls_of
from core.cutting import LegalCut, legal_cuts, ranked, refusal
from core.errors import EditRefused
from core.limiting import limit_log
from core.opening import Opened
from core.pointers import pointer
from core.proposal import Cut, Disposition, Proposal, Summary, What
from core.pruning import PruneRules, images_of
from core.summary.template import language_of
from core.view import Source, Unit

BY_HAND = "chosen by hand"
BEFORE_CUT = "lies before the cut"

LEAST_TO_LIMIT = 200
"""Characters that a result must have more of to be limited."""


def derive(opened: Opened, tail: Sequence[Disposition], position: int) -> tuple[Disposition, ...]:
    """The dispositions that follow from a cut before unit `position` (0: none) and the layer of the kept tail."""
    by_unit = _by_unit(tail)
    out: list[Disposition] = []
    for at, unit in enumerate(opened.units):
        out.extend(_derived(opened, unit, at < position, by_unit.get(unit.id, ())))
    return tuple(out)


def _derived(opened: Opened, unit: Unit, before_cut: bool, tail: Sequence[Disposition]) -> tuple[Disposition, ...]:
    if not before_cut:
        return tuple(tail)
    dropped = tuple(disposition for disposition in tail if disposition.what == "drop")
    if dropped:
        return dropped
    if "summarize" not in opened.options(unit).allowed:
        return ()
    return (Disposition(unit.id, "summarize", BEFORE_CUT),)


def move_cut(opened: Opened, proposal: Proposal, first_kept: str) -> Proposal:
    """The cut before another unit; only what lies between the old and the new cut is derived anew.

    Raises EditRefused with the reason where no cut may stand there.
    """
    position = _position(opened, first_kept)
    reason = refusal(opened.units, opened.view.items, position)
    if reason:
        raise EditRefused(f"no cut before {first_kept}: {reason}")
    cuts = legal_cuts(opened.units, opened.view.items)
    legal = next(cut for cut in cuts if cut.position == position)
    old = cut_position(opened, proposal)
    low, high = min(old, position), max(old, position)
    tail = _by_unit(proposal.tail)
    between = {
        unit.id: _derived(opened, unit, at < position, tail.get(unit.id, ()))
        for at, unit in enumerate(opened.units)
        if low <= at < high
    }
    rank = ranked(cuts, old)[position] if proposal.cut else 1
    return _settled(opened, _with(opened, proposal, between, Cut(legal.first_kept, rank, legal.reason)))


def step_cut(opened: Opened, proposal: Proposal, steps: int) -> Proposal:
    """The cut moved by `steps` legal places, towards the end where positive. Raises EditRefused at either end."""
    cuts = legal_cuts(opened.units, opened.view.items)
    here = cut_position(opened, proposal)
    if steps > 0:
        ahead: list[LegalCut] = [cut for cut in cuts if cut.position > here]
    else:
        ahead = [cut for cut in reversed(cuts) if cut.position < here]
    if len(ahead) < abs(steps):
        raise EditRefused("no legal cut further on in this direction")
    return move_cut(opened, proposal, ahead[abs(steps) - 1].first_kept)


def remove_cut(opened: Opened, proposal: Proposal) -> Proposal:
    """Nothing is summarised any more: every summarised unit is treated as the policy treats a kept one."""
    tail = _by_unit(proposal.tail)
    back = {
        disposition.unit: tuple(tail.get(disposition.unit, ()))
        for disposition in proposal.dispositions
        if disposition.what == "summarize"
    }
    return replace(_with(opened, proposal, back, None), summary=None)


def set_what(
    opened: Opened,
    proposal: Proposal,
    unit_id: str,
    what: What,
    source: Sequence[Source] = (),
    text: str | None = None,
) -> Proposal:
    """Another disposition for a unit, or (limit, point, keep) for single results inside it.

    Raises EditRefused with the format's reason, or where no such unit or result is in the view.
    """
    unit = opened.units[_position(opened, unit_id)]
    options = opened.options(unit)
    if what not in options.allowed:
        raise EditRefused(f"{unit_id} can't be set to {what}: {options.refused.get(what, 'not possible here')}")
    if what in ("limit", "point"):
        new = _shortened(opened, proposal, unit, options, what, source, text)
    elif what == "keep" and source:
        new = tuple(d for d in proposal.of(unit_id) if not set(d.source) & set(source))
        if any(d.what in ("summarize", "drop") for d in new):
            raise EditRefused(f"{unit_id} is gone as a whole: keep the whole unit, not one result of it")
    elif what == "keep":
        _check_condition(proposal, unit, options)
        new = ()
    else:
        new = (Disposition(unit_id, what, BY_HAND),)
    return _settled(opened, _with(opened, proposal, {unit_id: new}, proposal.cut))


def _check_condition(proposal: Proposal, unit: Unit, options: Options) -> None:
    """An earlier summary, say, can't stand beside a new one."""
    if options.conditions.get("keep") and any(
        d.what == "summarize" and d.unit != unit.id for d in proposal.dispositions
    ):
        raise EditRefused(f"{unit.id} can't be kept: {options.conditions['keep']}")


def _shortened(
    opened: Opened,
    proposal: Proposal,
    unit: Unit,
    options: Options,
    what: What,
    source: Sequence[Source],
    text: str | None,
) -> tuple[Disposition, ...]:
    """New `limit` or `point` dispositions for the named results; others of the unit stay as they were."""
    wanted = tuple(source) or options.results
    if not wanted:
        raise EditRefused(f"{unit.id} holds no result that could be shortened")
    for one in wanted:
        if one not in options.results:
            raise EditRefused(f"{unit.id} has no result at entry {one.entry}, part {one.part}")
    others = [d for d in proposal.of(unit.id) if d.what in ("limit", "point") and not set(d.source) & set(wanted)]
    made = [Disposition(unit.id, what, BY_HAND, (one,), text or shortened(opened, unit, one, what)) for one in wanted]
    order = {one: number for number, one in enumerate(options.results)}
    return tuple(sorted([*others, *made], key=lambda d: order.get(d.source[0], 0) if d.source else 0))


def shortened(opened: Opened, unit: Unit, source: Source, what: What) -> str:
    """The text that stands for one result under `limit` or `point`."""
    items = opened.view.items
    for call in calls_of(opened.units, items, opened.agent.profile):
        result = items[call.result]
        if call.unit == unit.id and result.source and result.source[0] == source:
            if what == "limit" and len(result.text) <= LEAST_TO_LIMIT:
                raise EditRefused(f"{unit.id}: a result of {len(result.text)} characters needs no limit")
            if what == "limit":
                return limit_log(result.text, min(PruneRules().limit_to, max(LEAST_TO_LIMIT, len(result.text) // 2)))
            language = language_of(items)
            return pointer(call, result, len(images_of(unit, items, result)), "old", language)
    raise EditRefused(f"{unit.id} has no result with a call at entry {source.entry}")


def set_summary(proposal: Proposal, text: str, writer: str = "person") -> Proposal:
    """The summary in a person's own words. Raises EditRefused where nothing is summarised."""
    if not any(disposition.what == "summarize" for disposition in proposal.dispositions):
        raise EditRefused("nothing is summarised, so there is no summary to write: set a cut first")
    state = proposal.summary.state if proposal.summary else None
    return replace(proposal, summary=Summary(writer, text, state))


def cut_position(opened: Opened, proposal: Proposal) -> int:
    """Index of the first unit behind the cut; 0 where there is no cut."""
    if proposal.cut is None:
        return 0
    if not proposal.cut.first_kept:
        return len(opened.units)
    return _position(opened, proposal.cut.first_kept)


def _settled(opened: Opened, proposal: Proposal) -> Proposal:
    """A proposal whose cut and summary fit its dispositions: both exist exactly where something is summarised."""
    gone = [at for at, unit in enumerate(opened.units) if any(d.what == "summarize" for d in proposal.of(unit.id))]
    if not gone:
        return replace(proposal, cut=None, summary=None)
    conditional = {
        unit.id: (Disposition(unit.id, "summarize", opened.options(unit).conditions["keep"]),)
        for unit in opened.units
        if "keep" in opened.options(unit).conditions and not proposal.of(unit.id)
    }
    if conditional:
        proposal = _with(opened, proposal, conditional, proposal.cut)
    if proposal.cut is not None:
        return proposal
    cuts = legal_cuts(opened.units, opened.view.items)
    after = next((cut for cut in cuts if cut.position > gone[0]), None)
    cut = Cut(after.first_kept, 1, BY_HAND) if after else Cut("", 1, "nothing is kept")
    return replace(proposal, cut=cut)


def _with(opened: Opened, proposal: Proposal, changed: dict[str, tuple[Disposition, ...]], cut: Cut | None) -> Proposal:
    by_unit = _by_unit(proposal.dispositions) | changed
    ordered = tuple(d for unit in opened.units for d in by_unit.get(unit.id, ()))
    return replace(proposal, dispositions=ordered, cut=cut, edited=True)


def _by_unit(dispositions: Iterable[Disposition]) -> dict[str, tuple[Disposition, ...]]:
    grouped: dict[str, tuple[Disposition, ...]] = {}
    for disposition in dispositions:
        grouped[disposition.unit] = (*grouped.get(disposition.unit, ()), disposition)
    return grouped


def _position(opened: Opened, unit_id: str) -> int:
    for at, unit in enumerate(opened.units):
        if unit.id == unit_id:
            return at
    raise EditRefused(f"no unit {unit_id!r} in this view")
