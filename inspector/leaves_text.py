"""Other leaves and children of a session, in lines for a terminal. Pure: values in, lines out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from core.agents.protocol import Leaf
from core.kin import Child, Reported
from inspector.text import one_line

SHOWN = 12
"""Rows that `stats` shows; `--leaf list` shows all."""

KINDS = {
    "branch": "branch",
    "sub-agent": "sub-agent in this file",
    "taken-back": "turns taken back",
    "conversation": "conversation",
    "request": "earlier request",
}


def count(number: int, one: str, many: str) -> str:
    """A number with its noun."""
    return f"{number:,} {one if number == 1 else many}"


def leaf_line(leaf: Leaf) -> str:
    """One leaf: what to give to `--leaf`, and what it ends in."""
    parts = [KINDS.get(leaf.kind, leaf.kind)]
    if leaf.messages:
        parts.append(f"{count(leaf.messages, 'message', 'messages')} of its own")
    if leaf.left:
        parts.append(f"beside entry {one_line(leaf.left, 60)}")
    if leaf.time is not None:
        parts.append(datetime.fromtimestamp(leaf.time, UTC).strftime("%Y-%m-%d %H:%M UTC"))
    words = f": {one_line(leaf.words, 80)}" if leaf.words.strip() else ""
    return f"{one_line(leaf.entry, 60)}  {', '.join(parts)}{words}"


def leaf_lines(leaves: Sequence[Leaf], shown: int | None = SHOWN) -> Iterator[str]:
    """The newest leaves last; nothing where there are none."""
    if not leaves:
        return
    yield ""
    yield f"other leaves ({len(leaves):,}): give one with --leaf"
    left_out = 0 if shown is None else max(0, len(leaves) - shown)
    if left_out:
        yield f"  {left_out:,} older ones: `--leaf list` shows all"
    yield from (f"  {leaf_line(leaf)}" for leaf in leaves[left_out:])


def child_lines(own: Reported, children: Sequence[Child]) -> Iterator[str]:
    """Each sub-agent and fork with its own figures, and all replies added up; nothing where there are none."""
    if not children:
        return
    yield ""
    yield f"sub-agents and forks ({len(children):,}), whose tokens are not in this session's context"
    for child in children:
        yield f"  {child_line(child)}"
        yield f"    {one_line(str(child.found.path), 400)}"
    total = sum((child.own for child in children), own)
    yield f"  {total.tokens:,} tokens reported for {total.replies:,} replies, of this session and all of these"


def child_line(child: Child) -> str:
    """One child in short."""
    relation = child.found.relation or "child"
    if child.problem:
        return f"{relation}: {one_line(child.problem, 200)}"
    context = "" if child.context is None else f", {child.context:,} in its context"
    figures = (
        f"{child.own.tokens:,} tokens reported for {count(child.own.replies, 'reply', 'replies')} of its own{context}"
    )
    title = f": {one_line(child.title, 80)}" if child.title.strip() else ""
    return f"{relation}, {figures}{title}"
