"""What a person may ask of a policy; what is not asked for is the policy's own figure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Settings:
    """Figures in tokens unless said otherwise."""

    target: int | None = None
    """The view shall be at most this large; None: the policy's own aim."""
    keep_recent: int | None = None
    """The newest content that stays verbatim, about; None: the policy's own figure."""
    focus: str = ""
    """What the summary should pay attention to."""
    policies: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The table `policies` of a config file: figures that override ours, and the person's own policies."""
