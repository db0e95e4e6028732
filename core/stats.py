"""What fills the window: tokens by role, kind, tool and file, the biggest items, the compactions; bytes by record."""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from core.agents.protocol import Boundary, Leaf
from core.budget import Budget
from core.kin import NOTHING, Child, Reported, reported
from core.opening import Opened
from core.session import Entry
from core.view import Item, Source, pair_up

BIGGEST = 10
"""Items that `biggest` names."""

CHARACTERS_A_TOKEN = 4
"""The rule of thumb behind `estimated`."""

FIRST_LINE = 120
"""Characters of an item's text that are given with it."""


@dataclass(frozen=True, slots=True)
class Big:
    """One of the largest items of the view."""

    position: int
    """In the view, from 0."""
    item: Item
    tokens: int
    file: str
    """The path that its tool call names; empty where there is none."""


@dataclass(frozen=True, slots=True)
class Stats:
    """Figures in counted tokens of the view, each table largest first; `by_record_type` in bytes of the file."""

    agent: str
    counted: int
    reported: int | None
    """What the provider said of the last reply, system prompt and tools included; None where it no longer holds."""
    estimated: int
    budget: Budget
    items: int
    by_role: dict[str, int]
    by_kind: dict[str, int]
    by_tool: dict[str, int]
    """Calls and results together."""
    by_file: dict[str, int]
    """Calls and results of the tools that name a path."""
    by_record_type: dict[str, int]
    biggest: tuple[Big, ...]
    boundaries: tuple[Boundary, ...]
    own: Reported = NOTHING
    """What the provider reported for all replies of the session, each counted once."""
    inherited: Reported = NOTHING
    """The same for replies that a fork copied or inherited: its parent has paid for them."""
    stale: str = ""
    """Why the last reported figure no longer tells the size of the view; empty where it does."""
    leaves: tuple[Leaf, ...] = ()
    children: tuple[Child, ...] = ()

    @property
    def combined(self) -> Reported:
        """The session's own replies and those of its children."""
        return sum((child.own for child in self.children), self.own)

    def to_json(self) -> dict[str, Any]:
        """The form `stats/1`."""
        window = self.budget.window
        return {
            "schema": "stats/1",
            "agent": self.agent,
            "tokens": {
                "counted": self.counted,
                "reported": self.reported,
                "estimated": self.estimated,
                "includes": {
                    "counted": "view",
                    "reported": "view, system prompt and tools up to the last reply",
                    "estimated": estimate_includes(self.reported),
                },
            },
            "stale": self.stale,
            "replies": {
                "own": self.own.to_json(),
                "inherited": self.inherited.to_json(),
                "combined": self.combined.to_json(),
            },
            "window": None if window is None else window.value,
            "budget": self.budget.to_json(),
            "items": self.items,
            "by_role": self.by_role,
            "by_kind": self.by_kind,
            "by_tool": self.by_tool,
            "by_file": self.by_file,
            "by_record_type": self.by_record_type,
            "biggest": [_big_json(big, self.counted) for big in self.biggest],
            "boundaries": [
                {"entry": b.entry, "by": b.by, "tokens_before": b.tokens_before, "time": b.time}
                for b in self.boundaries
            ],
            "leaves": [leaf.to_json() for leaf in self.leaves],
            "children": [child.to_json() for child in self.children],
        }


def estimate_includes(reported: int | None) -> str:
    """What the estimate is made of."""
    rule = f"a token for {CHARACTERS_A_TOKEN} characters"
    return f"view: {rule}" if reported is None else f"the last reported figure; {rule} of what came after it"


def stats(opened: Opened, budget: Budget, children: tuple[Child, ...] = ()) -> Stats:
    """Measure an opened session; counts every item of its view. `children`: those of `core.kin.children_of`."""
    items, tokens = opened.view.items, opened.item_tokens
    calls = _calls(items)
    files = [_file(opened, calls.get(at)) for at in range(len(items))]
    order = sorted(range(len(items)), key=lambda at: (-tokens[at], at))
    return Stats(
        agent=opened.agent.name,
        counted=opened.view_tokens,
        reported=opened.usage.current,
        estimated=_estimate(opened),
        budget=budget,
        items=len(items),
        by_role=_tally((item.role, count) for item, count in zip(items, tokens, strict=True)),
        by_kind=_tally((item.mark or item.kind, count) for item, count in zip(items, tokens, strict=True)),
        by_tool=_tally((calls[at].name, tokens[at]) for at in calls),
        by_file=_tally((file, tokens[at]) for at, file in enumerate(files) if file),
        by_record_type=_bytes_by_kind(opened.session.entries),
        biggest=tuple(Big(at, items[at], tokens[at], files[at]) for at in order[:BIGGEST] if tokens[at]),
        boundaries=opened.usage.boundaries,
        own=reported(opened.usage.points, inherited=False),
        inherited=reported(opened.usage.points, inherited=True),
        stale=opened.usage.stale,
        leaves=tuple(opened.agent.leaves(opened.session)),
        children=children,
    )


def _tally(pairs: Iterator[tuple[str, int]] | Any) -> dict[str, int]:
    tally: Tally[str] = Tally()
    for name, amount in pairs:
        tally[name] += amount
    return dict(tally.most_common())


def _bytes_by_kind(entries: Sequence[Entry]) -> dict[str, int]:
    """Bytes of the session's own file by record type; there may be a million entries."""
    tally: dict[str, int] = {}
    for entry in entries:
        if entry.path is None:
            tally[entry.kind] = tally.get(entry.kind, 0) + entry.length
    return dict(sorted(tally.items(), key=lambda pair: -pair[1]))


def _calls(items: tuple[Item, ...]) -> dict[int, Item]:
    """Position of each call and each paired result → the call; an image belongs to the result that it follows."""
    calls = {at: item for at, item in enumerate(items) if item.kind == "tool_call"}
    calls |= {result: items[call] for call, result in pair_up(items).pairs}
    for at, item in enumerate(items):
        if item.kind == "image" and item.role == "tool" and at - 1 in calls:
            calls[at] = calls[at - 1]
    return calls


def _file(opened: Opened, call: Item | None) -> str:
    if call is None or not isinstance(call.arguments, dict):
        return ""
    path = call.arguments.get(opened.agent.profile.tool(call.name).path)
    return path if isinstance(path, str) else ""


def _estimate(opened: Opened) -> int:
    """Tokens by rule of thumb; where a reported figure still holds, only what came later is estimated."""
    reported = opened.usage.current
    later = {source.entry for source in opened.usage.later}
    image = opened.agent.profile.image_tokens
    return (reported or 0) + sum(
        image if item.kind == "image" else -(-_characters(opened, item) // CHARACTERS_A_TOKEN)
        for item in opened.view.items
        if reported is None or any(source.entry in later for source in item.source)
    )


def _characters(opened: Opened, item: Item) -> int:
    from core.tokens.counting import compact_json

    return len(item.name) + len(compact_json(item.arguments)) if item.kind == "tool_call" else len(item.text)


def _big_json(big: Big, total: int) -> dict[str, Any]:
    item = big.item
    return {
        "position": big.position,
        "source": [source.to_json() for source in item.source],
        "role": item.role,
        "kind": item.mark or item.kind,
        "tool": item.name,
        "file": big.file,
        "tokens": big.tokens,
        "share": round(big.tokens / total, 4) if total else 0.0,
        "first_line": first_line(item),
    }


def first_line(item: Item) -> str:
    """How an item's text begins."""
    return item.text[:4096].strip().partition("\n")[0][:FIRST_LINE]


def source_of(item: Item) -> Source | None:
    """Where an item begins in the file; None for what the client made up."""
    return item.source[0] if item.source else None
