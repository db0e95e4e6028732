"""The places that one can go to from a session, as values: what is shown of each, and what to open."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from core.kin import children_of
from core.opening import Opened
from inspector.leaves_text import child_line, leaf_line


@dataclass(frozen=True, slots=True)
class Place:
    """A leaf of the same session, or another session."""

    path: Path
    leaf: str | None
    """None: the client's own choice."""
    is_child: bool
    words: str


def places(opened: Opened, leaf: str | None) -> tuple[Place, ...]:
    """The client's own choice where `leaf` is another one, then the other leaves, then the children. Raises OSError."""
    path = opened.session.path
    own = (Place(path, None, False, "the leaf that the client would choose"),) if leaf is not None else ()
    leaves = (
        Place(path, one.entry, False, leaf_line(replace(one, left=""))) for one in opened.agent.leaves(opened.session)
    )
    children = (Place(child.found.path, None, True, child_line(child)) for child in children_of(opened))
    return (*own, *leaves, *children)
