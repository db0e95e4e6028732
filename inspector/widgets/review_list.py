"""The timeline under review: what would happen to each item, and the cut among the rows."""

from __future__ import annotations

from collections.abc import Set
from typing import ClassVar

from textual.strip import Strip

from core.edits import BY_HAND
from core.opening import Opened
from core.proposal import CLASS_OF, Proposal
from inspector.widgets import figures
from inspector.widgets.parts import parts
from inspector.widgets.review_rows import (
    CUT,
    SIGNS,
    Verdict,
    cut_line,
    cut_words,
    group_after,
    group_sign,
    kept_by_hand,
    rows_with_cut,
    verdicts,
)
from inspector.widgets.review_strips import Marked, cut_row, heading, row
from inspector.widgets.timeline_list import PARTS, TimelineList
from inspector.widgets.timeline_rows import IN_VIEW, group_of_header, header_cells, line_cells


class ReviewList(TimelineList):
    """A timeline with dispositions and a cut."""

    COMPONENT_CLASSES: ClassVar[set[str]] = parts("timeline", PARTS + " keep limit point summarize drop gone cut mixed")

    opened: Opened | None = None
    proposal: Proposal | None = None

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self.verdicts: dict[int, Verdict] = {}
        self.kept: Set[int] = frozenset()
        """Positions in the view that a person keeps where they would have gone."""
        self._cut_row: int | None = None
        self._group_marks: dict[int, Marked] = {}

    def judge(self, opened: Opened, proposal: Proposal, own: Proposal) -> None:
        """Show what a proposal, perhaps edited, does beside the policy's own; the selection stays on its item.

        A turn that the cut has just moved into is unfolded, so that the cut stands where it is.
        """
        line, group = self.selected
        on_cut = self.on_cut
        before = self.proposal.cut if self.proposal is not None else None
        self.opened, self.proposal = opened, proposal
        self.verdicts = verdicts(opened, proposal)
        self.kept = kept_by_hand(opened, proposal, own)
        if proposal.cut is not None and (before is None or before.first_kept != proposal.cut.first_kept):
            self._unfold_at_cut(opened, proposal)
        self.remake()
        self._lay_out()
        if on_cut and self._cut_row is not None:
            self.cursor = self._cut_row
        elif self.timeline.groups:
            self._select_again(line, group)

    def _unfold_at_cut(self, opened: Opened, proposal: Proposal) -> None:
        cut = cut_line(opened, self.timeline, proposal)
        if cut is not None and cut < len(self.timeline.lines):
            group = self.timeline.group_of(cut)
            if cut > self.timeline.groups[group].start:
                self.folded.discard(group)

    def _lay_out(self) -> None:
        cut = None
        if self.opened is not None and self.proposal is not None:
            cut = cut_line(self.opened, self.timeline, self.proposal)
        self._rows, self._cut_row = rows_with_cut(self.timeline, self.folded, cut)
        self.set_count(len(self._rows))

    @property
    def on_cut(self) -> bool:
        """Whether the cut's own row is selected."""
        return bool(self._rows) and self._rows[self.cursor] == CUT

    @property
    def selected(self) -> tuple[int | None, int]:
        if self.on_cut:
            below = min(self.cursor + 1, len(self._rows) - 1)
            group = group_of_header(self._rows[below]) if self._rows[below] != CUT else len(self.timeline.groups) - 1
            return None, self.timeline.group_of(self._rows[below]) if group is None else group
        return super().selected

    def select_cut(self) -> None:
        """Move to the cut's row, if there is one."""
        if self._cut_row is not None:
            self.cursor = self._cut_row
            self.reveal(center=True)

    def fold_summarised(self) -> None:
        """Fold the turns that go into the summary as a whole: their rows would all say the same."""
        for number, group in enumerate(self.timeline.groups):
            if group.kind in IN_VIEW and group_sign(self.timeline, number, self.verdicts)[0] == SIGNS["summarize"]:
                self.folded.add(number)
        self._lay_out()

    def select_line(self, line: int) -> None:
        super().select_line(line)
        self._step_over_cut()

    def select_group(self, group: int) -> None:
        super().select_group(group)
        self._step_over_cut()

    def _step_over_cut(self) -> None:
        if self._cut_row is not None and self._cut_row <= self.cursor:
            self.cursor += 1

    def row_clicked(self, number: int) -> None:
        if self._rows[number] != CUT:
            super().row_clicked(number)

    def draw_heading(self, width: int) -> Strip:
        return heading(width, self.style)

    def draw_row(self, number: int, width: int, selected: bool) -> Strip:
        value = self._rows[number]
        if value == CUT and self.proposal is not None:
            return cut_row(cut_words(self.proposal), width, self.style, selected)
        if self.profile is None:
            return Strip.blank(width)
        group = group_of_header(value)
        if group is None:
            cells = line_cells(self.timeline, value, self.tokens, self.profile, self.window)
            return row(cells, self._line_mark(value), width, self.style, selected)
        cells = header_cells(self.timeline, group, self.tokens, self.window, group in self.folded)
        return row(cells, self._group_mark(group), width, self.style, selected)

    def _line_mark(self, line: int) -> Marked:
        position = self.timeline.lines[line].position
        if position is None:
            return Marked("keep", "", "", "")
        verdict = self.verdicts.get(position)
        if verdict is None:
            counted = bool(self.tokens.counted[line])
            reason = f"{CLASS_OF['keep']}: {BY_HAND}" if position in self.kept else ""
            return Marked("keep", SIGNS["keep"], figures.tokens(self.tokens.values[line], counted), reason)
        after = figures.tokens(verdict.after) if verdict.after else "–"
        return Marked(verdict.what, SIGNS[verdict.what], after, f"{verdict.klass}: {verdict.reason}")

    def remake(self) -> None:
        """Forget what was added up for the headers, as tokens or dispositions have changed."""
        self._group_marks.clear()
        self.refresh()

    def _group_mark(self, number: int) -> Marked:
        marked = self._group_marks.get(number)
        if marked is None:
            marked = self._group_marks[number] = self._add_up(number)
        return marked

    def _add_up(self, number: int) -> Marked:
        group = self.timeline.groups[number]
        if group.kind not in IN_VIEW:
            return Marked("keep", "", "", "")
        sign, words = group_sign(self.timeline, number, self.verdicts)
        after = group_after(self.timeline, number, self.verdicts, self.tokens.values)
        style = next((what for what, known in SIGNS.items() if known == sign), "mixed")
        return Marked(style, sign, figures.tokens(after) if after else "–", "" if style == "keep" else words)
