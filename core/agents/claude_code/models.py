"""What depends on the model that goes on: whose thinking it gets, and in which role context lines reach it."""

from __future__ import annotations

from typing import Literal

from core.agents.claude_code.messages import Block

Standing = Literal["system", "tagged", "user"]
"""How a model gets context lines of the system's side: as messages of the role `system`, as such with their tags, or
as reminders in the user's messages."""

DEFAULT_MODEL = "claude-opus-5-5"
"""With which 2.1.332 goes on where it does not offer the session's model."""

OFFERED: dict[str, Standing] = {
    "claude-fable-5": "system",
    "claude-fable-5-1": "system",
    "claude-fable-5-2": "system",
    "claude-haiku-4-5": "user",
    "claude-haiku-5-5": "system",
    "claude-opus-4-5": "user",
    "claude-opus-4-6": "user",
    "claude-opus-4-7": "user",
    "claude-opus-4-8": "system",
    "claude-opus-5": "system",
    "claude-opus-5-5": "system",
    "claude-sonnet-4-6": "user",
    "claude-sonnet-5": "tagged",
    "claude-sonnet-5-5": "system",
}
"""The models that 2.1.332 (2026-11-30) goes on with where a session names them."""

LARGE_WINDOW = "[1m]"
"""How the name of a model ends that was chosen with the large window."""


def plain(model: str) -> str:
    """A model's name without the size of its window."""
    return model.removesuffix(LARGE_WINDOW)


def standing_role(model: str | None) -> Standing:
    """How the model gets standing context; as the newest ones do where it is not known."""
    return OFFERED.get(plain(model or ""), "system")


def is_foreign(block: Block, wrote: str, model: str | None) -> bool:
    """Whether a block is thinking of another model than the one that goes on, which would not take it."""
    return block.kind == "thinking" and model is not None and plain(wrote) != plain(model)
