"""A person's settings: a TOML file of figures of policies and policies of their own. Read at the edge, checked here."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from core.errors import SeamlineError
from core.policies import names, policy_named


@dataclass(frozen=True, slots=True)
class Config:
    """What the file says; nothing where there is none."""

    path: Path | None = None
    policies: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """By policy name: figures of ours to override, or a policy of the person's own with `like`."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One figure, as it holds now."""

    name: str
    """Such as `policies.handoff.keep_recent`."""
    value: float
    source: str


TABLES = frozenset({"policies"})


def read_config(path: Path) -> Config:
    """The settings in a file; none where it does not exist. Raises SeamlineError where it can't be read or is wrong."""
    try:
        data = tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return Config()
    except (OSError, ValueError) as error:
        raise SeamlineError(f"{path}: can't be read as TOML ({error}): mend it, or move it away") from error
    unknown = sorted(data.keys() - TABLES)
    if unknown:
        raise SeamlineError(f"{path}: no table named {unknown[0]!r}: there are {', '.join(sorted(TABLES))}")
    policies = data.get("policies", {})
    if not isinstance(policies, Mapping):
        raise SeamlineError(f"{path}: policies must be tables, such as [policies.handoff]")
    config = Config(path, policies)
    for name in names(config.policies):
        policy_named(name, config.policies, str(path))
    return config


def settings_in_force(config: Config) -> Iterator[Setting]:
    """Every figure of every policy, with its value now and where that came from."""
    where = str(config.path) if config.path is not None else "the config file"
    for name in names(config.policies):
        figures = policy_named(name, config.policies, where).figures
        for figure, value in figures.values.items():
            yield Setting(f"policies.{name}.{figure}", value, figures.sources[figure])
