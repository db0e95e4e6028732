"""One row of the table: what was done, to which kind of commit, and how often it ended in which way."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field


@dataclass
class Row:
    what: str
    form: str
    outcomes: Counter[str] = field(default_factory=Counter[str])
    problems: list[str] = field(default_factory=list[str])

    @property
    def held(self) -> bool:
        return not self.problems

    def line(self) -> str:
        ends = ", ".join(f"{count} {outcome}" for outcome, count in self.outcomes.most_common())
        first = f": {self.problems[0]}" if self.problems else ""
        verdict = "held" if self.held else f"{len(self.problems)} NOT HELD{first}"
        return f"{self.what:<34} {self.form:<8} {sum(self.outcomes.values()):>4}  {verdict}  ({ends})"
