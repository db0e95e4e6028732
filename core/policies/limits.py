"""How each agent shortens one oversized result: the exact texts. Our own way stands in `core.limiting`."""

from __future__ import annotations

DSH_MARK = "\n\n[... tool result middle pruned ...]\n\n"
"""dsh 0.1.0-rc.8."""


def limit_points(text: str, above: int, head: int, tail: int, mark: str = DSH_MARK) -> str:
    """dsh: a text of more than `above` code points is its first `head` and last `tail` ones around the mark."""
    if len(text) <= above:
        return text
    return text[:head] + mark + (text[-tail:] if tail else "")
