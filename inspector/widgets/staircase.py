"""The staircase as a widget."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from core.budget import Mark
from inspector.widgets.drawn import Drawn, Part
from inspector.widgets.meter_rows import legend
from inspector.widgets.parts import parts
from inspector.widgets.staircase_rows import Step, lines


class Staircase(Drawn):
    """What each step of a proposal leaves in the window."""

    PREFIX = "staircase"
    COMPONENT_CLASSES: ClassVar[set[str]] = parts("staircase", "step last label used free mark edge warning")

    steps: Sequence[Step] = ()
    marks: Sequence[Mark] = ()

    def show(self, steps: Sequence[Step], marks: Sequence[Mark]) -> None:
        """Show other steps."""
        self.steps, self.marks = steps, marks
        self.tooltip = "\n".join(f"{mark.name} {mark.tokens:,} = {mark.source}" for mark in marks) or None
        self.changed(layout=True)

    def lines(self, width: int) -> Sequence[Sequence[Part]]:
        if not self.steps:
            return [[]]
        return [*lines(self.steps, self.marks, width), *legend(self.marks, width, "counted, the view alone")]
