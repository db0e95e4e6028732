"""The selected session in three lines below the list, with what has no room in its row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from core.surveying import Row
from inspector.widgets.drawn import Drawn, Part
from inspector.widgets.parts import parts
from inspector.widgets.session_rows import about


class SessionFacts(Drawn):
    """Title, place and figures of one session."""

    PREFIX = "session"
    COMPONENT_CLASSES: ClassVar[set[str]] = parts("session", "title value label live problem")

    row: Row | None = None
    running = ""

    def show(self, row: Row | None, running: str = "") -> None:
        """Show another session; `running`: words for the agent that has it open."""
        self.row, self.running = row, running
        self.changed()

    def lines(self, width: int) -> Sequence[Sequence[Part]]:
        return about(self.row, self.running)
