"""Which messages are the user's own: Codex judges by their texts, not by their labels (0.171.0)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from core.agents.codex.records import SUMMARY_PREFIX
from core.agents.codex.shapes import InputText

_WRAPPED = (
    ("<environment_context>", "</environment_context>"),
    ("# agents.md instructions", "</instructions>"),
    ("<turn_aborted>", "</turn_aborted>"),
    ("<user_shell_command>", "</user_shell_command>"),
    ("<skill>", "</skill>"),
    ("<subagent_notification>", "</subagent_notification>"),
    ("<goal_context>", "</goal_context>"),
    ("<recommended_plugins>", "</recommended_plugins>"),
    ("<agent_message_board_notification>", "</agent_message_board_notification>"),
)
"""Beginnings and ends of texts that Codex puts into the user's mouth, in small letters."""

_EXACT = (
    re.compile(r"<external_event>.*</external_event>", re.DOTALL),
    re.compile(r'<codex_internal_context source="[a-z][a-z0-9_]*">.*</codex_internal_context>', re.DOTALL),
)
"""The same for texts whose marks count in small letters only."""

_ATTRIBUTE = r"""\s+[\w:.-]+\s*=\s*(?:"[^"<&]*"|'[^'<&]*')"""
_HOOK = re.compile(rf"<hook_prompt((?:{_ATTRIBUTE})+)\s*>(.*)</hook_prompt\s*>", re.DOTALL)
_HOOK_RUN = re.compile(r"""\shook_run_id\s*=\s*(?:"\s*[^"\s]|'\s*[^'\s])""")
_NO_ENTITY = re.compile(r"&(?!(?:amp|lt|gt|quot|apos|#\d+|#x[0-9a-fA-F]+);)")
"""A hook's words are read as XML: with an ampersand that is none, they count as the user's."""

_DEVELOPER = (
    "<permissions instructions>", "<skills_instructions>", "<tools>", "<collaboration_mode>", "<model_switch>",
    "<personality_spec>", "<apps_instructions>", "<plugins_instructions>", "<multi_agent_mode>", "<token_budget>",
    "<realtime_conversation>", "<context_window>", "<persistent_mode>", "<git_attribution>",
    "<environments_instructions>", "<context_window_guidance>", "<rollout_budget>",
    "<multi_agent_role>", "<managed_developer_instructions>", "<catalog_apps_instructions>",
)  # fmt: skip
"""Beginnings of developer messages that a rollback takes along with the turn behind them, in small letters."""

SPACE = " \t\n\r\x0b\x0c\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
"""What Rust's `trim` takes away."""


def texts(content: Iterable[Any]) -> Iterable[str]:
    """The texts of a message's parts, but for those of a model."""
    for part in content:
        if isinstance(part, InputText):
            yield part.text
        elif isinstance(part, Mapping) and part.get("type") == "input_text" and isinstance(part.get("text"), str):
            yield part["text"]


def is_context(text: str) -> bool:
    """Whether a text of role user is one that Codex itself put there: marked at both ends, in any case."""
    text = text.strip(SPACE)
    head, tail = text[:64].lower(), text[-64:].lower()
    if any(head.startswith(start) and tail.endswith(end) for start, end in _WRAPPED):
        return True
    if not text.startswith("<"):
        return False
    hook = _HOOK.fullmatch(text)
    if hook is not None:
        return _HOOK_RUN.search(hook[1]) is not None and _NO_ENTITY.search(hook[2]) is None
    return any(pattern.fullmatch(text) for pattern in _EXACT)


def is_summary(text: str) -> bool:
    """Whether a text is the summary of a compaction, as Codex recognises it."""
    return text.startswith(SUMMARY_PREFIX + "\n")


def is_user_context(role: str, content: Iterable[Any]) -> bool:
    """Whether a message of role user has a part that Codex itself put there."""
    return role == "user" and any(is_context(text) for text in texts(content))


def is_real_user(role: str, content: Iterable[Any]) -> bool:
    """Whether a message is the user's own, and so begins a turn: no context, nor the summary of a compaction."""
    parts = list(texts(content))
    return role == "user" and not is_summary("".join(parts)) and not any(map(is_context, parts))


_OF_THE_MODEL = ("<model_switch>", "<persistent_mode>")
_KINDS_OF_THE_MODEL = ("model_switch.instructions", "persistent_mode.instructions")


def without_model_context(item: Mapping[str, Any]) -> dict[str, Any] | None:
    """A developer message without what belongs to the model of one turn; None where nothing is left of it."""
    content = item.get("content")
    passed = item.get("internal_chat_message_metadata_passthrough")
    kinds = passed.get("content_item_kinds") if isinstance(passed, Mapping) else None
    parts: list[Any] = content if isinstance(content, list) else []
    known: list[Any] = kinds if isinstance(kinds, list) and len(kinds) == len(parts) else ["unknown"] * len(parts)
    kept = [(part, kind) for part, kind in zip(parts, known, strict=True) if not _is_of_the_model(part, kind)]
    if not kept:
        return None
    return {**item, "content": [part for part, _ in kept]}


def _is_of_the_model(part: Any, kind: Any) -> bool:
    if kind in _KINDS_OF_THE_MODEL:
        return True
    text = part.get("text") if isinstance(part, Mapping) and part.get("type") == "input_text" else None
    if kind not in ("", "unknown") or not isinstance(text, str):
        return False
    return text.lstrip(SPACE)[:32].lower().startswith(_OF_THE_MODEL)


_INITIAL = ("<environment_context>", "# agents.md instructions", "<recommended_plugins>")


def is_initial(role: str, content: Iterable[Any]) -> bool:
    """Whether a message tells the model its circumstances: Codex gives all of them again where it finds none told."""
    if role == "developer":
        return True
    return role == "user" and any(
        is_context(text) and text.strip(SPACE).lower().startswith(_INITIAL) for text in texts(content)
    )


def is_developer_context(role: str, content: Iterable[Any]) -> bool:
    """Whether a developer message is context that Codex would give again."""
    return role == "developer" and any(
        text.lstrip(SPACE)[:64].lower().startswith(_DEVELOPER) for text in texts(content)
    )
