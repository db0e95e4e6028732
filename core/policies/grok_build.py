"""grok-build's own policy: system prompt, user info, project rules and the last real request; all else is summarised.

Source: grok-build 1.0.41. What the client writes anew (user info, reminders) it adds itself at the next start.
"""

from __future__ import annotations

from core.budget import Budget
from core.opening import Opened
from core.policies.composing import budget_with, keep_only, share_reserve
from core.policies.estimating import grok_tokens, used_by
from core.policies.policy import Figures
from core.policies.settings import Settings
from core.proposal import Proposal

REASON = "grok-build keeps system prompt, rules and the last request only"


def budget(opened: Opened, settings: Settings, figures: Figures) -> Budget:
    """Acts at 85 % of the window; a resumed session is measured by the client's own estimate alone."""
    reserve = share_reserve(opened, figures.share("threshold_share"), figures.source("threshold_share"))
    return budget_with(opened, used_by(opened, grok_tokens, trusts_report=False), reserve)


def propose(opened: Opened, settings: Settings, figures: Figures) -> Proposal:
    """Everything but what stands before the first request, and the last request, goes into the summary."""
    first = next((at for at, unit in enumerate(opened.units) if unit.starts_turn), len(opened.units))
    kept = {at for at in range(first) if opened.units[at].kind in ("system", "custom")}
    requests = [at for at, unit in enumerate(opened.units) if unit.starts_turn]
    return keep_only(opened, kept | set(requests[-1:]), REASON)
