"""codex's own policy: the user's messages stay, newest first, up to about 20,000 tokens; all else goes.

Source: codex 0.171, local compaction. The initial context is put in anew by the client.
"""

from __future__ import annotations

from core.budget import Budget
from core.opening import Opened
from core.policies.composing import budget_with, keep_only, share_reserve
from core.policies.estimating import bytes_tokens, used_by
from core.policies.policy import Figures
from core.policies.settings import Settings
from core.proposal import Proposal

REASON = "codex keeps the user's own messages only"


def budget(opened: Opened, settings: Settings, figures: Figures) -> Budget:
    """Acts at the model's limit: 90 % of the window unless its list says otherwise."""
    reserve = share_reserve(opened, figures.share("limit_share"), figures.source("limit_share"))
    return budget_with(opened, used_by(opened, bytes_tokens), reserve)


def propose(opened: Opened, settings: Settings, figures: Figures) -> Proposal:
    """The newest user messages that fit into the budget; the first that does not fit ends the walk.

    codex keeps the two ends of that message; here it goes into the summary, where the user's words stand whole.
    """
    left = settings.keep_recent if settings.keep_recent is not None else figures.tokens("keep_user")
    kept = {at for at, unit in enumerate(opened.units) if unit.kind in ("system", "custom")}
    for at in range(len(opened.units) - 1, -1, -1):
        unit = opened.units[at]
        if not unit.starts_turn:
            continue
        left -= bytes_tokens([opened.view.items[position] for position in unit.items])
        if left < 0:
            break
        kept.add(at)
    return keep_only(opened, kept, REASON)
