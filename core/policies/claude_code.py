"""Claude Code's own policy: the last assistant message, or the running call, stays behind a nine-section summary.

Source: Claude Code 2.x, `/compact` and automatic compaction.
"""

from __future__ import annotations

from core.budget import Budget, Reserve
from core.opening import Opened
from core.policies.composing import budget_with, keep_only
from core.policies.estimating import bytes_tokens, used_by
from core.policies.policy import Figures
from core.policies.settings import Settings
from core.proposal import Proposal

REASON = "Claude Code keeps the last assistant message only"


def budget(opened: Opened, settings: Settings, figures: Figures) -> Budget:
    """Acts at window − min(longest reply, 20,000) − 13,000."""
    most, longest = figures.tokens("most_output"), opened.resume.max_output
    reply = most if longest is None else min(most, longest.value)
    source = f"{reply:,} for the reply, {figures.tokens('margin'):,} beside it: {figures.source('margin')}"
    reserve = Reserve("reserve", reply + figures.tokens("margin"), source)
    return budget_with(opened, used_by(opened, bytes_tokens), reserve)


def propose(opened: Opened, settings: Settings, figures: Figures) -> Proposal:
    """The last reply with its calls and results stays, and what the user said after it."""
    last = max((at for at, unit in enumerate(opened.units) if unit.kind in ("assistant", "exchange")), default=None)
    if last is None:
        return Proposal("claude-code")
    kept = range(last, len(opened.units))
    return keep_only(opened, kept, REASON)
