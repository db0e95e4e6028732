"""Seamline's own policy: cheap first. Pointers for what can be had again; only if that is not enough, a cut.

The summary is written later, from the proposal; here its room is only reserved.
"""

from __future__ import annotations

from collections.abc import Callable

from core.cutting import LegalCut, as_cut, legal_cuts
from core.edits import derive
from core.metering import gain, tokens_after, tokens_before
from core.opening import Opened
from core.policies.settings import Settings
from core.proposal import Disposition, Proposal
from core.pruning import Prunable, PruneRules, prune
from core.summary.template import language_of
from core.view import Unit

KEEP_RECENT = 20_000
"""Tokens of the newest content that stay verbatim behind a cut, about; at least the last turn is kept whole."""

LEAST_SHARE = 0.05
"""A proposal that frees less than this share of the view is not worth the broken prompt cache."""

SUMMARY_SHARE = 0.3
"""Share of the aim that the summary may take."""

SUMMARY_TOKENS = (1_200, 12_000)
"""A summary gets at least and at most this much room."""


def propose(opened: Opened, settings: Settings) -> Proposal:
    """Pointers and limits, and a cut where those don't bring the view down far enough."""
    tail = prune(prunable(opened))
    before = opened.view_tokens
    pruned = before - gain(opened, tail)
    enough, aim = aims(opened, settings)
    if enough is not None and pruned > enough:
        cut = _cut(opened, tail, settings, aim or enough)
        if cut is not None:
            cuts = legal_cuts(opened.units, opened.view.items)
            dispositions = derive(opened, tail, cut.position)
            return Proposal("handoff", dispositions, as_cut(cut, cuts, cut.position), None, tail)
    if before - pruned < LEAST_SHARE * before and (settings.target is None or before <= settings.target):
        return Proposal("handoff", (), None, None, tail)
    return Proposal("handoff", tail, None, None, tail)


def aims(opened: Opened, settings: Settings) -> tuple[int | None, int | None]:
    """(enough without a summary, aim with one), in tokens; None where neither window nor target is known."""
    if settings.target is not None:
        return settings.target, settings.target
    window = opened.resume.window
    if window is None:
        return None, None
    return int(window.value * settings.enough_share), int(window.value * settings.aim_share)


def summary_room(opened: Opened, settings: Settings) -> int:
    """Tokens that the summary may take."""
    aim = aims(opened, settings)[1] or opened.view_tokens
    least, most = SUMMARY_TOKENS
    return max(least, min(most, int(aim * SUMMARY_SHARE)))


def prunable(opened: Opened, rules: PruneRules | None = None) -> Prunable:
    """The opened session as pruning looks at it."""
    return Prunable(
        units=opened.units,
        items=opened.view.items,
        item_tokens=opened.item_tokens,
        profile=opened.agent.profile,
        language=language_of(opened.view.items),
        allows=lambda unit, what: what in opened.options(unit).allowed,
        count=opened.counter.text,
        rules=rules or PruneRules(),
        results=lambda unit: opened.options(unit).results,
    )


def _cut(opened: Opened, tail: tuple[Disposition, ...], settings: Settings, aim: int) -> LegalCut | None:
    """The earliest turn start whose tail fits both the newest content to keep and the aim; else a cut inside a turn."""
    cuts = legal_cuts(opened.units, opened.view.items)
    if not cuts:
        return None
    kept = _tail_tokens(opened, tail)
    room = max(0, aim - summary_room(opened, settings))
    keep = min(settings.keep_recent if settings.keep_recent is not None else KEEP_RECENT, room)
    at_turns = [cut for cut in cuts if cut.at_turn]
    fits: Callable[[LegalCut], bool] = lambda cut: kept[cut.position] <= keep  # noqa: E731
    wanted = next((cut for cut in at_turns if fits(cut)), None)
    if wanted is None and at_turns and kept[at_turns[-1].position] <= room:
        wanted = at_turns[-1]
    if wanted is None:
        wanted = next((cut for cut in cuts if fits(cut)), cuts[-1])
    # An earlier summary alone is nothing to summarise: a summary of a summary only loses.
    return wanted if any(unit.kind != "summary" for unit in opened.units[: wanted.position]) else None


def _tail_tokens(opened: Opened, tail: tuple[Disposition, ...]) -> list[int]:
    """For each unit's position: tokens of all units from there on, as they would stand if kept."""
    freed: dict[str, int] = {}
    for disposition in tail:
        freed[disposition.unit] = (
            freed.get(disposition.unit, 0) + tokens_before(opened, disposition) - tokens_after(opened, disposition)
        )
    totals = [0]
    for unit in reversed(opened.units):
        totals.append(totals[-1] + _as_kept(opened, unit, freed))
    return list(reversed(totals))


def _as_kept(opened: Opened, unit: Unit, freed: dict[str, int]) -> int:
    return opened.unit_tokens(unit) - freed.get(unit.id, 0)
