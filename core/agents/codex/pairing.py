"""What Codex puts right in a history before each request: every call gets an output, no output is without its call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from core.agents.codex.rebuilding import Stored
from core.view import Origin

ABORTED = "aborted"
"""The output that Codex makes up for a call that has none."""

ANSWERS = {
    "function_call": "function_call_output",
    "local_shell_call": "function_call_output",
    "custom_tool_call": "custom_tool_call_output",
    "tool_search_call": "tool_search_output",
}
"""Type of a call → type of its output."""


@dataclass(frozen=True, slots=True)
class Sent:
    """An item as it goes out."""

    stored: Stored
    origin: Origin = "stored"


def paired(history: Sequence[Stored]) -> list[Sent]:
    """The history with an output for every call, and without outputs that answer none."""
    answered = {(item.type, call_id_of(item)) for item in history if item.type in ANSWERS.values()}
    asked = {(ANSWERS[item.type], call_id_of(item)) for item in history if item.type in ANSWERS}
    out: list[Sent] = []
    for item in history:
        if item.type in ANSWERS.values() and not _stands(item, asked):
            continue
        out.append(Sent(item))
        call_id = call_id_of(item)
        if item.type in ANSWERS and call_id is not None and (ANSWERS[item.type], call_id) not in answered:
            out.append(Sent(_made_up(item, call_id), "repair"))
    return out


def dropped(history: Sequence[Stored]) -> list[Stored]:
    """The outputs that Codex leaves out, as no call asks for them."""
    kept = {id(sent.stored) for sent in paired(history)}
    return [item for item in history if id(item) not in kept]


def call_id_of(item: Stored) -> str | None:
    """The id that joins a call and its output; None where the item has none."""
    call_id = item.payload.get("call_id")
    return call_id if isinstance(call_id, str) else None


def _stands(output: Stored, asked: set[tuple[str, str | None]]) -> bool:
    """Whether an output may stand: it answers a call, or names none as it comes from outside."""
    call_id = call_id_of(output)
    if output.type == "tool_search_output":
        return output.payload.get("execution") == "server" or call_id is None or (output.type, call_id) in asked
    return call_id is None or (output.type, call_id) in asked


def _made_up(call: Stored, call_id: str) -> Stored:
    answer: dict[str, Any] = {"type": ANSWERS[call.type], "call_id": call_id}
    if call.type == "tool_search_call":
        answer |= {"status": "completed", "execution": "client", "tools": []}
    else:
        answer["output"] = ABORTED
    return Stored(answer, call.entry, call.first_part, call.checkpoint)
