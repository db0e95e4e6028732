"""What fills the window, in lines for a terminal. Pure: values in, lines out."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from core.opening import Opened
from core.stats import Stats, estimate_includes
from inspector.leaves_text import child_lines, count, leaf_lines
from inspector.plan_text import pressure_line
from inspector.text import one_line
from inspector.view_text import heading, said

ROWS = 12
"""Rows of a table that are shown; the rest is summed up in one."""

BAR = 20
"""Cells of a full bar."""


def stats_lines(opened: Opened, measured: Stats) -> Iterator[str]:
    """The session, the figures with their kinds, then the tables."""
    yield from heading(opened)
    yield ""
    yield f"tokens   {measured.counted:>11,}  counted: view, without system prompt and tools"
    if measured.reported is not None:
        yield f"         {measured.reported:>11,}  reported: view, system prompt and tools up to the last reply"
    elif opened.usage.stale:
        yield f"         {'none':>11}  reported: {one_line(opened.usage.stale)}"
    yield f"         {measured.estimated:>11,}  estimated: {estimate_includes(measured.reported)}"
    yield f"window   {pressure_line(measured.budget)}"
    total = measured.counted
    yield from _table("by role", measured.by_role, total, "tokens")
    yield from _table("by kind", measured.by_kind, total, "tokens")
    yield from _table("by tool (calls and results)", measured.by_tool, total, "tokens")
    yield from _table("by file", measured.by_file, total, "tokens")
    yield from _table("by record type", measured.by_record_type, sum(measured.by_record_type.values()), "bytes")
    yield from _biggest(measured)
    yield from _boundaries(measured)
    yield from _replies(measured)
    yield from leaf_lines(measured.leaves)
    yield from child_lines(measured.own, measured.children)


def _table(title: str, rows: dict[str, int], total: int, unit: str) -> Iterator[str]:
    if not rows:
        return
    yield ""
    yield f"{title}, in {unit}"
    shown = list(rows.items())[:ROWS]
    rest = list(rows.items())[ROWS:]
    if rest:
        shown.append((f"{len(rest)} more", sum(amount for _, amount in rest)))
    for name, amount in shown:
        share = amount / total if total else 0.0
        yield f"  {amount:>13,} {share:>6.1%}  {'█' * round(share * BAR):<{BAR}}  {one_line(name) or '(no name)'}"


def _biggest(measured: Stats) -> Iterator[str]:
    if not measured.biggest:
        return
    yield ""
    yield "biggest items, with their place in the view"
    for big in measured.biggest:
        file = f" [{one_line(big.file, 60)}]" if big.file and big.item.kind == "tool_result" else ""
        yield f"  {big.tokens:>13,}  {big.position + 1:>5}  {big.item.role}{file} {one_line(said(big.item), 100)}"


def _boundaries(measured: Stats) -> Iterator[str]:
    if not measured.boundaries:
        return
    yield ""
    yield "compactions so far"
    for boundary in measured.boundaries:
        before = "unknown size" if boundary.tokens_before is None else f"{boundary.tokens_before:,} tokens before"
        when = (
            "" if boundary.time is None else datetime.fromtimestamp(boundary.time, UTC).strftime("%Y-%m-%d %H:%M UTC")
        )
        yield f"  entry {one_line(boundary.entry)}  by {one_line(boundary.by)}, {before}  {when}".rstrip()


def _replies(measured: Stats) -> Iterator[str]:
    """What the provider reported over the whole session, each reply once."""
    own, before = measured.own, measured.inherited
    if not own.replies + before.replies:
        return
    yield ""
    yield "reported for all replies, in tokens of input and output (each reply once; no size of the context)"
    cached = f"{own.cached:,} of it read from the cache, {own.output:,} output"
    yield f"  {own.tokens:>13,}  {count(own.replies, 'reply', 'replies')}, {cached}"
    if before.replies:
        copied = count(before.replies, "reply", "replies")
        yield f"  {before.tokens:>13,}  {copied} copied from the session that this one was forked from"
