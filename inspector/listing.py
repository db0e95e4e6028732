"""The sessions of this machine, or of folders: what is known at once, and the rest as it is found out."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from core.agents import AGENTS, agent_named, bundle, detect
from core.errors import NotASession
from core.files import Disk
from core.finding import agents_roots, places, root_of
from core.resume import Known
from core.survey_cache import SurveyCache
from core.surveying import Row, survey
from inspector.installed import cache_folder, installed_version

KEEP_EVERY = 200
"""Files after which what was found out is kept, so that a list that is stopped need not begin anew."""

RUNNING = 20
"""Sessions, the newest first, of which it is asked whether an agent has them open: it takes a look at each process."""


SAMPLES = Path(__file__).resolve().parents[1] / "sample_sessions"
"""What is offered where nothing is found."""

STEP = 0.2
"""Seconds between two batches of rows, in a list of ordinary length."""

ROWS_PER_SECOND = 20_000
"""How many rows of a list lengthen that by a second, as each batch makes the list be arranged anew."""

FEW = 20
"""Files of a folder that are looked into before the list is shown, to see whether only one of them is a session."""


@cache
def _installed(command: str) -> Known[str] | None:
    return installed_version(command)


def _clients() -> str:
    """The installed clients with their versions: a view may depend on them."""
    commands = sorted({agent_named(name).profile.command for name in AGENTS} - {""})
    return " ".join(f"{command}={known.value}" for command in commands if (known := _installed(command)) is not None)


class Listing:
    """The files of one list: `look` finds them, `read` looks inside those that nothing is known of."""

    def __init__(self, folders: Sequence[Path] = ()) -> None:
        """`folders`: where to look instead of the agents' own folders."""
        self.folders = tuple(folders)
        self._cache = SurveyCache(cache_folder(), _clients())

    def looked_at(self) -> tuple[Path, ...]:
        """The folders that are searched, whether or not they exist."""
        return self.folders or tuple(dict.fromkeys(root.folder for root in agents_roots()))

    def look(self) -> list[Row]:
        """Every file that may be a session, newest first, with what was kept of it."""
        known = self._cache.known()
        roots = [root_of(folder) for folder in self.folders] if self.folders else agents_roots()
        rows = [Row(place, known.get(SurveyCache.key(place))) for place in places(roots)]
        return sorted(rows, key=lambda row: (-row.time, str(row.place.path)))

    def read(self, rows: Sequence[Row]) -> Generator[tuple[int, Row], None, None]:
        """Look inside the files that nothing is known of, in their order: (position in `rows`, the row as it is)."""
        new: list[Row] = []
        try:
            for number, row in enumerate(rows):
                if row.survey is not None:
                    continue
                read = replace(row, survey=survey(row.place, _installed))
                new.append(read)
                yield number, read
                if len(new) >= KEEP_EVERY:
                    self._keep(new)
        finally:
            self._keep(new)

    def read_in_batches(
        self, rows: Sequence[Row], stop: Callable[[], bool] = lambda: False
    ) -> Iterator[list[tuple[int, Row]]]:
        """As `read`, several rows at a time, so that a list on a screen is not arranged anew for each."""
        pause = STEP + len(rows) / ROWS_PER_SECOND
        batch: list[tuple[int, Row]] = []
        due = time.monotonic() + STEP
        for one in self.read(rows):
            batch.append(one)
            if stop():
                return
            if time.monotonic() >= due:
                yield batch
                batch, due = [], time.monotonic() + pause
        if batch:
            yield batch

    def _keep(self, rows: list[Row]) -> None:
        self._cache.keep((row.place, row.survey) for row in rows if row.survey is not None)
        rows.clear()


def running(row: Row) -> str | None:
    """Words for the agent that has the session open; None where none is known."""
    if row.survey is None or not row.survey.agent:
        return None
    return agent_named(row.survey.agent).known_running(row.place.path)


def running_among(rows: Sequence[Row]) -> dict[Path, str]:
    """Words for each of the newest sessions that an agent is known to have open."""
    newest = sorted((row for row in rows if row.survey is not None), key=lambda row: -row.time)[:RUNNING]
    return {row.place.path: words for row in newest if (words := running(row)) is not None}


def only_session(folder: Path, rows: Sequence[Row]) -> Path | None:
    """The session that a folder is as a whole, or the only one of a few files; None where there is more to choose."""
    whole = bundle(Disk(), folder)
    if whole is not None or len(rows) > FEW:
        return whole
    found = [row.place.path for row in rows if _is_session(row.place.path)]
    return found[0] if len(found) == 1 else None


def _is_session(path: Path) -> bool:
    try:
        detect(Disk(), path)
    except (NotASession, OSError):
        return False
    return True


def copied(sample: Path) -> Path:
    """A copy of a sample with all that lies beside it, so that what is tried on it changes no sample."""
    folder = Path(tempfile.mkdtemp(prefix="seamline-"))
    return shutil.copytree(SAMPLES, folder / SAMPLES.name) / sample.relative_to(SAMPLES)
