"""A session opened for work: what is stored, how it would be resumed, what the model would see, and its tokens."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from core.agents import detect
from core.agents.protocol import Agent, Options, Progress, Usage
from core.files import Disk, Files
from core.resume import Overrides, Resume
from core.session import Session
from core.tokens.counting import Counter
from core.view import Turn, Unit, View, turns


@cache
def shared_counter(image_tokens: int) -> Counter:
    """One counter for all sessions: it remembers its counts, and a before- and an after-view share most texts."""
    return Counter(image_tokens=image_tokens)


@dataclass(frozen=True)
class Opened:
    """One session with its view. Figures are counted when first asked for."""

    agent: Agent
    session: Session
    resume: Resume
    view: View
    overrides: Overrides = Overrides()
    leaf: str | None = None
    """The leaf that was asked for; None where the view ends where the client would end it."""

    @cached_property
    def counter(self) -> Counter:
        return shared_counter(self.agent.profile.image_tokens)

    @cached_property
    def units(self) -> tuple[Unit, ...]:
        return self.agent.units(self.view)

    @cached_property
    def turns(self) -> tuple[Turn, ...]:
        return turns(self.units)

    @cached_property
    def item_tokens(self) -> tuple[int, ...]:
        """Counted tokens of each item of the view."""
        return tuple(self.counter.count(item) for item in self.view.items)

    @cached_property
    def view_tokens(self) -> int:
        """Counted tokens of the whole view, without system prompt and tools."""
        return sum(self.item_tokens)

    @cached_property
    def system_tokens(self) -> int:
        """Counted tokens of the stored system prompt and tool definitions; 0 where the format keeps none."""
        return sum(self.counter.count(item) for item in self.agent.system(self.session, self.resume))

    @cached_property
    def framing_tokens(self) -> int:
        """Tokens around the items of a request, where the provider publishes a rule for them."""
        return self.agent.framing_tokens(self.session, self.resume, self.view)

    @cached_property
    def usage(self) -> Usage:
        return self.agent.usage(self.session)

    @cached_property
    def unit_by_id(self) -> dict[str, Unit]:
        return {unit.id: unit for unit in self.units}

    def unit_tokens(self, unit: Unit) -> int:
        return sum(self.item_tokens[position] for position in unit.items)

    def options(self, unit: Unit) -> Options:
        return self.agent.options(self.view, unit)


def open_session(
    path: Path,
    overrides: Overrides | None = None,
    files: Files | None = None,
    leaf: str | None = None,
    progress: Progress | None = None,
) -> Opened:
    """Open `path` as the agent that wrote it. Raises NotASession, ClientRefuses, OSError."""
    source = Disk() if files is None else files
    agent = detect(source, path)
    session = agent.open(source, path, leaf, progress)
    resume = agent.resume(session, overrides or Overrides())
    return Opened(agent, session, resume, agent.view(session, resume), overrides or Overrides(), leaf)
