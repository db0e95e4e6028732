"""What dispositions cost and free, in counted tokens of the view."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile

from core.opening import Opened
from core.proposal import Disposition, Summary
from core.view import Source, Unit


def tokens_before(opened: Opened, disposition: Disposition, among: Sequence[Disposition] = ()) -> int:
    """Tokens in the view of what a disposition applies to: the whole unit, or the named results with their images.

    `among` are all dispositions of the proposal: what a client writes above a run of images goes with the last of
    them that is pointed at.
    """
    unit = opened.unit_by_id[disposition.unit]
    if not disposition.source:
        return opened.unit_tokens(unit)
    own = sum(opened.item_tokens[at] for at in _own_items(opened, unit, disposition))
    return own + _caption(opened, unit, disposition, among or (disposition,))


def _caption(opened: Opened, unit: Unit, disposition: Disposition, among: Sequence[Disposition]) -> int:
    """Tokens of the client's words above images that all leave for pointers, counted with the last of those."""
    if disposition.what != "point":
        return 0
    items = opened.view.items
    gone = {source.entry for other in among if other.what == "point" for source in other.source}
    own = {source.entry for source in disposition.source}
    total = 0
    for at in unit.items:
        if items[at].kind == "text" and items[at].mark == "bundled_image" and items[at].origin == "repair":
            below = takewhile(lambda item: item.kind == "image" and item.mark == "bundled_image", items[at + 1 :])
            entries = [item.source[0].entry for item in below]
            if entries and gone.issuperset(entries) and entries[-1] in own:
                total += opened.item_tokens[at]
    return total


def _own_items(opened: Opened, unit: Unit, disposition: Disposition) -> Iterator[int]:
    """Positions of the named results; of those that leave for a pointer, also of their images.

    One entry may hold several results, so an image belongs to the result of its entry that stands before it.
    """
    last: dict[str, Source] = {}
    for at in unit.items:
        item = opened.view.items[at]
        if not item.source:
            continue
        if item.kind == "tool_result":
            last[item.source[0].entry] = item.source[0]
        belongs = item.kind == "tool_result" or (item.kind == "image" and disposition.what == "point")
        if belongs and last.get(item.source[0].entry) in disposition.source:
            yield at


def tokens_after(opened: Opened, disposition: Disposition) -> int:
    """Tokens of what stands there instead; a summary is counted once, elsewhere."""
    return opened.counter.text(disposition.text) if disposition.text is not None else 0


def gain(opened: Opened, dispositions: Iterable[Disposition]) -> int:
    """Tokens that dispositions free, a summary not counted."""
    listed = tuple(dispositions)
    return sum(tokens_before(opened, d, listed) - tokens_after(opened, d) for d in listed)


def summary_tokens(after: Opened, summary: Summary | None) -> int:
    """Counted tokens of a summary as it stands in a view, wrapper included; an earlier one may stand beside it."""
    if summary is None:
        return 0
    pairs = zip(after.view.items, after.item_tokens)
    marked = [(item, count) for item, count in pairs if item.mark == "summary" and not item.opaque]
    own = [count for item, count in marked if summary.text in item.text]
    return next(iter(own or [count for _, count in marked]), 0)
