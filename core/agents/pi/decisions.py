"""A proposal, checked against a view and told entry by entry: what pi's writer has to carry out."""

from __future__ import annotations

from core.agents.deciding import Deciding, Decisions
from core.agents.pi.units import options, units
from core.proposal import Proposal
from core.view import View


def decide(view: View, proposal: Proposal) -> Decisions:
    """Raises CommitRefused where the proposal does not fit the view, or says what this format can't carry."""
    return Deciding(view, units(view), options).decide(proposal)
