"""Counted tokens: o200k_base over each item's text, the same on every machine and for every agent.

Models of other families split text differently; the count is a common measure and says so (`counted`), and the
provider's own figures stand apart from it (`reported`).
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from core.tokens.images import DEFAULT_IMAGE_TOKENS, OPAQUE_TOKENS
from core.view import Item

if TYPE_CHECKING:
    from collections.abc import Iterator

    import tiktoken

PIECE = 16_384
"""Characters. Longer texts are counted in pieces of at most this size: tiktoken 0.14.0 crashes on a million spaces,
and its merging slows down on long runs without a boundary."""

# A letter or digit before white space or punctuation always ends a token of o200k_base, so that a cut after it leaves
# the count as it is. An apostrophe may belong to the letter (`don't`), and a combining mark does.
_TOKEN_END = re.compile(r"""[^\W_](?=[\s!"#$%&()*+,\-./:;<=>?@\[\]^`{|}~、。！，：；？（）「」『』《》【】…—])""")
_LOOK_BACK = 256
"""Characters before the end of a piece in which such a place is looked for; else the piece ends at its full size."""

_CACHE_ENTRIES = 200_000


class Counter:
    """Counts tokens and remembers each text's count by its hash. The vocabulary is loaded at the first count."""

    def __init__(self, image_tokens: int = DEFAULT_IMAGE_TOKENS) -> None:
        """`image_tokens`: what one image is charged, as the agent's profile states."""
        self.image_tokens = image_tokens
        self._encoding: tiktoken.Encoding | None = None
        self._counts: dict[tuple[int, int], int] = {}

    def text(self, text: str) -> int:
        """Tokens of a text of any length and content; never raises. Special tokens count as the text they are."""
        if not text:
            return 0
        key = (hash(text), len(text))
        known = self._counts.get(key)
        if known is not None:
            return known
        count = self._count(text)
        if len(self._counts) >= _CACHE_ENTRIES:
            self._counts.clear()
        self._counts[key] = count
        return count

    def count(self, item: Item) -> int:
        """Tokens of one item of the view: its text; a call's name and arguments; an image at the stated rate."""
        if item.kind == "image":
            return self.image_tokens
        if item.opaque:
            return OPAQUE_TOKENS
        if item.kind == "tool_call":
            return self.text(item.name) + self.text(compact_json(item.arguments))
        return self.text(item.text)

    def _count(self, text: str) -> int:
        if self._encoding is None:
            from core.tokens.vocabulary import encoding

            self._encoding = encoding()
        return sum(len(self._encoding.encode_ordinary(piece)) for piece in pieces(well_formed(text)))


def well_formed(text: str) -> str:
    """The text with surrogate pairs joined and each lone surrogate replaced by U+FFFD, as tiktoken would."""
    if text.isascii():
        return text
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def pieces(text: str) -> Iterator[str]:
    """The text cut into pieces of at most PIECE characters, where possible at a place that no token spans."""
    start = 0
    while len(text) - start > PIECE:
        limit = start + PIECE
        ends = [match.end() for match in _TOKEN_END.finditer(text, limit - _LOOK_BACK, limit)]
        end = ends[-1] if ends else limit
        yield text[start:end]
        start = end
    yield text[start:] if start else text


def compact_json(arguments: Any) -> str:
    """A call's arguments as they are counted: compact JSON; a string that is no valid JSON as it stands."""
    if isinstance(arguments, str):
        return arguments
    try:
        return json.dumps(arguments, ensure_ascii=False, separators=(",", ":"), default=str)
    except RecursionError:
        return "".join(_spelled(arguments))


def _spelled(arguments: Any) -> Iterator[str]:
    """The same JSON for arguments that are nested too deeply for the encoder."""
    stack: list[tuple[bool, Any]] = [(False, arguments)]
    while stack:
        is_json, value = stack.pop()
        if is_json:
            yield str(value)
            continue
        if not isinstance(value, (dict, list)) or not value:
            yield compact_json([value])[1:-1]
            continue
        if isinstance(value, dict):
            pairs = [((True, compact_json([name])[1:-1] + ":"), (False, inner)) for name, inner in value.items()]
            opening, closing = "{", "}"
        else:
            pairs = [((True, ""), (False, inner)) for inner in value]
            opening, closing = "[", "]"
        stack.append((True, closing))
        for number, (name, inner) in reversed(list(enumerate(pairs))):
            stack += [inner, name, (True, "," if number else opening)]
