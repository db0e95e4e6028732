"""What dispositions cost and free, in counted tokens of the view."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import takewhile

from core.opening import Opened
from core.proposal import Disposition
from core.view import Unit


def tokens_before(opened: Opened, disposition: Disposition, among: Sequence[Disposition] = ()) -> int:
    """Tokens in the view of what a disposition applies to: the whole unit, or the named results with their images.

    `among` are all dispositions of the proposal: what a client writes above a run of images goes with the last of
    them that is pointed at.
    """
    unit = opened.unit_by_id[disposition.unit]
    if not disposition.source:
        return opened.unit_tokens(unit)
    entries = {source.entry for source in disposition.source}
    own = sum(opened.item_tokens[at] for at in unit.items if _belongs(opened, at, entries, disposition))
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


def _belongs(opened: Opened, at: int, entries: set[str], disposition: Disposition) -> bool:
    item = opened.view.items[at]
    kinds = ("tool_result", "image") if disposition.what == "point" else ("tool_result",)
    return item.kind in kinds and bool(item.source) and item.source[0].entry in entries


def tokens_after(opened: Opened, disposition: Disposition) -> int:
    """Tokens of what stands there instead; a summary is counted once, elsewhere."""
    return opened.counter.text(disposition.text) if disposition.text is not None else 0


def gain(opened: Opened, dispositions: Iterable[Disposition]) -> int:
    """Tokens that dispositions free, a summary not counted."""
    listed = tuple(dispositions)
    return sum(tokens_before(opened, d, listed) - tokens_after(opened, d) for d in listed)
