"""Claude Code (Anthropic): sessions of 1.0 to 2.1.332."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from core.agents.profile import load_profile
from core.agents.protocol import Agent, Found, Leaf, Options, Profile, Progress, Stamp, Usage
from core.files import Files
from core.patch import Patch
from core.proposal import Proposal
from core.resume import Overrides, Resume
from core.session import Session
from core.view import Item, Seen, Source, Unit, View

# Each method imports its module when first called: a view needs none of the rest, and must be quick.


@cache
def _profile() -> Profile:
    return load_profile(Path(__file__).with_name("agent.toml"))


class ClaudeCode(Agent):
    """One way in for each thing that `core.agents.protocol.Agent` asks."""

    name = "claude-code"

    @property
    def profile(self) -> Profile:
        return _profile()

    def detect(self, files: Files, path: Path) -> bool:
        from core.agents.claude_code.detecting import is_claude_code

        return is_claude_code(files, path)

    def open(self, files: Files, path: Path, leaf: str | None = None, progress: Progress | None = None) -> Session:
        from core.agents.claude_code.reading import read_session

        return read_session(files, path, leaf, progress)

    def resume(self, session: Session, overrides: Overrides) -> Resume:
        from core.agents.claude_code.resuming import resume

        return resume(session, overrides, self.profile.newest_client)

    def view(self, session: Session, resume: Resume) -> View:
        from core.agents.claude_code.view import view

        return view(session, resume)

    def system(self, session: Session, resume: Resume) -> tuple[Item, ...]:
        from core.agents.claude_code.system import system

        return system(session, resume)

    def image(self, session: Session, source: Sequence[Source]) -> bytes | None:
        from core.agents.claude_code.images import image

        return image(session, source)

    def history(self, session: Session, resume: Resume) -> Iterator[Seen]:
        from core.agents.claude_code.history import history

        return history(session, resume)

    def units(self, view: View) -> tuple[Unit, ...]:
        from core.agents.claude_code.units import units

        return units(view)

    def options(self, view: View, unit: Unit) -> Options:
        from core.agents.claude_code.units import options

        return options(view, unit)

    def encode(self, session: Session, view: View, proposal: Proposal, stamp: Stamp) -> Patch:
        from core.agents.claude_code.write import encode

        return encode(session, view, proposal, stamp)

    def fork(self, session: Session, view: View, proposal: Proposal, stamp: Stamp) -> Patch:
        from core.agents.claude_code.fork import fork

        return fork(session, view, proposal, stamp)

    def usage(self, session: Session) -> Usage:
        from core.agents.claude_code.usage import usage

        return usage(session)

    def known_running(self, path: Path) -> str | None:
        from core.agents.claude_code.running import known_running

        return known_running(path)

    def find(self) -> Iterator[Found]:
        from core.agents.claude_code.finding import find

        return find()

    def folders(self) -> tuple[Path, ...]:
        from core.agents.claude_code.finding import folders

        return folders()

    def bundle(self, files: Files, folder: Path) -> Path | None:
        from core.agents.claude_code.finding import bundle

        return bundle(files, folder)

    def children(self, files: Files, path: Path) -> Iterator[Found]:
        from core.agents.claude_code.finding import children

        return children(files, path)

    def leaves(self, session: Session) -> Iterator[Leaf]:
        from core.agents.claude_code.branches import leaves

        return leaves(session)


AGENT = ClaudeCode()
