"""What the agents' own policies share: a budget from one reserve, and a proposal from what is kept."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from core.budget import Budget, Figure, Reserve, Sum, check_window
from core.cutting import as_cut, legal_cuts
from core.edits import derive
from core.opening import Opened
from core.proposal import Cut, Disposition, Proposal

NOTHING_KEPT = "the policy keeps nothing after the summary"


def budget_with(opened: Opened, used: Figure | Sum, reserve: Reserve | None) -> Budget:
    """A budget with one reserve; with no window, all is unknown. Raises SeamlineError for a window of 0 or less."""
    window = opened.resume.window
    if window is None or reserve is None:
        return Budget(window, used)
    check_window(window)
    return Budget(window, used, (replace(reserve, tokens=min(window.value, reserve.tokens)),))


def share_reserve(opened: Opened, share: float, source: str) -> Reserve | None:
    """What a policy holds back that acts at a share of the window."""
    window = opened.resume.window
    if window is None:
        return None
    return Reserve("reserve", window.value - int(window.value * share), f"acts at {share:.0%}: {source}")


def cut_before(opened: Opened, position: int, tail: Sequence[Disposition] = (), split: str = "") -> Proposal:
    """Everything before unit `position` summarised, the rest as `tail` has it; no cut where none may stand there."""
    cuts = legal_cuts(opened.units, opened.view.items)
    cut = next((cut for cut in cuts if cut.position == position), None)
    if cut is None:
        return Proposal("", tuple(tail), None, None, tuple(tail))
    dispositions = derive(opened, tail, position)
    if not any(one.what == "summarize" for one in dispositions):
        return Proposal("", tuple(tail), None, None, tuple(tail))
    return Proposal("", dispositions, replace(as_cut(cut, cuts, position), split=split), None, tuple(tail))


def keep_only(opened: Opened, kept: Collection[int], reason: str, tail: Sequence[Disposition] = ()) -> Proposal:
    """Only the units at these positions stay; all others are summarised where the format can.

    The cut stands before the first kept unit behind which nothing is summarised.
    """
    dispositions: list[Disposition] = []
    last_gone = -1
    by_unit: dict[str, list[Disposition]] = {}
    for one in tail:
        by_unit.setdefault(one.unit, []).append(one)
    for at, unit in enumerate(opened.units):
        if at in kept or "summarize" not in opened.options(unit).allowed:
            dispositions += by_unit.get(unit.id, [])
            continue
        dispositions.append(Disposition(unit.id, "summarize", reason))
        last_gone = at
    gone = {one.unit for one in dispositions if one.what == "summarize"}
    # An earlier summary alone is nothing to summarise: a summary of a summary only loses.
    if all(opened.unit_by_id[unit].kind == "summary" for unit in gone):
        return Proposal("", tuple(tail), None, None, tuple(tail))
    behind = last_gone + 1
    cuts = legal_cuts(opened.units, opened.view.items)
    legal = next((cut for cut in cuts if cut.position == behind), None)
    cut = as_cut(legal, cuts, behind) if legal else Cut("", 1, NOTHING_KEPT)
    return Proposal("", tuple(dispositions), cut, None, tuple(tail))
