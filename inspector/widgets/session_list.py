"""A list of sessions to choose from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from core.agents.protocol import Found
from inspector.widgets import figures
from inspector.widgets.cells import first_line, fit
from inspector.widgets.parts import parts
from inspector.widgets.row_list import RowList


@dataclass(frozen=True, slots=True)
class Listed:
    """A session in the list: what its name and head tell, and what was read of it since."""

    found: Found
    title: str = ""
    messages: int | None = None
    """None until counted."""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class _Columns:
    agent: int
    title: int
    messages: int
    size: int
    age: int
    path: int


def _columns(width: int) -> _Columns:
    fixed = 1 + 12 + 10 + 11 + 14
    path = max(0, min(60, (width - fixed) * 2 // 5)) if width >= 100 else 0
    return _Columns(12, max(0, width - fixed - path), 10, 11, 14, path)


class SessionList(RowList):
    """Agent, title or folder, messages, size, age, and the path where there is room."""

    PREFIX = "sessions"
    COMPONENT_CLASSES: ClassVar[set[str]] = parts(
        "sessions", "heading cursor cursor-blurred pointer agent title figure problem"
    )

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self.sessions: list[Listed] = []
        self.now = 0.0

    def show(self, sessions: list[Listed], now: float) -> None:
        """Show these; `now` in seconds since 1970, for their ages."""
        self.sessions, self.now = sessions, now
        self.set_count(len(sessions))

    def draw_heading(self, width: int) -> Strip:
        layout = _columns(width)
        words = (
            f" {fit('agent', layout.agent)}{fit('session', layout.title)}{fit('messages', layout.messages, 'right')}"
            f"{fit('size', layout.size, 'right')}{fit('changed', layout.age, 'right')}"
            f"{fit('  file', layout.path)}"
        )
        return Strip([Segment(words, self.style("heading"))]).adjust_cell_length(width, self.style("heading"))

    def draw_row(self, number: int, width: int, selected: bool) -> Strip:
        session, layout = self.sessions[number], _columns(width)
        base = self.style("cursor") if selected else Style()
        found = session.found
        words = session.problem or session.title or first_line(found.cwd) or first_line(found.path.name)
        messages = "…" if session.messages is None else f"{session.messages:,}"
        figure = base + self.style("figure")
        path = fit("  " + _tail(first_line(str(found.path)), layout.path - 2), layout.path)
        return Strip(
            [
                Segment("▌" if selected else " ", base + self.style("pointer")),
                Segment(fit(found.agent, layout.agent), base + self.style("agent")),
                Segment(fit(words, layout.title), base + self.style("problem" if session.problem else "title")),
                Segment(fit(messages, layout.messages, "right"), figure),
                Segment(fit(figures.size(found.size), layout.size, "right"), figure),
                Segment(fit(figures.age(self.now - found.modified), layout.age, "right"), figure),
                Segment(path, figure),
            ]
        ).adjust_cell_length(width, base)


def _tail(path: str, width: int) -> str:
    """The end of a path, as its end tells files apart."""
    return path if len(path) <= width else "…" + path[len(path) - max(0, width - 1) :]
