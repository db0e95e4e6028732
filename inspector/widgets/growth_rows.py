"""How the context grew over the session, as values and as columns of blocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.agents.protocol import Usage
from core.session import Session
from inspector.widgets import figures
from inspector.widgets.drawn import Part
from inspector.widgets.timeline_rows import Timeline, Tokens

BLOCKS = " ▁▂▃▄▅▆▇█"
DROP = "┊"
WIDEST = 16
"""Cells that one reply takes at most, where there are few."""


@dataclass(frozen=True, slots=True)
class Point:
    """The context at one place of the session; `drop`: a compaction stands before it.

    Where no reply has come since a compaction, a point without tokens stands for the compaction itself.
    """

    entry: str
    tokens: int
    drop: bool = False


@dataclass(frozen=True, slots=True)
class Growth:
    """The curve and what kind of figures it is made of."""

    points: tuple[Point, ...]
    label: str


def reported(session: Session, usage: Usage) -> Growth | None:
    """The context after each reply as the provider reported it; None where it reported nothing."""
    if not usage.points:
        return None
    index = {entry.id: entry.index for entry in session.entries}
    # What is not in this file came before it, with the session that it was made from.
    drops = sorted((index.get(boundary.entry, -1), boundary.entry) for boundary in usage.boundaries)
    points: list[Point] = []
    passed = 0
    for point in usage.points:
        before = passed
        while passed < len(drops) and drops[passed][0] < index.get(point.entry, 0):
            passed += 1
        points.append(Point(point.entry, point.context, passed > before))
    count = len(points)
    if passed < len(drops):
        points.append(Point(drops[-1][1], 0, True))
    label = f"context after each of {count} {'reply' if count == 1 else 'replies'}, reported"
    if usage.boundaries:
        number = len(usage.boundaries)
        label += f" · {DROP} {number} {'compaction' if number == 1 else 'compactions'}"
    return Growth(tuple(points), label)


def cumulative(timeline: Timeline, tokens: Tokens) -> Growth:
    """The running total over the view, where the provider reported nothing."""
    points = tuple(
        Point(line.item.source[0].entry if line.item.source else "", total)
        for line, total in zip(timeline.lines, tokens.running, strict=True)
        if line.position is not None
    )
    kind = "counted" if tokens.counted_to == len(tokens.values) else "estimated"
    return Growth(points, f"running total of the view, {kind}: the provider reported no usage")


def columns(growth: Growth, width: int) -> list[tuple[int, bool, str]]:
    """For each column of the strip: the highest context in it, whether a compaction falls in it, and its last entry."""
    points = growth.points
    if not points:
        return []
    width = min(width, len(points) * WIDEST)
    out: list[tuple[int, bool, str]] = []
    previous = -1
    for column in range(width):
        first = column * len(points) // width
        last = max(first + 1, (column + 1) * len(points) // width)
        part = points[first:last]
        drop = any(point.drop for number, point in enumerate(part, first) if number > previous)
        previous = max(previous, last - 1)
        out.append((max(point.tokens for point in part), drop, part[-1].entry))
    return out


def drawn(growth: Growth, width: int, height: int, threshold: int | None) -> list[list[Part]]:
    """The strip in `height` lines of at most `width` cells, its label above; a dotted line where a policy acts."""
    scale_width = 7
    data = columns(growth, max(1, width - scale_width))
    top = max((value for value, _, _ in data), default=0)
    whole = max(top, threshold or 0) or 1
    lines: list[list[Part]] = [[(growth.label, "label")]]
    for line in range(height):
        low = (height - 1 - line) / height * whole
        step = whole / height
        marked = threshold is not None and low < threshold <= low + step
        parts: list[Part] = []
        for value, drop, _ in data:
            level = round(min(1.0, max(0.0, (value - low) / step)) * 8)
            if drop:
                parts.append((DROP, "drop"))
            elif level:
                parts.append((BLOCKS[level], "high" if threshold and value >= threshold else "fill"))
            else:
                parts.append(("╌" if marked else " ", "threshold"))
        scale = figures.short(whole) if line == 0 else "0" if line == height - 1 else ""
        lines.append([*_joined(parts), (f" {scale}", "label")])
    return lines


def _joined(parts: Sequence[Part]) -> list[Part]:
    joined: list[Part] = []
    for text, style in parts:
        if joined and joined[-1][1] == style:
            joined[-1] = (joined[-1][0] + text, style)
        else:
            joined.append((text, style))
    return joined
