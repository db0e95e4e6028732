"""What a proposal does to each line of the timeline, as values."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Set
from dataclasses import dataclass

from core.edits import cut_position, derive
from core.opening import Opened
from core.proposal import Disposition, Proposal, What
from inspector.widgets.cells import first_line
from inspector.widgets.timeline_rows import Timeline, header, rows

SIGNS: dict[What, str] = {"keep": "K ■", "limit": "L ◧", "point": "P →", "summarize": "S Σ", "drop": "D ✗"}
"""A letter and a sign for each disposition; the letter is the key that sets it."""

VERBS: dict[What, str] = {
    "keep": "kept",
    "limit": "limited",
    "point": "pointer",
    "summarize": "summarised",
    "drop": "dropped",
}

KEY_WORDS: dict[What, str] = {
    "keep": "k keep",
    "limit": "l limit",
    "point": "p point",
    "summarize": "s summarise",
    "drop": "d drop",
}
"""The keys that set a disposition."""

CUT = -(1 << 60)
"""The row that stands for the cut; lines are ≥ 0, headers small negative numbers."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What would happen to one item, why, and the tokens that stand there afterwards."""

    what: What
    klass: str
    reason: str
    after: int
    """Tokens; a summary is counted once, elsewhere."""
    text: str | None = None
    """What stands there instead, for `limit` and `point`."""


def verdicts(opened: Opened, proposal: Proposal) -> dict[int, Verdict]:
    """By the item's position in the view; an item that is not listed is kept as it is."""
    found: dict[int, Verdict] = {}
    for disposition in proposal.dispositions:
        if disposition.what == "keep":
            continue
        text = disposition.text
        for position in _touched(opened, disposition):
            whole = not disposition.source
            first = opened.view.items[position].kind == "tool_result" and not whole
            after = opened.counter.text(text) if first and text is not None else 0
            found[position] = Verdict(disposition.what, disposition.klass, disposition.reason, after, text)
    return found


def kept_by_hand(opened: Opened, proposal: Proposal, own: Proposal) -> set[int]:
    """Positions of the items that are kept though cut and policy would have them go; `own`: the policy's proposal."""
    if not proposal.edited:
        return set()
    place = cut_position(opened, proposal)
    before_cut = {unit.id for unit in opened.units[:place]}
    # A policy may have found that what it would do to the kept part is not worth doing.
    meant = before_cut | {disposition.unit for disposition in own.dispositions}
    would_go = _positions(opened, (one for one in derive(opened, proposal.tail, place) if one.unit in meant))
    return would_go - _positions(opened, (one for one in proposal.dispositions if one.what != "keep"))


def _positions(opened: Opened, dispositions: Iterable[Disposition]) -> set[int]:
    return {position for disposition in dispositions for position in _touched(opened, disposition)}


def _touched(opened: Opened, disposition: Disposition) -> list[int]:
    unit = opened.unit_by_id[disposition.unit]
    if not disposition.source:
        return list(unit.items)
    entries = {source.entry for source in disposition.source}
    kinds = ("tool_result", "image") if disposition.what == "point" else ("tool_result",)
    items = opened.view.items
    return [
        at for at in unit.items if items[at].kind in kinds and items[at].source and items[at].source[0].entry in entries
    ]


def cut_line(opened: Opened, timeline: Timeline, proposal: Proposal) -> int | None:
    """The line before which the cut stands; the number of lines where nothing is kept; None without a cut."""
    if proposal.cut is None:
        return None
    unit = opened.unit_by_id.get(proposal.cut.first_kept)
    if unit is None:
        return len(timeline.lines)
    return timeline.line_at(unit.first)


def rows_with_cut(timeline: Timeline, folded: Set[int], cut: int | None) -> tuple[array[int], int | None]:
    """The rows of the timeline with the cut's own row laid in, and where that is.

    A cut at a turn's start stands above its header; one inside a folded turn, below it.
    """
    shown = rows(timeline, folded)
    if cut is None:
        return shown, None
    if cut >= len(timeline.lines):
        place = len(shown)
    else:
        group = timeline.group_of(cut)
        place = shown.index(header(group))
        inside = cut - timeline.groups[group].start
        if inside:
            place += 1 if group in folded else 1 + inside
    shown.insert(place, CUT)
    return shown, place


def cut_words(proposal: Proposal) -> str:
    """The label on the cut's row."""
    cut = proposal.cut
    if cut is None:
        return ""
    if not cut.first_kept:
        return " cut: everything above is summarised, nothing is kept "
    return f" cut · {first_line(cut.reason)} · rank {cut.rank} · above: summarised, below: kept "


def group_sign(timeline: Timeline, group: int, found: dict[int, Verdict]) -> tuple[str, str]:
    """(sign, words) for a turn: its one disposition, or how many items go which way."""
    this = timeline.groups[group]
    counts: Counter[What] = Counter()
    for line in timeline.lines[this.start : this.stop]:
        if line.position is not None:
            verdict = found.get(line.position)
            counts[verdict.what if verdict else "keep"] += 1
    if len(counts) == 1:
        what = next(iter(counts))
        return SIGNS[what], VERBS[what]
    ways = [counted(what, count) for what, count in counts.most_common() if what != "keep"]
    return "", ", ".join(ways)


def counted(what: str, count: int) -> str:
    """How many go one way: 3 summarised, 2 pointers."""
    if what == "point" and count != 1:
        return f"{count} pointers"
    return f"{count} {next((verb for known, verb in VERBS.items() if known == what), what)}"


def group_after(timeline: Timeline, group: int, found: dict[int, Verdict], values: array[int]) -> int:
    """Tokens of a turn as they would stand afterwards."""
    this = timeline.groups[group]
    total = 0
    for index in range(this.start, this.stop):
        position = timeline.lines[index].position
        if position is not None:
            verdict = found.get(position)
            total += verdict.after if verdict else values[index]
    return total
