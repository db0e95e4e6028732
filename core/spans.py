"""Which part of a session a proposal's summary stands for, and what stays beside it."""

from __future__ import annotations

from dataclasses import replace

from core.opening import Opened
from core.proposal import Proposal
from core.view import Item, Seen


def span(opened: Opened, proposal: Proposal) -> list[Seen]:
    """What a summary has to stand for: the session's past, without what stays verbatim.

    What was dropped, now or by an earlier commit, is there as `dropped`: the files that it changed are changed, but
    none of its text may be used.
    """
    what = {d.unit: d.what for d in proposal.dispositions}
    stays = {entry for unit in opened.units if what.get(unit.id) not in ("summarize", "drop") for entry in unit.entries}
    dropped = {entry for unit in opened.units if what.get(unit.id) == "drop" for entry in unit.entries}
    past: list[Seen] = []
    for seen in opened.agent.history(opened.session, opened.resume):
        entries = {source.entry for source in seen.item.source}
        if seen.sight in ("visible", "summarized", "pruned", "dropped") and not stays & entries:
            past.append(replace(seen, sight="dropped") if dropped & entries else seen)
    return past


def kept(opened: Opened, proposal: Proposal) -> list[Item]:
    """The items that stay in the view, in order, as they are before any shortening."""
    gone = {d.unit for d in proposal.dispositions if d.what in ("summarize", "drop")}
    return [opened.view.items[at] for unit in opened.units if unit.id not in gone for at in unit.items]
