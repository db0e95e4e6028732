"""The line that says which session this is and how it would be resumed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.cells import cell_len

from core.opening import Opened
from core.resume import Known
from inspector.widgets.cells import first_line, fit
from inspector.widgets.drawn import Drawn, Part
from inspector.widgets.parts import parts


class Facts(Drawn):
    """Title on the left; agent and model on the right; where each value comes from in the tooltip."""

    PREFIX = "facts"
    COMPONENT_CLASSES: ClassVar[set[str]] = parts("facts", "title value label warning")

    def __init__(self, opened: Opened) -> None:
        super().__init__()
        self._opened = opened
        self.tooltip = sources(opened)

    def lines(self, width: int) -> Sequence[Sequence[Part]]:
        facts = [first_line(words) for words in agent_words(self._opened)]
        right = "  ".join(facts)
        left_width = max(10, width - cell_len(right) - 2)
        lines: list[list[Part]] = [[(fit(title(self._opened), left_width), "title"), ("  ", "label"), (right, "label")]]
        if self._opened.view.warnings:
            lines.append([(fit("! " + first_line(self._opened.view.warnings[0]), width), "warning")])
        return lines


def title(opened: Opened) -> str:
    """What the session is called: its own title, else the folder it worked in, else its file."""
    session = opened.session
    return first_line(session.title) or first_line(session.cwd) or first_line(session.path.name)


def agent_words(opened: Opened) -> list[str]:
    """Agent with version, model, and how much damage the file has."""
    resume = opened.resume
    words = [f"{opened.agent.profile.title} {resume.client_version.value}"]
    if resume.model:
        provider = f"{resume.provider.value}/" if resume.provider else ""
        words.append(f"{provider}{resume.model.value}")
    else:
        words.append("model unknown")
    if opened.session.damage:
        count = len(opened.session.damage)
        words.append(f"{count} damaged {'place' if count == 1 else 'places'}")
    return words


def sources(opened: Opened) -> str:
    """Each value with where it comes from, for the tooltip."""
    resume = opened.resume
    rows: list[tuple[str, Known[str] | Known[int] | None]] = [
        ("client version", resume.client_version),
        ("provider", resume.provider),
        ("model", resume.model),
        ("wire", resume.wire),
        ("window", resume.window),
        ("longest reply", resume.max_output),
    ]
    known = [f"{name}: {_value(value)} ({value.source})" for name, value in rows if value]
    unknown = [f"{name}: unknown" for name, value in rows if value is None]
    lines = [str(opened.session.path), *known, *unknown, *opened.view.warnings]
    return "\n".join(first_line(line) for line in lines)


def _value(known: Known[str] | Known[int]) -> str:
    return f"{known.value:,}" if isinstance(known.value, int) else str(known.value)
