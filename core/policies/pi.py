"""pi's own policy: about 20,000 tokens of the newest messages stay; all before them goes into an updated summary.

Source: pi 1.6.0, compaction with `reserveTokens` 16,384 and `keepRecentTokens` 20,000.
"""

from __future__ import annotations

from core.budget import Budget, Reserve
from core.opening import Opened
from core.policies.composing import budget_with, cut_before
from core.policies.estimating import messages, pi_tokens, used_by
from core.policies.policy import Figures
from core.policies.settings import Settings
from core.proposal import Proposal
from core.view import UnitKind

_FIRST: frozenset[UnitKind] = frozenset({"user", "exchange", "assistant", "shell", "custom", "branch_summary"})
"""Units that a kept history may begin with: never a tool result nor an earlier summary."""
_TURN_STARTS: frozenset[UnitKind] = frozenset({"user", "shell", "custom", "branch_summary"})


def budget(opened: Opened, settings: Settings, figures: Figures) -> Budget:
    """Acts above window − 16,384."""
    reserve = Reserve("reserve", figures.tokens("reserve"), figures.source("reserve"))
    found = budget_with(opened, used_by(opened, pi_tokens), reserve)
    return Budget(found.window, found.used, found.reserves, strictly=True)


def propose(opened: Opened, settings: Settings, figures: Figures) -> Proposal:
    """The cut that pi would choose; inside a turn that is too large, its first half is summarised apart."""
    wanted = settings.keep_recent if settings.keep_recent is not None else figures.tokens("keep_recent")
    position = _cut(opened, wanted)
    if position is None:
        return Proposal("pi")
    return cut_before(opened, position, split=_split(opened, position))


def _cut(opened: Opened, keep: int) -> int | None:
    """Position of the first unit that stays; None where pi has nothing to compact.

    From the newest message back, until `keep` tokens are reached: the first place at or after that message where
    a kept history may begin, else the last such place before it; never reached: the first place of all.
    """
    units, start = opened.units, _start(opened)
    places = [at for at in range(start, len(units)) if units[at].kind in _FIRST]
    if not places:
        return None
    reached = _reached(opened, start, keep)
    if reached is None:
        cut = places[0]
    else:
        unit, first = reached
        after = [at for at in places if at > unit or (at == unit and first)]
        cut = after[0] if after else places[-1]
    return cut if cut > start else None


def _start(opened: Opened) -> int:
    """Position of the first unit behind an earlier summary."""
    return max((at + 1 for at, unit in enumerate(opened.units) if unit.kind in ("summary", "system")), default=0)


def _reached(opened: Opened, start: int, keep: int) -> tuple[int, bool] | None:
    """(unit, whether it is the unit's first message) at which the newest messages together reach `keep` tokens."""
    items = opened.view.items
    total = 0
    for at in range(len(opened.units) - 1, start - 1, -1):
        found = messages(items[position] for position in opened.units[at].items)
        for number in range(len(found) - 1, -1, -1):
            total += pi_tokens(found[number])
            if total >= keep:
                return at, number == 0
    return None


def _split(opened: Opened, position: int) -> str:
    """The unit with which a turn starts that the cut divides; empty where it divides none."""
    units = opened.units
    if units[position].kind in _TURN_STARTS:
        return ""
    start = _start(opened)
    begun = next((at for at in range(position - 1, start - 1, -1) if units[at].kind in _TURN_STARTS), None)
    return "" if begun is None else units[begun].id
