"""Seamline's own policy: cheap first. Pointers for what can be had again; only if that is not enough, a cut.

The summary is written later, from the proposal; here its room is only reserved.
"""

from __future__ import annotations

from collections.abc import Callable

from core.budget import Budget, handoff_budget, used_figure
from core.cutting import LegalCut, legal_cuts
from core.metering import gain, tokens_after, tokens_before
from core.opening import Opened
from core.policies.composing import cut_before
from core.policies.policy import Figures, summary_room
from core.policies.settings import Settings
from core.proposal import Disposition, Proposal
from core.pruning import Prunable, PruneRules, prune
from core.summary.template import language_of
from core.view import Unit


def propose(opened: Opened, settings: Settings, figures: Figures) -> Proposal:
    """Pointers and limits, and a cut where those don't bring the view down far enough."""
    tail = prune(prunable(opened))
    before = opened.view_tokens
    pruned = before - gain(opened, tail)
    enough, aim = aims(opened, settings, figures)
    if enough is not None and pruned > enough:
        cut = _cut(opened, tail, settings, figures, aim or enough)
        if cut is not None:
            return cut_before(opened, cut.position, tail)
    if before - pruned < figures.share("least_share") * before and (
        settings.target is None or before <= settings.target
    ):
        return Proposal("handoff", (), None, None, tail)
    return Proposal("handoff", tail, None, None, tail)


def budget(opened: Opened, settings: Settings, figures: Figures) -> Budget:
    """Acts where tokens now, the next reply, tool results and recovery would no longer fit."""
    used = used_figure(
        opened.usage, opened.view_tokens, opened.system_tokens, _later_tokens(opened), opened.framing_tokens
    )
    return handoff_budget(
        opened.resume.window,
        used,
        max_output=opened.resume.max_output,
        tool_room=figures.tokens("tool_room"),
        recovery_share=figures.share("recovery_share"),
        most_reply=figures.tokens("next_reply"),
    )


def _later_tokens(opened: Opened) -> int:
    """Counted tokens of what came after the last reported figure."""
    later = {source.entry for source in opened.usage.later}
    return sum(
        count
        for item, count in zip(opened.view.items, opened.item_tokens)
        if item.source and item.source[0].entry in later
    )


def aims(opened: Opened, settings: Settings, figures: Figures) -> tuple[int | None, int | None]:
    """(enough without a summary, aim with one), in tokens; None where neither window nor target is known."""
    if settings.target is not None:
        return settings.target, settings.target
    window = opened.resume.window
    if window is None:
        return None, None
    return int(window.value * figures.share("enough_share")), int(window.value * figures.share("aim_share"))


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


def _cut(
    opened: Opened, tail: tuple[Disposition, ...], settings: Settings, figures: Figures, aim: int
) -> LegalCut | None:
    """The earliest turn start whose tail fits both the newest content to keep and the aim; else a cut inside a turn."""
    cuts = legal_cuts(opened.units, opened.view.items)
    if not cuts:
        return None
    kept = _tail_tokens(opened, tail)
    room = max(0, aim - summary_room(opened, settings, figures))
    wanted_recent = settings.keep_recent if settings.keep_recent is not None else figures.tokens("keep_recent")
    keep = min(wanted_recent, room)
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
