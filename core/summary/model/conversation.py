"""What a model reads of the session: the span in plain text, turn by turn, so that no call lacks its result."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from core.limiting import limit_log
from core.summary.history import USED
from core.tokens.counting import compact_json
from core.view import Item, Seen

ARGUMENTS = 2_000
"""Characters of a call's arguments that are shown."""


@dataclass(frozen=True, slots=True)
class Spoken:
    """One turn in words: the user's message and all that followed."""

    blocks: tuple[str, ...]

    @property
    def text(self) -> str:
        return "\n\n".join(self.blocks)


def spoken(seen: Iterable[Seen], result_characters: int | None) -> tuple[Spoken, ...]:
    """The visible span, turn by turn. Earlier summaries and dropped text are left out: the known facts hold them.

    `result_characters`: how much of each tool result is shown; None: all; 0: none, and calls by name only.
    """
    turns: list[list[str]] = []
    for one in seen:
        if one.sight not in USED or one.item.mark in ("summary", "branch_summary"):
            continue
        block = _block(one.item, result_characters)
        if not block:
            continue
        starts = one.item.role == "user" and one.item.kind == "text" and not one.item.mark
        if starts or not turns:
            turns.append([])
        turns[-1].append(block)
    return tuple(Spoken(tuple(blocks)) for blocks in turns)


def _block(item: Item, result_characters: int | None) -> str:
    entry = f" {item.source[0].entry}" if item.source else ""
    if item.kind == "text":
        who = {"user": "User", "assistant": "Agent"}.get(item.role, item.role.capitalize())
        return f"[{who}{entry}]\n{item.text}" if item.text.strip() else ""
    if item.kind == "tool_call":
        arguments = "" if result_characters == 0 else f" {limit_log(compact_json(item.arguments), ARGUMENTS)}"
        return f"[Call{entry}] {item.name}{arguments}"
    if item.kind == "tool_result":
        if result_characters == 0:
            return ""
        text = item.text if result_characters is None else limit_log(item.text, result_characters)
        return f"[{'Failed result' if item.is_error else 'Result'}{entry}]\n{text}"
    if item.kind == "image":
        return f"[Image{entry}]"
    return ""


def newest(turns: Sequence[Spoken], sizes: Sequence[int], room: int) -> tuple[Spoken, ...]:
    """The newest whole turns that fit into `room` tokens by their `sizes`; the first turn stays where it fits too."""
    chosen = len(turns)
    while chosen > 0 and sum(sizes[chosen - 1 :]) <= room:
        chosen -= 1
    return tuple(turns[chosen:])
