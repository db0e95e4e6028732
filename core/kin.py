"""The sub-agents and forks of a session, each with what the provider reported for it: never part of its own context."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from core.agents import agent_named
from core.agents.protocol import Found, UsagePoint
from core.errors import SeamlineError
from core.opening import Opened


@dataclass(frozen=True, slots=True)
class Reported:
    """What the provider reported for some replies, added up, in tokens."""

    replies: int = 0
    tokens: int = 0
    """All input, cached or not, and all output: what the replies took, not the size of a context."""
    cached: int = 0
    output: int = 0

    def __add__(self, other: Reported) -> Reported:
        return Reported(
            self.replies + other.replies,
            self.tokens + other.tokens,
            self.cached + other.cached,
            self.output + other.output,
        )

    def to_json(self) -> dict[str, int]:
        return {"replies": self.replies, "tokens": self.tokens, "cached": self.cached, "output": self.output}


NOTHING = Reported()


def reported(points: Iterable[UsagePoint], inherited: bool) -> Reported:
    """The sum over a session's own replies, or over those that it inherited from its parent, which paid for them."""
    counted = [point for point in points if point.inherited == inherited]
    return Reported(
        len(counted),
        sum(point.context for point in counted),
        sum(point.cached for point in counted),
        sum(point.output for point in counted),
    )


@dataclass(frozen=True, slots=True)
class Child:
    """A session that another one began."""

    found: Found
    title: str = ""
    own: Reported = NOTHING
    context: int | None = None
    """Tokens in its own context as last reported; None where nothing is reported or it no longer holds."""
    problem: str = ""
    """Why it could not be read."""

    def to_json(self) -> dict[str, Any]:
        """One of `children` in `stats/1`."""
        return {
            "path": str(self.found.path),
            "agent": self.found.agent,
            "relation": self.found.relation,
            "title": self.title,
            "bytes": self.found.size,
            "own": self.own.to_json(),
            "context": self.context,
            "problem": self.problem,
        }


def children_of(opened: Opened) -> tuple[Child, ...]:
    """The sub-agents and forks of a session, oldest first; reads each of them. Raises OSError for the session's own."""
    found = opened.agent.children(opened.session.files, opened.session.path)
    return tuple(_child(opened, one) for one in sorted(found, key=lambda child: (child.modified, child.path)))


def _child(opened: Opened, found: Found) -> Child:
    agent = agent_named(found.agent)
    try:
        session = agent.open(opened.session.files, found.path)
        usage = agent.usage(session)
    except (SeamlineError, OSError) as error:
        return Child(found, problem=str(error))
    return Child(found, session.title, reported(usage.points, inherited=False), usage.current)
