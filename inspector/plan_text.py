"""A plan in lines for a terminal. Pure: values in, lines out; texts of the session come out safe to print."""

from __future__ import annotations

from collections import defaultdict

from core.budget import Budget
from core.metering import tokens_after, tokens_before
from core.planning import Plan
from core.proposal import Disposition
from inspector.text import one_line

SHOWN_REASONS = 12
"""Rows of reasons shown; the rest is summed up in one."""

_VERBS = {
    "point": "pointed at",
    "limit": "limited",
    "drop": "dropped",
    "summarize": "summarised",
    "keep": "kept",
}


def plan_lines(plan: Plan) -> list[str]:
    """The plan in about twenty lines: pressure, what goes and why, the cut, the summary, the checks."""
    opened = plan.opened
    client = opened.resume.client_version
    lines = [
        f"{opened.agent.profile.title} session {one_line(opened.session.identity)}, policy {plan.proposal.policy}"
        + (", edited" if plan.proposal.edited else ""),
        f"  file       {one_line(str(opened.session.path))}",
        f"  model      {_model(plan)}",
        f"  client     {one_line(client.value)} ({one_line(client.source)})",
        f"  pressure   {pressure_line(plan.budget)}",
        f"  view       {opened.view_tokens:,} → {plan.after.view_tokens:,} tokens (counted; system prompt and tools "
        f"not included), {len(opened.view.items):,} → {len(plan.after.view.items):,} items",
    ]
    lines += [f"  warning    {one_line(warning)}" for warning in opened.view.warnings]
    lines += _reasons(plan)
    lines += _cut_and_summary(plan)
    lines += check_lines(plan)
    lines.append(f"  commits as {plan.commits_as}{f': {one_line(plan.why)}' if plan.why else ''}")
    return lines


def pressure_line(budget: Budget) -> str:
    """What is used, with its kind, against the threshold, and what the policy says to that."""
    if budget.window is None or budget.threshold is None:
        return f"{budget.used} tokens used; the window is unknown: give --window N"
    held = "".join(f" − {reserve.tokens:,} {reserve.name}" for reserve in budget.reserves)
    verdict = "acts" if budget.acts else f"acts in {budget.left:,} tokens"
    return f"{budget.used} tokens of {budget.window.value:,}{held}: threshold {budget.threshold:,}; {verdict}"


def _model(plan: Plan) -> str:
    resume = plan.opened.resume
    model = f"{one_line(resume.model.value)} ({resume.model.source})" if resume.model else "unknown"
    window = f"{resume.window.value:,} tokens ({resume.window.source})" if resume.window else "unknown: give --window"
    return f"{model}; window {window}"


def _reasons(plan: Plan) -> list[str]:
    """One row for each kind and reason of disposition, the largest gain first."""
    groups: dict[tuple[str, str], list[Disposition]] = defaultdict(list)
    for disposition in plan.proposal.dispositions:
        groups[disposition.what, reason_family(disposition.reason)].append(disposition)
    rows: list[tuple[int, str]] = []
    for (what, reason), members in groups.items():
        freed = sum(
            tokens_before(plan.opened, d, plan.proposal.dispositions) - tokens_after(plan.opened, d) for d in members
        )
        rows.append((freed, f"  {'−' + format(freed, ','):>10} {len(members):>4} {_VERBS[what]}: {reason}"))
    rows.sort(key=lambda row: -row[0])
    shown = [text for _, text in rows[:SHOWN_REASONS]]
    if len(rows) > SHOWN_REASONS:
        shown.append(
            f"  {'−' + format(sum(freed for freed, _ in rows[SHOWN_REASONS:]), ','):>10}      for other reasons"
        )
    return shown


def reason_family(reason: str) -> str:
    """A reason without the entry that it names, so that equal reasons can be grouped."""
    head, colon, tail = reason.partition(": ")
    if colon and head.startswith("superseded by entry"):
        return f"superseded: {tail}"
    words = [
        "(another)" if previous == "entry" else word for previous, word in zip(["", *reason.split()], reason.split())
    ]
    return " ".join(words)


def _cut_and_summary(plan: Plan) -> list[str]:
    cut, summary = plan.proposal.cut, plan.proposal.summary
    if cut is None or summary is None:
        return ["  cut        none: nothing is summarised"]
    return [
        f"  cut        before entry {one_line(cut.first_kept) or '(none is kept)'}: {cut.reason} (rank {cut.rank})",
        f"  summary    {plan.summary_tokens:,} tokens, written by: {one_line(summary.writer)}",
    ]


def check_lines(plan: Plan) -> list[str]:
    """The checks that fail or have something to say; one line where all hold."""
    spoken = [check for check in plan.checks if not check.ok or check.message]
    if not plan.checks:
        return []
    if not spoken:
        return [f"  checks     all {len(plan.checks)} hold"]
    return [f"  {'checks':<10} {'✓' if check.ok else '✗'} {check.id}: {one_line(check.message)}" for check in spoken]
