"""A list of sessions to choose from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from core.surveying import Row
from inspector.widgets import figures
from inspector.widgets.cells import fit, fit_end
from inspector.widgets.parts import parts
from inspector.widgets.row_list import RowList
from inspector.widgets.session_rows import LIVE, Order, arranged, cells

SORTED = "▾"


@dataclass(frozen=True, slots=True)
class _Columns:
    """Widths in cells; 0 leaves a column out. `title` takes what the others leave."""

    agent: int
    project: int
    title: int
    tokens: int
    bar: int
    size: int
    age: int
    path: int


def _columns(width: int, order: Order) -> _Columns:
    """What fits into `width` cells; where there is room for one of size and age, the one that is sorted by."""
    roomy = width >= 100
    agent, project, bar = (16, 20, 13) if width >= 116 else (12, 13, 11)
    project, path = (min(48, width // 5), min(48, width // 5)) if width >= 160 else (project, 0)
    size = 10 if roomy or order == "size" else 0
    age = 8 if roomy or order != "size" else 0
    taken = 3 + agent + project + 9 + bar + size + age + path
    return _Columns(agent, project, max(0, width - taken), 9, bar, size, age, path)


class SessionList(RowList):
    """Agent, project, title, tokens against the agent's own threshold, size and age, and the file where there is room.

    Rows are told by their place in what `show` was given, however they are sorted and filtered.
    """

    PREFIX = "sessions"
    COMPONENT_CLASSES: ClassVar[set[str]] = parts(
        "sessions",
        "heading cursor cursor-blurred pointer live agent project title figure faint problem used tight over",
    )

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self.rows: list[Row] = []
        self.shown: list[tuple[Row, int]] = []
        self.running: dict[Path, str] = {}
        self.words = ""
        self.order: Order = "activity"
        self.now = 0.0

    @property
    def selected(self) -> Row | None:
        """The session under the cursor; None where none is shown."""
        return self.shown[self.cursor][0] if self.cursor < len(self.shown) else None

    def show(self, rows: Iterable[Row], now: float) -> None:
        """Show these; `now` in seconds since 1970, for their ages."""
        self.rows, self.now = list(rows), now
        self._lay_out()

    def tell(self, found: Iterable[tuple[int, Row]]) -> None:
        """More is known of these rows."""
        for number, row in found:
            self.rows[number] = row
        self._lay_out()

    def tell_running(self, running: Mapping[Path, str]) -> None:
        """Which sessions an agent is known to have open, with words for it."""
        self.running = dict(running)
        self.refresh()
        self.announce()

    def rearrange(self, words: str | None = None, order: Order | None = None) -> None:
        """Show only sessions with these words, or sort them otherwise."""
        self.words = self.words if words is None else words
        self.order = order or self.order
        self._lay_out()

    def _lay_out(self) -> None:
        """Lay the rows out anew; the cursor stays at its session, and at the top where nobody has moved it."""
        here = self.selected
        path = here.place.path if here is not None and self.cursor else None
        self.shown = arranged(self.rows, self.words, self.order)
        self.set_count(len(self.shown))
        self.cursor = next((number for number, (row, _) in enumerate(self.shown) if row.place.path == path), 0)
        self.reveal()
        self.announce()

    def draw_heading(self, width: int) -> Strip:
        layout = _columns(width, self.order)
        names = (
            fit("   " + self._heading("agent"), 3 + layout.agent),
            fit(self._heading("project"), layout.project),
            fit("title", layout.title),
            fit(self._heading("tokens"), layout.tokens, "right"),
            fit(" " + self._heading("threshold"), layout.bar),
            fit(self._heading("size"), layout.size, "right"),
            fit("age" + SORTED * (self.order == "activity"), layout.age, "right"),
            fit("  file", layout.path),
        )
        return Strip([Segment("".join(names), self.style("heading"))]).adjust_cell_length(width, self.style("heading"))

    def _heading(self, column: str) -> str:
        return column + SORTED * (column == self.order)

    def draw_row(self, number: int, width: int, selected: bool) -> Strip:
        (row, depth), layout = self.shown[number], _columns(width, self.order)
        told = cells(row, depth, self.now)
        base = self.style("cursor") if selected else Style()
        figure = base + self.style("figure")
        project = told.folder if layout.project > 20 else told.project
        live = LIVE if row.place.path in self.running else ""
        title = fit if row.survey is not None else fit_end
        bar = "" if told.full is None else figures.bar(told.full, layout.bar - 1)
        return Strip(
            [
                Segment("▌" if selected else " ", base + self.style("pointer")),
                Segment(fit(live, 2), base + self.style("live")),
                Segment(fit(told.agent, layout.agent - 1) + " ", base + self.style("agent")),
                Segment(fit_end(project, layout.project - 1) + " ", base + self.style("project")),
                Segment(title(told.title, layout.title), base + self.style(told.title_style)),
                Segment(fit(told.tokens, layout.tokens, "right"), figure),
                Segment(fit(" " + bar, layout.bar), base + self.style(told.full_style)),
                Segment(fit(told.size, layout.size, "right"), figure),
                Segment(fit(told.age, layout.age, "right"), figure),
                Segment("  " + fit_end(told.path, layout.path - 2) if layout.path else "", figure),
            ]
        ).adjust_cell_length(width, base)
