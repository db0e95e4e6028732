"""Which messages are the user's own: Codex judges by their texts, not by their labels (0.171.0)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from core.agents.codex.records import SUMMARY_PREFIX

_WRAPPED = (
    ("<environment_context>", "</environment_context>"),
    ("# agents.md instructions", "</instructions>"),
    ("<turn_aborted>", "</turn_aborted>"),
    ("<user_shell_command>", "</user_shell_command>"),
    ("<skill>", "</skill>"),
    ("<subagent_notification>", "</subagent_notification>"),
    ("<goal_context>", "</goal_context>"),
    ("<recommended_plugins>", "</recommended_plugins>"),
)
"""Beginnings and ends of texts that Codex puts into the user's mouth, in small letters."""

_HOOK = re.compile(r"<hook_prompt\s+hook_run_id=", re.IGNORECASE)
_INTERNAL = re.compile(r'<codex_internal_context\s+source="', re.IGNORECASE)

_DEVELOPER = (
    "<permissions instructions>", "<skills_instructions>", "<tools>", "<collaboration_mode>", "<model_switch>",
    "<personality_spec>", "<apps_instructions>", "<plugins_instructions>", "<multi_agent_mode>", "<token_budget>",
    "<realtime_conversation>", "<context_window>",
)  # fmt: skip
"""Beginnings of developer messages that a rollback takes along with the turn behind them, in small letters."""

SPACE = " \t\n\r\x0b\x0c\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
"""What Rust's `trim` takes away."""


def texts(content: Iterable[Any]) -> Iterable[str]:
    """The texts of a message's parts."""
    for part in content:
        text = part.get("text") if isinstance(part, Mapping) else getattr(part, "text", None)
        if isinstance(text, str):
            yield text


def is_context(text: str) -> bool:
    """Whether a text of role user is one that Codex itself put there: marked at both ends, in any case."""
    text = text.strip(SPACE)
    head, tail = text[:64].lower(), text[-64:].lower()
    if any(head.startswith(start) and tail.endswith(end) for start, end in _WRAPPED):
        return True
    if _HOOK.match(text):
        return tail.endswith("</hook_prompt>")
    return _INTERNAL.match(text) is not None and tail.endswith("</codex_internal_context>")


def is_summary(text: str) -> bool:
    """Whether a text is the summary of a compaction, as Codex recognises it."""
    return text.startswith(SUMMARY_PREFIX + "\n")


def is_user_context(role: str, content: Iterable[Any]) -> bool:
    """Whether a message of role user has a part that Codex itself put there."""
    return role == "user" and any(is_context(text) for text in texts(content))


def is_real_user(role: str, content: Iterable[Any]) -> bool:
    """Whether a message is the user's own, and so begins a turn: no context, nor the summary of a compaction."""
    return role == "user" and not any(is_context(text) or is_summary(text) for text in texts(content))


def is_developer_context(role: str, content: Iterable[Any]) -> bool:
    """Whether a developer message is context that Codex would give again."""
    return role == "developer" and any(
        text.lstrip(SPACE)[:64].lower().startswith(_DEVELOPER) for text in texts(content)
    )
