"""The other ends of a pi session's tree, and the forks that left it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from core.agents.pi.records import detail
from core.agents.pi.running import header_of
from core.agents.protocol import Found, Leaf
from core.files import Files
from core.leaves import tree_leaves
from core.session import Session


def leaves(session: Session) -> Iterator[Leaf]:
    """The tips beside the path, each with a message of its own."""
    known = {entry.id for entry in detail(session).path}
    return tree_leaves(session, known, lambda entry: "branch")


def children(files: Files, path: Path) -> Iterator[Found]:
    """The forks that name the session at `path` as what they were made from; pi puts them beside it."""
    own = path.resolve()
    for beside in sorted(path.parent.glob("*.jsonl")):
        try:
            header = header_of(beside) if beside != path and files.exists(beside) else None
            named = header.get("parentSession") if header is not None else None
            if header is None or not isinstance(named, str) or Path(named).resolve() != own:
                continue
            cwd, status = header.get("cwd"), beside.stat()
            yield Found(beside, "pi", cwd if isinstance(cwd, str) else "", status.st_mtime, status.st_size, "fork")
        except OSError:
            continue
