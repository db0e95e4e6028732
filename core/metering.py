"""What dispositions cost and free, in counted tokens of the view."""

from __future__ import annotations

from collections.abc import Iterable

from core.opening import Opened
from core.proposal import Disposition


def tokens_before(opened: Opened, disposition: Disposition) -> int:
    """Tokens in the view of what a disposition applies to: the whole unit, or the named results with their images."""
    unit = opened.unit_by_id[disposition.unit]
    if not disposition.source:
        return opened.unit_tokens(unit)
    entries = {source.entry for source in disposition.source}
    return sum(opened.item_tokens[at] for at in unit.items if _belongs(opened, at, entries, disposition))


def _belongs(opened: Opened, at: int, entries: set[str], disposition: Disposition) -> bool:
    item = opened.view.items[at]
    kinds = ("tool_result", "image") if disposition.what == "point" else ("tool_result",)
    return item.kind in kinds and bool(item.source) and item.source[0].entry in entries


def tokens_after(opened: Opened, disposition: Disposition) -> int:
    """Tokens of what stands there instead; a summary is counted once, elsewhere."""
    return opened.counter.text(disposition.text) if disposition.text is not None else 0


def gain(opened: Opened, dispositions: Iterable[Disposition]) -> int:
    """Tokens that dispositions free, a summary not counted."""
    return sum(tokens_before(opened, d) - tokens_after(opened, d) for d in dispositions)
