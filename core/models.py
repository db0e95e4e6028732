"""What is known of models: window, longest reply and prices, from a dated table. Unknown stays unknown."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import orjson

from core.resume import Known

TABLE = Path(__file__).parent / "models.json"

# A model's name may end in its date, which changes nothing about its limits: `claude-sonnet-4-5-20250929`,
# `gpt-4o-2024-11-20`. Any other ending (`-mini`, `-preview`) names another model, and is not matched.
_DATE = re.compile(r"[-@](?:latest|\d{8}|\d{4}-\d{2}-\d{2}|\d{4})$")


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one model, in tokens, and where they come from."""

    window: int
    max_output: int
    source: str
    prices: Prices | None = None


@dataclass(frozen=True, slots=True)
class Prices:
    """What a model costs, in US dollars a million tokens, by a dated list."""

    input: float
    cached: float
    """Input that the provider has in its prefix cache."""
    cache_write: float
    """Input that is written to the cache; the plain input's price where the provider charges nothing of its own."""
    output: float
    source: str


@cache
def table() -> dict[tuple[str, str], Limits]:
    """Provider and model to limits; some milliseconds of CPU the first time."""
    limits: dict[tuple[str, str], Limits] = {}
    for part in orjson.loads(TABLE.read_bytes())["list"]:
        for provider, models in part["models"].items():
            for model, row in models.items():
                limits.setdefault((provider, model), _limits(row, part["source"]))
    return limits


def _limits(row: list[float], source: str) -> Limits:
    window, max_output, *prices = row
    if not prices:
        return Limits(int(window), int(max_output), source)
    plain, cached, write, output = prices
    return Limits(int(window), int(max_output), source, Prices(plain, cached, write or plain, output, source))


def limits_of(provider: str, model: str) -> Limits | None:
    """The limits of exactly this model at this provider, or else of its name without a date.

    None where the table has neither: a window that is not known is never guessed.
    """
    exact = table().get((provider, model))
    if exact is not None:
        return exact
    undated = _DATE.sub("", model)
    limits = table().get((provider, undated))
    return limits and replace(limits, source=f"{limits.source}, as {undated}")


def window_of(provider: str, model: str) -> Known[int] | None:
    """The model's context window in tokens, with its source; None where it is unknown."""
    limits = limits_of(provider, model)
    return None if limits is None else Known(limits.window, f"model table ({limits.source})")


def max_output_of(provider: str, model: str) -> Known[int] | None:
    """The model's longest reply in tokens, with its source; None where it is unknown."""
    limits = limits_of(provider, model)
    return None if limits is None else Known(limits.max_output, f"model table ({limits.source})")


def prices_of(provider: str, model: str) -> Prices | None:
    """What the model costs; None where it is unknown, or paid in another way than by the token."""
    limits = limits_of(provider, model)
    return None if limits is None else limits.prices
