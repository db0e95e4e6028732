"""The named ways to make a proposal. To add one: a file here, a table in `policies.toml`, one line in `POLICIES`."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from core.errors import SeamlineError
from core.policies.policy import Policy, figures_of, overridden, shipped

if TYPE_CHECKING:
    from core.budget import Budget
    from core.opening import Opened
    from core.policies.settings import Settings
    from core.proposal import Proposal

POLICIES = {
    "handoff": "core.policies.handoff",
    "codex": "core.policies.codex",
    "dsh": "core.policies.dsh",
    "grok-build": "core.policies.grok_build",
    "pi": "core.policies.pi",
    "claude-code": "core.policies.claude_code",
}
"""Name → the module that offers `propose` and `budget`."""

DEFAULT = "handoff"


def policy_named(name: str, own: Mapping[str, Any] | None = None, where: str = "the config file") -> Policy:
    """The policy with this name. `own`: the table `policies` of a config file, by policy name.

    A table named like one of ours overrides figures of it; any other is a policy of the person's own and says with
    `like` whose way it goes. Raises SeamlineError where there is no such policy, or where a table makes no sense.
    """
    table = (own or {}).get(name, {})
    if not isinstance(table, Mapping):
        raise SeamlineError(f"{where}: policies.{name} must be a table")
    given: dict[str, Any] = {str(key): value for key, value in table.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    like = given.pop("like", name)
    title = given.pop("title", "")
    if like not in POLICIES:
        told = f"works like {like!r}, which is none" if like != name else "says with `like` whose way it goes to none"
        known = ", ".join(POLICIES)
        raise SeamlineError(
            f"{where}: policies.{name} {told} of {known}" if table else f"no policy named {name!r}: there are {known}"
        )
    if name in POLICIES and like != name:
        raise SeamlineError(f"{where}: policies.{name} is one of ours and can't be `like` another: choose another name")
    base = shipped()[like]
    figures = overridden(figures_of(base), given, f"{where}, policies.{name}")
    module = import_module(POLICIES[like])
    return Policy(
        name, like, str(title or base["title"]), figures, base.get("input", "ladder"), module.propose, module.budget
    )


def propose(opened: Opened, settings: Settings, policy: str = DEFAULT) -> Proposal:
    """What a policy would do with the session now."""
    return policy_named(policy, settings.policies).propose(opened, settings)


def budget_of(opened: Opened, settings: Settings, policy: str = DEFAULT) -> Budget:
    """The window's budget for a policy: what is in it now, what must be held back, and whether to act."""
    return policy_named(policy, settings.policies).budget(opened, settings)


def names(own: Mapping[str, Any] | None = None) -> tuple[str, ...]:
    """All policies that can be asked for: ours, then the person's own."""
    return (*POLICIES, *(name for name in own or {} if name not in POLICIES))
