"""Which lines are the conversation, from the facts of all lines: what every view and every figure stands on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from core.agents.claude_code.boundary import apply_boundary
from core.agents.claude_code.chain import Chain, walk_back
from core.agents.claude_code.leaf import asked_leaf, find_leaf, with_context
from core.agents.claude_code.records import Line
from core.agents.claude_code.siblings import with_siblings
from core.files import Files
from core.session import Entry


def follow(
    files: Files,
    path: Path,
    stored: Sequence[Line],
    leaves: Sequence[tuple[Entry, str]],
    size: int,
    asked: str | None = None,
) -> Chain:
    """The conversation in these lines; `asked` is a leaf that a person chose. Raises OSError.

    Nothing is decoded here but the metadata of boundaries.
    """
    lines: dict[str, Line] = {}
    links: dict[str, str | None] = {}
    for line in stored:
        if line.entry.kind == "progress":
            links[line.id] = line.entry.parent
        else:
            lines[line.id] = line
    chain = Chain(lines, _is_sidechain(path, stored, lines.get(asked or "")), links=_without_progress(links))
    apply_boundary(chain, files, path, size)
    chain.leaf = asked_leaf(chain, asked) if asked is not None else find_leaf(chain, leaves)
    if chain.leaf is not None:
        way = walk_back(chain, chain.leaf)
        if asked is None:
            way = with_context(chain, way)
        there = chain.there()
        chain.path = tuple(with_siblings(there, {line.id: chain.parent(line) for line in there}, way))
    return chain


def _is_sidechain(path: Path, stored: Sequence[Line], asked: Line | None) -> bool:
    """Whether the conversation is a sub-agent's: in a file of its own, or chosen by a person."""
    own_file = path.name.startswith("agent-") and bool(stored) and all(line.sidechain for line in stored)
    return own_file or (asked is not None and asked.sidechain)


def _without_progress(links: dict[str, str | None]) -> dict[str, str | None]:
    """Each report of progress → the line above it that is none."""
    found: dict[str, str | None] = {}
    for start in links:
        way: dict[str, None] = {}
        above: str | None = start
        while above is not None and above in links and above not in found and above not in way:
            way[above] = None
            above = links[above]
        end = found[above] if above is not None and above in found else None if above in way else above
        found.update(dict.fromkeys(way, end))
    return found
