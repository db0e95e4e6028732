"""The budget as a staircase: now, limited, pruned, and cut with a summary, against the window and its thresholds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len

from core.budget import Mark
from core.metering import gain
from core.opening import Opened
from core.planning import Plan
from core.proposal import Proposal
from inspector.widgets import figures
from inspector.widgets.cells import fit
from inspector.widgets.drawn import Part
from inspector.widgets.meter_rows import FREE, HELD, USED, mark_style, signs


@dataclass(frozen=True, slots=True)
class Step:
    """One step down: what was done, and the counted tokens that the view has then; None while it is worked out."""

    name: str
    tokens: int | None
    counted: bool = True
    """False where no after-view could be read: then it is added up from the parts."""


def steps(opened: Opened, proposal: Proposal, plan: Plan | None) -> list[Step]:
    """From the view as it is to the view as it would be. The last step needs the plan; until then it is open."""
    now = opened.view_tokens
    out = [Step("now", now)]
    limited = gain(opened, [d for d in proposal.tail if d.what == "limit"])
    pruned = gain(opened, proposal.tail)
    if limited:
        out.append(Step("limited", now - limited))
    if pruned - limited:
        out.append(Step("pruned", now - pruned))
    if proposal.cut is not None:
        name = "cut and summarised"
    elif proposal.dispositions:
        name = "as proposed"
    else:
        name = "unchanged"
    if proposal.edited:
        name += ", edited"
    last = _last(name, opened, proposal, plan)
    if name != "as proposed" or last.tokens is None or last.tokens != out[-1].tokens:
        out.append(last)
    return out


def _last(name: str, opened: Opened, proposal: Proposal, plan: Plan | None) -> Step:
    if plan is None:
        return Step(name, None)
    if plan.patch is not None or not plan.changes_anything:
        return Step(name, plan.after.view_tokens)
    summary = opened.counter.text(proposal.summary.text) if proposal.summary else 0
    return Step(name, opened.view_tokens - gain(opened, proposal.dispositions) + summary, False)


def lines(staircase: Sequence[Step], marks: Sequence[Mark], width: int) -> list[list[Part]]:
    """A bar a step, all on one scale, with the marks of the window behind them and their legend below."""
    name_width = max(cell_len(step.name) for step in staircase) + 1
    figure_width = 10
    share_width = 8
    bar_width = max(10, width - name_width - figure_width - share_width - 1)
    whole = max([step.tokens or 0 for step in staircase] + [mark.tokens for mark in marks[-1:]]) or 1
    window = marks[-1].tokens if marks else None
    out: list[list[Part]] = []
    for number, step in enumerate(staircase):
        style = "last" if number == len(staircase) - 1 else "step"
        tokens = "…" if step.tokens is None else figures.tokens(step.tokens, step.counted)
        share = figures.share(step.tokens or 0, window)
        out.append(
            [
                (fit(step.name, name_width), style),
                (fit(tokens, figure_width, "right"), style),
                (fit(share, share_width, "right") + " ", "label"),
                *_bar(step.tokens or 0, marks, whole, bar_width),
            ]
        )
    return out


def _bar(tokens: int, marks: Sequence[Mark], whole: int, width: int) -> list[Part]:
    used = round(tokens / whole * width)
    threshold = marks[0].tokens if marks else whole
    cells: list[Part] = [
        (USED, "used") if cell < used else (HELD if cell / width * whole >= threshold else FREE, "free")
        for cell in range(width)
    ]
    for mark, sign in reversed(list(zip(marks, signs(marks), strict=True))):
        place = min(width - 1, round(mark.tokens / whole * width))
        cells[place] = (sign, mark_style(sign))
    return cells
