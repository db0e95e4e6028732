"""What a compaction costs and what it saves: a changed history breaks the provider's prefix cache once.

Pure arithmetic over two views. Tokens are counted; money only where the model's prices are known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

from core.models import Prices
from core.view import Item, sent


@dataclass(frozen=True, slots=True)
class Economics:
    """The first request after a compaction, and those that follow, against going on without it."""

    prefix: int
    """Counted tokens at the head that stay as they are: the provider has them in its cache."""
    rebilled: int
    """Counted tokens behind that, sent and charged anew once."""
    saved: int
    """Counted tokens that each later request no longer carries."""
    summary_input: int = 0
    """Tokens that the call for a summary reads; 0 where no model writes it."""
    summary_output: int = 0
    prices: Prices | None = None

    @property
    def once(self) -> float | None:
        """US dollars that the compaction costs, once: what is re-billed beyond the cached price, and the summary."""
        if self.prices is None:
            return None
        again = self.rebilled * max(0.0, self.prices.cache_write - self.prices.cached)
        call = self.summary_input * self.prices.input + self.summary_output * self.prices.output
        return (again + call) / 1e6

    @property
    def each(self) -> float | None:
        """US dollars that each later request saves, as what left would have been read from the cache."""
        return None if self.prices is None else self.saved * self.prices.cached / 1e6

    @property
    def pays_after(self) -> int | None:
        """Requests after which the compaction has paid for itself; None where prices are unknown or nothing is saved.

        The one request that it takes off the uncached price of what left is not counted: it may never have come.
        """
        once, each = self.once, self.each
        if once is None or not each:
            return None
        return ceil(once / each)

    def to_json(self) -> dict[str, Any]:
        return {
            "prefix_tokens": self.prefix,
            "rebilled_tokens": self.rebilled,
            "saved_tokens": self.saved,
            "summary_call": {"input_tokens": self.summary_input, "output_tokens": self.summary_output},
            "once_usd": self.once,
            "each_request_saves_usd": self.each,
            "pays_after_requests": self.pays_after,
            "prices": None if self.prices is None else self.prices.source,
        }


def economics(
    before: Sequence[Item],
    before_tokens: Sequence[int],
    after: Sequence[Item],
    after_tokens: Sequence[int],
    prices: Prices | None = None,
    summary_call: tuple[int, int] = (0, 0),
) -> Economics:
    """What changes between two views of one session; `*_tokens` are the counted tokens of each item."""
    same = common_prefix(before, after)
    prefix = sum(after_tokens[:same])
    total = sum(after_tokens)
    reads, writes = summary_call
    return Economics(prefix, total - prefix, sum(before_tokens) - total, reads, writes, prices)


def common_prefix(before: Sequence[Item], after: Sequence[Item]) -> int:
    """Items at the head of both views that the model is sent alike."""
    for number, (one, other) in enumerate(zip(before, after)):
        if sent(one) != sent(other):
            return number
    return min(len(before), len(after))
