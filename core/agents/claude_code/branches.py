"""The other ends of a Claude Code conversation: branches, and sub-agents that older clients logged in the same file."""

from __future__ import annotations

from collections.abc import Iterator

from core.agents.claude_code.past import past
from core.agents.claude_code.records import detail
from core.agents.protocol import Leaf
from core.leaves import tree_leaves
from core.session import Entry, Session


def leaves(session: Session) -> Iterator[Leaf]:
    """The tips beside the conversation and its past, each with a message of its own."""
    known = detail(session)
    way = {line.id for line in past(session)} | {line.id for line in known.path}

    def about(entry: Entry) -> str:
        line = known.lines.get(entry.id)
        return "sub-agent" if line is not None and line.sidechain and not known.subagent else "branch"

    return tree_leaves(session, way, about)
