"""The named ways to make a proposal. To add one: a file here, and one line in `POLICIES`."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from core.opening import Opened
from core.policies.settings import Settings
from core.proposal import Proposal

Policy = Callable[[Opened, Settings], Proposal]

POLICIES = {
    "handoff": "core.policies.handoff",
}
"""Name → the module that offers it as `propose`."""

DEFAULT = "handoff"


def policy_named(name: str) -> Policy:
    """The policy with this name; KeyError where there is none."""
    policy: Policy = import_module(POLICIES[name]).propose
    return policy
