"""grok (xai-org/grok-build): the session folders of its command line, as 1.0.41 reads them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from core.agents.profile import load_profile
from core.agents.protocol import Agent, Found, Options, Profile, Progress, Stamp, Usage
from core.files import Files
from core.patch import Patch
from core.proposal import Proposal
from core.resume import Overrides, Resume
from core.session import Session
from core.view import Item, Seen, Source, Unit, View

# Each method imports its module when first called: a view must be quick.


class GrokBuild(Agent):
    """One way in for each thing that `core.agents.protocol.Agent` asks."""

    name = "grok-build"

    @property
    def profile(self) -> Profile:
        return load_profile(Path(__file__).with_name("agent.toml"))

    def detect(self, files: Files, path: Path) -> bool:
        from core.agents.grok_build.detecting import is_grok

        return is_grok(files, path)

    def bundle(self, files: Files, folder: Path) -> Path | None:
        from core.agents.grok_build.detecting import bundle

        return bundle(files, folder)

    def open(self, files: Files, path: Path, leaf: str | None = None, progress: Progress | None = None) -> Session:
        from core.agents.grok_build.reading import read_session

        return read_session(files, path, leaf, progress)

    def resume(self, session: Session, overrides: Overrides) -> Resume:
        from core.agents.grok_build.resuming import resume

        return resume(session, overrides, self.profile.newest_client)

    def view(self, session: Session, resume: Resume) -> View:
        from core.agents.grok_build.view import view

        return view(session, resume)

    def system(self, session: Session, resume: Resume) -> tuple[Item, ...]:
        from core.agents.grok_build.view import system_items

        return system_items(session)

    def image(self, session: Session, source: Sequence[Source]) -> bytes | None:
        from core.agents.grok_build.images import image

        return image(session, source)

    def history(self, session: Session, resume: Resume) -> Iterator[Seen]:
        from core.agents.grok_build.history import history

        return history(session, resume)

    def units(self, view: View) -> tuple[Unit, ...]:
        from core.agents.grok_build.units import units

        return units(view)

    def options(self, view: View, unit: Unit) -> Options:
        from core.agents.grok_build.units import options

        return options(view, unit)

    def encode(self, session: Session, view: View, proposal: Proposal, stamp: Stamp) -> Patch:
        from core.agents.grok_build.write import encode

        return encode(session, view, proposal, stamp)

    def fork(self, session: Session, view: View, proposal: Proposal, stamp: Stamp) -> Patch:
        from core.agents.grok_build.write import fork

        return fork(session, view, proposal, stamp)

    def usage(self, session: Session) -> Usage:
        from core.agents.grok_build.usage import usage

        return usage(session)

    def known_running(self, path: Path) -> str | None:
        from core.agents.grok_build.running import known_running

        return known_running(path)

    def find(self) -> Iterator[Found]:
        from core.agents.grok_build.finding import find

        return find()

    def folders(self) -> tuple[Path, ...]:
        from core.agents.grok_build.finding import folders

        return folders()

    def children(self, files: Files, path: Path) -> Iterator[Found]:
        from core.agents.grok_build.finding import children

        return children(files, path)


AGENT = GrokBuild()
