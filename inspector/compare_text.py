"""All policies side by side, in lines for a terminal. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from core.comparing import Compared
from core.opening import Opened
from inspector.text import one_line

COLUMNS = ("policy", "acts at", "used", "after", "whole turns", "verbatim", "summary", "re-billed", "pays")


def compare_lines(opened: Opened, rows: Sequence[Compared]) -> list[str]:
    """A table with a row for each policy, what its columns mean, and what keeps a policy from a commit."""
    window = opened.resume.window
    model = one_line(opened.resume.model.value) if opened.resume.model else "unknown model"
    room = f"window {window.value:,} ({window.source})" if window else "window unknown: give --window N"
    lines = [
        f"{opened.agent.profile.title} session {one_line(opened.session.identity)}, {model}",
        f"{opened.view_tokens:,} tokens in {len(opened.turns):,} turns now; {room}",
        "",
    ]
    table = [COLUMNS, *(_cells(row) for row in rows)]
    widths = [max(len(row[column]) for row in table) for column in range(len(COLUMNS))]
    for row in table:
        cells = [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:]))]
        lines.append("  ".join(cells).rstrip())
    lines += [""]
    lines += [f"{row.policy}: {one_line(failed)}" for row in rows for failed in row.failed]
    lines += [
        "acts at      * the policy would act by itself now",
        "used         by the policy's own measure: r reported by the provider, e estimated, c counted by us",
        "after and all to the right: counted tokens of the view, without system prompt and tools",
        "re-billed    what no longer lies in the provider's cache at the next request",
        "pays         requests until that is saved again, by the model's listed prices; - unknown",
    ]
    return lines


def _cells(row: Compared) -> tuple[str, ...]:
    budget = row.budget
    kinds = "".join(dict.fromkeys(kind[0] for kind in budget.used.kind.split(" + ")))
    pays = row.economics.pays_after
    return (
        row.policy,
        "?" if budget.threshold is None else f"{budget.threshold:,}{'*' if budget.acts else ' '}",
        f"{budget.used.value:,} {kinds}",
        f"{row.tokens_after:,}",
        f"{row.turns:,} of {row.turns_before:,}",
        f"{row.kept:,}",
        f"{row.summary:,}" if row.summary else "none",
        f"{row.economics.rebilled:,}",
        "-" if pays is None else f"{pays:,}",
    )
