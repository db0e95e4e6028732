"""What the harness prints: one row for each thing tried, and a tally at the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

WHATS = ("keep", "limit", "point", "summarize", "drop")
"""Every disposition, in the order of the table's last lines."""

WIDTHS = (34, 30, 10, 44)


@dataclass
class Row:
    """One thing tried with one client and one session."""

    client: str
    case: str
    what: str
    commits_as: str = ""
    dispositions: Counter[str] = field(default_factory=Counter[str])
    tokens: tuple[int, int] | None = None
    """Tokens in view before and after, as the plan counted them."""
    problems: list[str] = field(default_factory=list[str])
    """Empty where everything held."""
    notes: list[str] = field(default_factory=list[str])
    """What a reader should know although it is no failure of ours."""

    def planned(self, plan: Mapping[str, Any]) -> None:
        """Note what a plan would do."""
        self.commits_as = plan["commits_as"]
        listed = {(row["unit"], row["what"]) for row in plan["dispositions"]}
        self.dispositions = Counter(what for _, what in listed)
        shortened = {unit for unit, what in listed if what in ("limit", "point")}
        items = plan["after"]["items"]
        # An entry that holds many items, as a checkpoint does, numbers the parts of each from a thousand more.
        sources = [item["source"][0] for item in items if item["source"] and item["role"] != "tool"]
        stay = {(source["entry"], source["part"] // 1000) for source in sources}
        self.dispositions["keep"] = max(0, len(stay) - len(shortened) - bool(plan["summary"]))
        self.tokens = (plan["before"]["tokens"]["value"], plan["after"]["tokens"]["value"])

    def line(self) -> str:
        """The row as text; problems follow on lines of their own."""
        did = " ".join(f"{what} {self.dispositions[what]}" for what in WHATS if self.dispositions[what])
        tokens = "{:,} → {:,}".format(*self.tokens) if self.tokens else ""
        cells = (f"{self.client} {self.case}", self.what, self.commits_as, did)
        text = " ".join(cell.ljust(width) for cell, width in zip(cells, WIDTHS))
        result = "ok" if not self.problems else "FAILED"
        return "\n".join([f"{text} {tokens:>18}  {result}", *(f"    {said}" for said in self.problems + self.notes)])


def heading() -> str:
    names = ("client and case", "what", "commits as", "dispositions (units)")
    return " ".join(name.ljust(width) for name, width in zip(names, WIDTHS)) + f" {'tokens in view':>18}  result"


def tally(rows: Iterable[Row], least: int) -> tuple[list[str], list[str]]:
    """Lines for the end of the table, and what is missing: each client must have done everything `least` times."""
    lines: list[str] = []
    missing: list[str] = []
    by_client: dict[str, list[Row]] = {}
    for row in rows:
        by_client.setdefault(row.client, []).append(row)
    for client, own in by_client.items():
        # A row counts for a disposition once: what matters is how many different commits had it.
        did = Counter(what for row in own if not row.problems for what in WHATS if row.dispositions[what])
        failed = sum(bool(row.problems) for row in own)
        commits = sum(bool(row.commits_as) for row in own)
        counts = ", ".join(f"{what} in {did[what]}" for what in WHATS)
        lines.append(f"{client}: {len(own)} rows, {commits} commits ({counts}), {failed} failed")
        missing += [f"{client}: {what} in {did[what]} commits, {least} wanted" for what in WHATS if did[what] < least]
    return lines, missing
