"""The sessions of this machine, or of folders: what is known at once, and the rest as it is found out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from core.agents import AGENTS, agent_named
from core.finding import agents_roots, places, root_of
from core.resume import Known
from core.survey_cache import SurveyCache
from core.surveying import Row, survey
from inspector.installed import cache_folder, installed_version

KEEP_EVERY = 200
"""Files after which what was found out is kept, so that a list that is stopped need not begin anew."""

RUNNING = 50
"""Sessions, the newest first, of which it is asked whether an agent has them open: it takes a look at each process."""


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

    def read(self, rows: Sequence[Row]) -> Iterator[tuple[int, Row]]:
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

    def _keep(self, rows: list[Row]) -> None:
        self._cache.keep((row.place, row.survey) for row in rows if row.survey is not None)
        rows.clear()


def running(row: Row) -> str | None:
    """Words for the agent that has the session open; None where none is known."""
    if row.survey is None or not row.survey.agent:
        return None
    return agent_named(row.survey.agent).known_running(row.place.path)
