"""grok's own estimate of a history's size, and what follows from it: trimmed results, a compaction on resume.

Sizes are tokens by grok's rule: four bytes of UTF-8 a token, 765 an image (1.0.41).
"""

from __future__ import annotations

from core.agents.grok_build.messages import Message

BYTES_PER_TOKEN = 4
IMAGE_TOKENS = 765

COMPACTS_AT, SPECULATES_AT = 85, 75
"""Percent of the window: where grok compacts, and where it begins to write a summary in the background."""

UNTOUCHED_TURNS, OMITTED_TURNS = 3, 10
"""Ages in user messages: younger results are never trimmed; from the second on nothing is left of them."""

LONGEST_WHOLE, HEAD, TAIL = 4000, 1500, 1500
"""Characters (code points)."""

TRIMMED = "\n\n[…trimmed…]\n\n"
OMITTED = "[Tool result omitted — too old]"


def estimate(message: Message) -> int:
    """Tokens of one item of the history."""
    if message.kind == "user":
        images = sum(part.picture is not None for part in message.parts)
        return sum(_bytes(part.text) for part in message.parts) // BYTES_PER_TOKEN + IMAGE_TOKENS * images
    if message.kind == "assistant":
        whole = _bytes(message.text) + sum(_bytes(call.arguments) for call in message.calls)
        return whole // BYTES_PER_TOKEN
    if message.run is not None:
        return _bytes(message.run.told) // BYTES_PER_TOKEN
    return (_bytes(message.text) + _bytes(message.encrypted)) // BYTES_PER_TOKEN


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def is_trimming(tokens: int, window: int) -> bool:
    """Whether old tool results are trimmed in the request."""
    return tokens > window // 2


def reaches(tokens: int, window: int, percent: int) -> bool:
    """Whether so much of the window is used."""
    return tokens * 100 >= window * percent


def trim(messages: list[Message], age: int) -> int:
    """Shorten old tool results in place; how many were. `age` is that of what follows the last user message."""
    changed = 0
    for message in reversed(messages):
        if message.kind == "user":
            age += 1
        if message.kind != "tool_result" or age < UNTOUCHED_TURNS:
            continue
        text = message.text
        if age >= OMITTED_TURNS:
            text = OMITTED
        elif len(text) > LONGEST_WHOLE:
            text = text[:HEAD] + TRIMMED + text[-TAIL:]
        if text != message.text:
            message.text, message.trimmed = text, True
            changed += 1
    return changed
