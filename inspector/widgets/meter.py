"""The token bar as a widget."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from inspector.widgets.drawn import Drawn, Part
from inspector.widgets.meter_rows import Gauge, bar, figures_lines, legend, sources
from inspector.widgets.parts import parts


class Meter(Drawn):
    """Figures, bar and legend; the sources of all figures in its tooltip."""

    PREFIX = "meter"
    COMPONENT_CLASSES: ClassVar[set[str]] = parts("meter", "value label mark edge used tight over free held warning")

    gauge: Gauge | None = None

    def show(self, gauge: Gauge) -> None:
        """Show other figures."""
        self.gauge = gauge
        self.tooltip = sources(gauge)
        self.changed(layout=True)

    def lines(self, width: int) -> Sequence[Sequence[Part]]:
        if self.gauge is None:
            return [[], [], []]
        drawn = bar(self.gauge, width)
        return [*figures_lines(self.gauge, width), *([drawn] if drawn else []), *legend(self.gauge.marks, width)]
