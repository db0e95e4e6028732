"""How the agents estimate tokens where they count none: each by its own rule, on the items of a view.

Needed to predict what an agent would do; our own figures are counted with a tokenizer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby

from core.agents.grok_build.sizing import IMAGE_TOKENS
from core.budget import Figure, Sum
from core.opening import Opened
from core.tokens.counting import compact_json
from core.view import Item

Estimate = Callable[[Sequence[Item]], int]
"""Tokens of one message: the items that one stored entry gave, in order."""

PI_IMAGE = 4_800
"""Characters that pi 1.6.0 charges for an image."""


def messages(items: Iterable[Item]) -> list[tuple[Item, ...]]:
    """The items grouped as their messages: neighbours that come from one entry."""
    return [tuple(group) for _, group in groupby(items, key=_entry)]


def _entry(item: Item) -> tuple[str, str]:
    return item.role, item.source[0].entry if item.source else ""


def utf16_length(text: str) -> int:
    """The length as JavaScript counts it: UTF-16 code units."""
    return len(text) if text.isascii() else len(text) + sum(character > "\uffff" for character in text)


def utf8_length(text: str) -> int:
    """Bytes of the text as UTF-8."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def pi_tokens(message: Sequence[Item]) -> int:
    """By pi 1.6.0: ⌈characters / 4⌉ of a message; a call is its name and arguments, an image 4,800 characters."""
    characters = 0
    for item in message:
        if item.kind == "image":
            characters += PI_IMAGE
        elif item.kind == "tool_call":
            characters += utf16_length(item.name) + utf16_length(compact_json(item.arguments))
        else:
            characters += utf16_length(item.text)
    return _quarter(characters)


def dsh_tokens(message: Sequence[Item]) -> int:
    """By dsh 0.1.0-rc.8: ⌈characters / 4⌉ + 4 a block, + 4 for a result around its content, + 4 a message."""
    total = 4
    for item in message:
        if item.kind == "tool_call":
            total += _quarter(utf16_length(item.name)) + _quarter(utf16_length(compact_json(item.arguments))) + 4
        elif item.kind == "tool_result":
            total += _quarter(utf16_length(item.text)) + 8
        else:
            total += _quarter(utf16_length(item.text)) + 4
    return total


def grok_tokens(message: Sequence[Item]) -> int:
    """By grok-build 1.0.41: bytes / 4 of each item, rounded down; names and ids are not counted; an image is 765."""
    total = size = 0
    for item in message:
        if item.kind == "image":
            total += IMAGE_TOKENS
        elif item.kind == "tool_call":
            size += utf8_length(compact_json(item.arguments))
        else:
            size += utf8_length(item.text)
    return total + size // 4


def bytes_tokens(message: Sequence[Item]) -> int:
    """By codex 0.171: ⌈bytes / 4⌉."""
    return _quarter(
        sum(utf8_length(item.text or compact_json(item.arguments)) for item in message if item.kind != "image")
    )


def used_by(opened: Opened, estimate: Estimate, trusts_report: bool = True) -> Figure | Sum:
    """What an agent takes to be in use: the provider's last figure and its own estimate of what came after it.

    `trusts_report`: False where the agent starts from its own estimate at each resume.
    """
    usage = opened.usage
    if trusts_report and usage.current:
        reported = Figure(usage.current, "reported", "view, system prompt and tools up to the last reply")
        later = {source.entry for source in usage.later}
        came = [item for item in opened.view.items if item.source and item.source[0].entry in later]
        if not came:
            return reported
        return Sum((reported, Figure(_sum(came, estimate), "estimated", "what came after the last reply")))
    system = opened.agent.system(opened.session, opened.resume)
    includes = "view, stored system prompt and tools" if system else "view"
    return Figure(_sum((*system, *opened.view.items), estimate), "estimated", includes)


def _sum(items: Iterable[Item], estimate: Estimate) -> int:
    return sum(estimate(message) for message in messages(items))


def _quarter(characters: int) -> int:
    return -(-characters // 4)
