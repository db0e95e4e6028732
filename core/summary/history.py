"""A session's past as the summary reads it: the items that may be used, in order, and what the user really said."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from core.summary.template import is_request
from core.view import Item, Seen, Sight

USED: frozenset[Sight] = frozenset({"visible", "summarized", "pruned"})
"""What was dropped stays dropped, but for the paths of the files that it changed; other branches and records that
never were in the view say nothing."""

_TRIVIAL_WORDS = (
    "ok okay yes yep yeah sure please thanks thank great good nice perfect continue proceed hi hello hey fine right"
    " cool lgtm next 好 好的 嗯 行 可以 继续 继续吧 谢谢 收到 对 对的 是的 没问题 你好 您好 在吗 辛苦了 明白"
)
_TRIVIAL_WORD = "|".join(_TRIVIAL_WORDS.split())
_TRIVIAL = re.compile(
    rf"\W*(?:(?:{_TRIVIAL_WORD}|go (?:on|ahead)|carry on|got it|you|there|it|now|on|了|吧)(?:\W+|$))+", re.IGNORECASE
)


ALSO_DROPPED: frozenset[Sight] = frozenset({*USED, "dropped"})


@dataclass(frozen=True, slots=True)
class Part:
    """One item with its place in the order, the id of its entry, and whether it stays in the view as it is."""

    position: int
    item: Item
    entry: str
    kept: bool

    @property
    def said_by_user(self) -> bool:
        return is_request(self.item)

    @property
    def said_by_agent(self) -> bool:
        return self.item.role == "assistant" and self.item.kind == "text" and not self.item.mark


def parts_of(
    seen: Iterable[Seen], kept: Sequence[Item], order: Sequence[str] = (), used: frozenset[Sight] = USED
) -> list[Part]:
    """The usable items, oldest first; each stored part once, its original before what was put in its place.

    `order` names the session's entries, oldest first, and puts kept items in their place among the seen ones;
    without it they all come last.
    """
    chosen: list[Seen] = []
    place: dict[tuple[object, ...], int] = {}
    for one in seen:
        if one.sight not in used:
            continue
        key = (one.item.kind, one.item.call_id, one.item.source)
        before = place.get(key) if one.item.source else None
        if before is None:
            place[key] = len(chosen)
            chosen.append(one)
        elif one.sight == "pruned" and chosen[before].sight != "pruned":
            chosen[before] = one
    items = [(one.item, False) for one in chosen] + [(item, True) for item in kept]
    if order:
        rank = {entry: number for number, entry in enumerate(order)}
        items.sort(key=lambda one: rank.get(entry_of(one[0]), len(rank)))
    return [Part(number, item, entry_of(item), later) for number, (item, later) in enumerate(items)]


def entry_of(item: Item) -> str:
    """The id of the entry that the item comes from; empty for what was made up."""
    return item.source[0].entry if item.source else ""


def clean(text: str) -> str:
    """The text without white space around it; of half surrogates, `?`, so that it can be written."""
    return text.strip().encode("utf-8", "replace").decode("utf-8")


def trivial(text: str) -> bool:
    """A greeting, a thank-you, a mere go-ahead or a picture sign: nothing to carry on."""
    return len(text) < 60 and (_TRIVIAL.fullmatch(text.strip()) is not None or not any(map(str.isalnum, text)))
