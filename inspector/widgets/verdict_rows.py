"""What the detail pane of a review says: what happens to the selection, why, and what is not possible."""

from __future__ import annotations

from collections.abc import Sequence

from core.checks import Check
from core.edits import BY_HAND
from core.opening import Opened
from core.planning import Plan
from core.proposal import Proposal
from inspector.drafting import unit_at
from inspector.widgets import figures
from inspector.widgets.detail_rows import Block
from inspector.widgets.review_rows import KEY_WORDS, SIGNS, VERBS, Verdict


def verdict_blocks(opened: Opened, position: int, verdict: Verdict | None, by_hand: bool = False) -> list[Block]:
    """The disposition of one item, its alternatives, and why others are refused."""
    unit = unit_at(opened, position)
    options = opened.options(unit)
    if verdict is None:
        reason = f" · {BY_HAND}" if by_hand else ""
        blocks = [Block("title", f"{SIGNS['keep']}  kept as it is"), Block("fact", f"class: verbatim{reason}")]
    else:
        blocks = [
            Block("title", f"{SIGNS[verdict.what]}  {VERBS[verdict.what]}"),
            Block("fact", f"class: {verdict.klass} · {verdict.reason}"),
        ]
    size = "1 item" if len(unit.items) == 1 else f"{len(unit.items)} items that stay together"
    blocks.append(Block("fact", f"unit {unit.id}: {unit.kind}, {size}, {opened.unit_tokens(unit):,} tokens"))
    allowed = " · ".join(KEY_WORDS[what] for what in SIGNS if what in options.allowed)
    blocks.append(Block("key", f"keys: {allowed}"))
    blocks += [Block("fact", f"{KEY_WORDS[what]}: not possible, {reason}") for what, reason in options.refused.items()]
    if verdict is not None and verdict.text is not None and opened.view.items[position].kind == "tool_result":
        blocks += [Block("body", ""), Block("notice", "What stands there instead:"), Block("body", verdict.text)]
    return [*blocks, Block("body", "")]


def cut_blocks(proposal: Proposal, plan: Plan | None) -> list[Block]:
    """What the cut means, and the summary that stands for what lies before it."""
    cut, summary = proposal.cut, proposal.summary
    if cut is None:
        return [Block("title", "no cut"), Block("fact", "Nothing is summarised. < and > set a cut, x sets it here.")]
    blocks = [
        Block("title", f"✂ cut: {cut.reason or 'nothing is kept'}"),
        Block("fact", f"rank {cut.rank} of the legal cuts (1 is best) · first kept: {cut.first_kept or 'none'}"),
        Block("key", "keys: < > to the next legal cut · x cut before the selected row · X no cut · e edit the summary"),
        Block("body", ""),
    ]
    if summary is None:
        return [*blocks, Block("fact", "The summary is being written …")]
    tokens = f", {figures.tokens(summary_tokens(plan))} tokens" if plan is not None else ""
    return [*blocks, Block("notice", f"Summary, written by: {summary.writer}{tokens}"), Block("body", summary.text)]


def summary_tokens(plan: Plan) -> int:
    """Tokens of the summary; with its wrapper where an after-view could be read."""
    summary = plan.proposal.summary
    if plan.patch is None and summary is not None:
        return plan.opened.counter.text(summary.text)
    return plan.summary_tokens


def check_blocks(checks: Sequence[Check]) -> list[Block]:
    """Each check with its outcome, those that fail first."""
    blocks: list[Block] = []
    for check in sorted(checks, key=lambda check: (check.ok, not check.message)):
        style = "error" if not check.ok else "warning" if check.message else "fact"
        sign = "✗" if not check.ok else "!" if check.message else "✓"
        blocks.append(Block(style, f"{sign} {check.id}" + (f": {check.message}" if check.message else "")))
    return blocks


def warnings_of(checks: Sequence[Check]) -> list[str]:
    """What a person should know before approving, though nothing forbids it."""
    return [check.message for check in checks if check.ok and check.message]


def check_line(plan: Plan | None) -> tuple[str, str]:
    """(style, words) of all checks in one line."""
    if plan is None:
        return "label", "working it out …"
    failed = [check for check in plan.checks if not check.ok]
    if plan.patch is None and plan.changes_anything:
        return "warn", no_commit(plan)
    if failed:
        return "bad", f"✗ {failed[0].id}: {failed[0].message}" + (
            f" (and {len(failed) - 1} more)" if len(failed) > 1 else ""
        )
    if plan.patch is None:
        return "label", no_commit(plan)
    how = f" · as a fork: {plan.why}" if plan.commits_as == "fork" else ""
    hold = f"all {len(plan.checks)} checks hold{how}"
    spoken = warnings_of(plan.checks)
    return ("warn", f"! {'; '.join(spoken)} · {hold}") if spoken else ("good", f"✓ {hold}")


def no_commit(plan: Plan) -> str:
    """Why a plan without a patch cannot be approved."""
    return f"{'cannot be written' if plan.changes_anything else 'nothing to commit'}: {plan.why}"
