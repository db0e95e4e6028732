"""dsh's own policy: first every oversized tool result is pruned; only if that is not enough, a checkpoint is made.

Source: dsh 0.1.0-rc.8, compaction-basic.
"""

from __future__ import annotations

from collections.abc import Sequence

from core.budget import Budget
from core.cutting import refusal
from core.opening import Opened
from core.policies.composing import budget_with, cut_before, share_reserve
from core.policies.estimating import dsh_tokens, messages, used_by
from core.policies.limits import limit_points
from core.policies.policy import Figures
from core.policies.settings import Settings
from core.proposal import Disposition, Proposal


def budget(opened: Opened, settings: Settings, figures: Figures) -> Budget:
    """Acts at 80 % of the window."""
    reserve = share_reserve(opened, figures.share("threshold_share"), figures.source("threshold_share"))
    return budget_with(opened, used_by(opened, dsh_tokens), reserve)


def propose(opened: Opened, settings: Settings, figures: Figures) -> Proposal:
    """Prune, measure again, and stop there if that is enough; else everything but the tail goes into a checkpoint.

    Who says how much to keep asks for the checkpoint, as `/compact` does.
    """
    pruned = prune(opened, figures)
    measured = budget(opened, settings, figures)
    window = opened.resume.window
    if window is None:
        return Proposal("dsh", pruned, None, None, pruned)
    freed = _freed(opened, pruned)
    limit = settings.target if settings.target is not None else measured.threshold
    if limit is None or (settings.keep_recent is None and measured.used.value - freed < limit):
        return Proposal("dsh", pruned, None, None, pruned)
    retain = settings.keep_recent
    if retain is None:
        retain = int(window.value * figures.share("retain_share"))
    position = _cut(opened, pruned, retain)
    return cut_before(opened, position, pruned) if position else Proposal("dsh", pruned, None, None, pruned)


def prune(opened: Opened, figures: Figures) -> tuple[Disposition, ...]:
    """Every tool result over the threshold as dsh shortens it: also the newest ones."""
    above, head, tail = (figures.tokens(name) for name in ("limit_above", "limit_head", "limit_tail"))
    found: list[Disposition] = []
    for unit in opened.units:
        allowed = opened.options(unit)
        if "limit" not in allowed.allowed:
            continue
        for at in unit.items:
            item = opened.view.items[at]
            if item.kind != "tool_result" or len(item.text) <= above or item.source[:1] not in _each(allowed.results):
                continue
            reason = f"longer than {above:,} characters: the first {head:,} and the last {tail:,} stay"
            text = limit_points(item.text, above, head, tail)
            found.append(Disposition(unit.id, "limit", reason, item.source[:1], text))
    return tuple(found)


def _each(sources: Sequence[object]) -> set[tuple[object, ...]]:
    return {(source,) for source in sources}


def _freed(opened: Opened, pruned: Sequence[Disposition]) -> int:
    """Tokens by dsh's estimate that the pruning frees."""
    texts = {d.source[0]: d.text or "" for d in pruned}
    return sum(
        -(-len(item.text) // 4) - -(-len(texts[item.source[0]]) // 4)
        for item in opened.view.items
        if item.kind == "tool_result" and item.source and item.source[0] in texts
    )


def _cut(opened: Opened, pruned: Sequence[Disposition], retain: int) -> int:
    """Position of the first unit that stays: the newest reach `retain` tokens, and no pair is split; 0 for none."""
    texts = {d.source[0]: d.text or "" for d in pruned}
    total, position = 0, len(opened.units)
    while position > 0 and (total < retain or position == len(opened.units)):
        position -= 1
        items = [opened.view.items[at] for at in opened.units[position].items]
        total += sum(dsh_tokens(message) for message in messages(items))
        total -= sum(
            -(-len(item.text) // 4) - -(-len(texts[item.source[0]]) // 4)
            for item in items
            if item.kind == "tool_result" and item.source and item.source[0] in texts
        )
    while position > 0 and refusal(opened.units, opened.view.items, position):
        position -= 1
    return position
