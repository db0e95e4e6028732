"""A list of sessions in lines for a terminal. Pure: values in, lines out, columns in cells."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path

from core.surveying import Row, Survey
from inspector.widgets import figures
from inspector.widgets.cells import first_line, fit, fit_end, width_of

AGENT, TOKENS, SHARE, SIZE = 12, 9, 6, 9
WHEN = 16
LIVE = "●"
FULL = "!"
BOTH = 40
"""Cells in which both a title and the end of a path can be told; with fewer there is the title alone."""

LEAST = 80
"""Cells of a line at least: a narrower terminal wraps."""


def heading(width: int | None = None) -> str:
    """The names of the columns."""
    left = (
        f"{'last activity':<{WHEN}}   {'agent':<{AGENT}}{'tokens':>{TOKENS}}{'window':>{SHARE + 1}} {'size':>{SIZE}}  "
    )
    return left + "title · project · file"


def session_line(row: Row, depth: int = 0, live: bool = False, width: int | None = None) -> str:
    """One session in one line: `~` a counted or estimated figure, `!` at its agent's threshold, `●` known running."""
    known = row.survey or Survey()
    when = datetime.fromtimestamp(row.time).astimezone().strftime("%Y-%m-%d %H:%M")
    tokens = "-" if known.tokens is None else figures.tokens(known.tokens, known.kind.startswith("reported"))
    share = "" if known.share is None else f"{known.share:.0%}"
    full = known.tokens is not None and known.threshold is not None and known.tokens >= known.threshold
    left = (
        f"{when} {LIVE if live else ' '} {fit(known.agent or '?', AGENT)}{tokens:>{TOKENS}}"
        f"{share:>{SHARE}}{FULL if full else ' '} {figures.size(row.place.size):>{SIZE}}  "
    )
    room = max(LEAST, width or shutil.get_terminal_size((160, 24)).columns) - len(left)
    return left + _about(row, known, depth, room)


def _about(row: Row, known: Survey, depth: int, room: int) -> str:
    """Title, project and file, shortened so that the file's name can be told where there is room."""
    branch = "  " * (depth - 1) + "└ " if depth else ""
    title = first_line(known.problem or known.title) or "(no title)"
    project = first_line(known.project)
    path = first_line(str(row.place.path))
    parts = [part for part in (project, path) if part]
    rest = " · ".join(parts)
    if width_of(branch) + width_of(title) + 3 + width_of(rest) <= room:
        return fit(f"{branch}{title} · {rest}", room).rstrip()
    if room < BOTH:
        return fit(branch + title, room).rstrip()
    tail = max(12, room * 2 // 5)
    return (fit(branch + title, room - tail - 3).rstrip() + " · " + fit_end(path, tail).rstrip()).rstrip()


def nothing_found(looked_at: Sequence[Path]) -> list[str]:
    """Where was looked, and what can be done."""
    return [
        "no session found; looked in:",
        *(f"  {folder}" for folder in looked_at),
        "name a file, or a folder with --root FOLDER",
    ]


def skipped_lines(rows: Iterable[Row]) -> Iterator[str]:
    """Files that by their names should be sessions, and why they are none."""
    listed = list(rows)
    if listed:
        yield ""
        yield f"skipped {len(listed):,} {'file' if len(listed) == 1 else 'files'}:"
    for row in listed:
        yield f"  {first_line(str(row.place.path))}: {first_line(row.survey.problem if row.survey else '')}"


def found_words(count: int, where: str, skipped: int, left: int) -> str:
    """What is listed, in one line. `left`: files that were not read yet."""
    said = [f"{count:,} {'session' if count == 1 else 'sessions'} {where}"]
    if left:
        said.append(f"reading {left:,} more")
    if skipped:
        words = "1 file that is none" if skipped == 1 else f"{skipped:,} files that are none"
        said.append(f"{words}: `seamline sessions` says why")
    return " · ".join(said)


def none_found_words(where: str, looked_at: Sequence[Path], samples: bool) -> str:
    """That there is none, where was looked, and what can be done."""
    looked = "" if len(looked_at) < 2 else f"Looked in {', '.join(_short(folder) for folder in looked_at)}. "
    if samples:
        return f"No session found {where}. {looked}Here are the samples; a copy is opened, so try anything."
    return f"No session found {where}. {looked}Give a path: seamline PATH"


def _short(folder: Path) -> str:
    """A folder as people write it, with ~ for their own."""
    home = Path.home()
    return f"~/{folder.relative_to(home)}" if folder.is_relative_to(home) else str(folder)
