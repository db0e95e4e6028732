"""What a person may ask of a policy; the defaults are Seamline's own."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Settings:
    """Figures in tokens unless said otherwise."""

    target: int | None = None
    """The view shall be at most this large; None: the policy's own aim."""
    keep_recent: int | None = None
    """The newest content that stays verbatim, about; None: the policy's own figure."""
    focus: str = ""
    """What the summary should pay attention to."""
    enough_share: float = 0.5
    """Without a summary, the view is small enough at this share of the window."""
    aim_share: float = 0.4
    """With a summary, the view shall be at most this share of the window."""
    tool_room: int = 10_000
    """Room kept for tool results."""
    recovery_share: float = 0.04
    """Share of the window kept for recovery from an error."""
