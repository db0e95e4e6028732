"""What a policy is: a way to make a proposal, a budget that says when it would act, and figures that are data."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal

from core.errors import SeamlineError

Way = Literal["ladder", "drop"]
"""`ladder`: whole, then fitted, then condensed (grok-build); `drop`: the oldest turn goes until it fits (codex)."""

if TYPE_CHECKING:
    from core.budget import Budget
    from core.opening import Opened
    from core.policies.settings import Settings
    from core.proposal import Proposal


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures of one policy: a value with its source, by name."""

    values: Mapping[str, float]
    sources: Mapping[str, str]

    def tokens(self, name: str) -> int:
        """The figure as a whole number of tokens (or characters, where its source says so)."""
        return int(self.values[name])

    def share(self, name: str) -> float:
        """The figure as a share of the window."""
        return float(self.values[name])

    def source(self, name: str) -> str:
        return self.sources[name]


@dataclass(frozen=True)
class Policy:
    """A named way to make a proposal. Pure: the same session and settings give the same proposal."""

    name: str
    like: str
    """The policy that it works like; its own name where it is one of ours."""
    title: str
    figures: Figures
    input: Way
    """How a summary's request is brought into the window of the model that writes."""
    proposes: Callable[[Opened, Settings, Figures], Proposal]
    budgets: Callable[[Opened, Settings, Figures], Budget]

    @property
    def result_characters(self) -> int | None:
        """Characters of each tool result that a model reads for a summary; None: all."""
        return self.figures.tokens("result_characters") if "result_characters" in self.figures.values else None

    def propose(self, opened: Opened, settings: Settings) -> Proposal:
        """What the policy would do with the session now, whether or not it would act by itself."""
        return replace(self.proposes(opened, settings, self.figures), policy=self.name)

    def summary_room(self, opened: Opened, settings: Settings) -> int:
        """Tokens that the summary may take."""
        return summary_room(opened, settings, self.figures)

    def budget(self, opened: Opened, settings: Settings) -> Budget:
        """What is used, what is held back, and whether the policy would act by itself."""
        return replace(self.budgets(opened, settings, self.figures), policy=self.name)


def summary_room(opened: Opened, settings: Settings, figures: Figures) -> int:
    """Tokens that a policy's summary may take: a share of what it aims at, or simply the most."""
    most = figures.tokens("summary_tokens")
    if "summary_share" not in figures.values:
        return most
    window = opened.resume.window
    aim = settings.target or (int(window.value * figures.share("aim_share")) if window else opened.view_tokens)
    return max(figures.tokens("summary_least"), min(most, int(aim * figures.share("summary_share"))))


@cache
def shipped() -> Mapping[str, Any]:
    """The figures of our own policies, as `policies.toml` has them."""
    return tomllib.loads(files("core.policies").joinpath("policies.toml").read_text("utf-8"))


def figures_of(table: Mapping[str, Any]) -> Figures:
    """The figures of one table of `policies.toml`."""
    entries = {name: entry for name, entry in table.items() if isinstance(entry, dict)}
    return Figures(
        {name: float(entry["value"]) for name, entry in entries.items()},
        {name: str(entry["source"]) for name, entry in entries.items()},
    )


def overridden(figures: Figures, given: Mapping[str, Any], where: str) -> Figures:
    """The figures with a person's own in their place. Raises SeamlineError, naming `where`, for one that is none."""
    values, sources = dict(figures.values), dict(figures.sources)
    for name, value in given.items():
        if name not in values:
            raise SeamlineError(f"{where}: no figure named {name!r}: there are {', '.join(sorted(values))}")
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e9:
            raise SeamlineError(f"{where}: {name} must be a number from 0 up, not {value!r}")
        if name.endswith("_share") and value > 1:
            raise SeamlineError(f"{where}: {name} is a share of the window, from 0 to 1, not {value!r}")
        values[name], sources[name] = float(value), f"set in {where}"
    return Figures(values, sources)
