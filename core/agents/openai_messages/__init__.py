"""People's own agents: messages of OpenAI Chat Completions, OpenAI Responses or Anthropic Messages in files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from core.agents.profile import load_profile
from core.agents.protocol import Agent, Found, Leaf, Options, Profile, Progress, Stamp, Usage
from core.files import Files
from core.patch import Patch
from core.proposal import Proposal
from core.resume import Overrides, Resume
from core.session import Damage, Session
from core.view import Item, Seen, Source, Unit, View

# Each method imports its module when first called: a view needs none of what writes, and must be quick.


class OpenAIMessages(Agent):
    """One way in for each thing that `core.agents.protocol.Agent` asks."""

    name = "openai-messages"

    @property
    def profile(self) -> Profile:
        return load_profile(Path(__file__).with_name("agent.toml"))

    def detect(self, files: Files, path: Path) -> bool:
        from core.agents.openai_messages.detecting import is_messages

        return is_messages(files, path)

    def open(self, files: Files, path: Path, leaf: str | None = None, progress: Progress | None = None) -> Session:
        from core.agents.openai_messages.reading import read_session

        return read_session(files, path, leaf, progress)

    def resume(self, session: Session, overrides: Overrides) -> Resume:
        from core.agents.openai_messages.resuming import resume

        return resume(session, overrides, self.profile.newest_client)

    def view(self, session: Session, resume: Resume) -> View:
        from core.agents.openai_messages.view import view

        return view(session, resume)

    def system(self, session: Session, resume: Resume) -> tuple[Item, ...]:
        from core.agents.openai_messages.system import system

        return system(session, resume)

    def framing_tokens(self, session: Session, resume: Resume, view: View) -> int:
        from core.agents.openai_messages.system import framing_tokens

        return framing_tokens(session, resume, view)

    def image(self, session: Session, source: Sequence[Source]) -> bytes | None:
        from core.agents.openai_messages.images import image

        return image(session, source)

    def history(self, session: Session, resume: Resume) -> Iterator[Seen]:
        from core.agents.openai_messages.history import history

        return history(session, resume)

    def units(self, view: View) -> tuple[Unit, ...]:
        from core.agents.openai_messages.units import units

        return units(view)

    def options(self, view: View, unit: Unit) -> Options:
        from core.agents.openai_messages.units import options

        return options(view, unit)

    def encode(self, session: Session, view: View, proposal: Proposal, stamp: Stamp) -> Patch:
        from core.agents.openai_messages.write import encode

        return encode(session, view, proposal, stamp)

    def fork(self, session: Session, view: View, proposal: Proposal, stamp: Stamp) -> Patch:
        from core.agents.openai_messages.write import fork

        return fork(session, view, proposal, stamp)

    def usage(self, session: Session) -> Usage:
        from core.agents.openai_messages.usage import usage

        return usage(session)

    def findings(self, session: Session, resume: Resume) -> Iterator[Damage]:
        from core.agents.openai_messages.rules import findings

        return findings(session, resume)

    def known_running(self, path: Path) -> str | None:
        from core.agents.openai_messages.running import known_running

        return known_running(path)

    def find(self) -> Iterator[Found]:
        """None: such agents keep their files wherever their authors chose."""
        return iter(())

    def folders(self) -> tuple[Path, ...]:
        return ()

    def leaves(self, session: Session) -> Iterator[Leaf]:
        from core.agents.openai_messages.branches import leaves

        return leaves(session)


AGENT = OpenAIMessages()
