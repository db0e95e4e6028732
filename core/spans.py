"""Which part of a session a proposal's summary stands for, and what stays beside it."""

from __future__ import annotations

from core.opening import Opened
from core.proposal import Proposal
from core.view import Item, Seen


def span(opened: Opened, proposal: Proposal) -> list[Seen]:
    """What a summary has to stand for: the session's past, without what stays verbatim and what was dropped."""
    gone = {d.unit for d in proposal.dispositions if d.what == "summarize"}
    stays = {entry for unit in opened.units if unit.id not in gone for entry in unit.entries}
    return [
        seen
        for seen in opened.agent.history(opened.session, opened.resume)
        if seen.sight in ("visible", "summarized", "pruned") and not stays & {s.entry for s in seen.item.source}
    ]


def kept(opened: Opened, proposal: Proposal) -> list[Item]:
    """The items that stay in the view, in order, as they are before any shortening."""
    gone = {d.unit for d in proposal.dispositions if d.what in ("summarize", "drop")}
    return [opened.view.items[at] for unit in opened.units if unit.id not in gone for at in unit.items]
