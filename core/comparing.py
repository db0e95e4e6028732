"""All policies side by side on one session: who would act, what would be left, and what it costs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from core.agents.protocol import Stamp
from core.budget import Budget, counted_view
from core.economics import Economics, economics
from core.models import Prices, prices_of
from core.opening import Opened
from core.planning import Plan, plan_session
from core.policies.settings import Settings


@dataclass(frozen=True, slots=True)
class Compared:
    """What one policy would do."""

    policy: str
    title: str
    budget: Budget
    tokens_before: int
    """Counted tokens of the view."""
    tokens_after: int
    turns: int
    """Whole turns that stay word for word, of all."""
    turns_before: int
    kept: int
    """Counted tokens that stay word for word."""
    summary: int
    """Counted tokens of the summary, wrapper included; 0 without one."""
    summarized: int
    """Counted tokens that the summary stands for."""
    shortened: int
    """Counted tokens that left with pointers and limits; they can be had again, or their ends stay."""
    dropped: int
    """Counted tokens that left without a trace."""
    economics: Economics
    failed: tuple[str, ...]
    """Checks that do not hold, with what to do."""
    commits_as: str

    def to_json(self) -> dict[str, Any]:
        return {
            "policy": self.policy,
            "title": self.title,
            "would_act": self.budget.acts,
            "threshold": {"value": self.budget.threshold, "compared_with": self.budget.used.kind},
            "used": self.budget.used.to_json(),
            "before": counted_view(self.tokens_before),
            "after": counted_view(self.tokens_after),
            "kept_verbatim": self.kept,
            "whole_turns": {"kept": self.turns, "of": self.turns_before},
            "summary": self.summary,
            "lost": {"summarized": self.summarized, "shortened": self.shortened, "dropped": self.dropped},
            "economics": self.economics.to_json(),
            "failed_checks": list(self.failed),
            "commits_as": self.commits_as,
        }


def compare(opened: Opened, policies: Iterable[str], settings: Settings, stamp: Stamp) -> Iterator[Compared]:
    """Each policy's plan for the session, in the given order, summaries written offline. Writes nothing."""
    from core.policies import policy_named

    for name in policies:
        title = policy_named(name, settings.policies).title
        yield compared(plan_session(opened, name, settings, stamp), title)


def compared(plan: Plan, title: str) -> Compared:
    """One plan in the figures by which policies are compared."""
    from core.metering import gain

    opened, dispositions = plan.opened, plan.proposal.dispositions
    touched = {d.unit for d in dispositions}
    whole = [turn for turn in opened.turns if not any(unit.id in touched for unit in turn.units)]

    def freed(*what: str) -> int:
        return gain(opened, [d for d in dispositions if d.what in what])

    return Compared(
        policy=plan.proposal.policy,
        title=title,
        budget=plan.budget,
        tokens_before=opened.view_tokens,
        tokens_after=plan.after.view_tokens,
        turns=len(whole),
        turns_before=len(opened.turns),
        kept=sum(opened.unit_tokens(unit) for unit in opened.units if unit.id not in touched),
        summary=plan.summary_tokens,
        summarized=freed("summarize"),
        shortened=freed("point", "limit"),
        dropped=freed("drop"),
        economics=economics_of(plan),
        failed=tuple(f"{check.id}: {check.message}" for check in plan.checks if not check.ok),
        commits_as=plan.commits_as,
    )


def economics_of(plan: Plan) -> Economics:
    """What carrying out a plan costs and saves. A summary written by a model is charged for what it stands for."""
    before, after = plan.opened, plan.after
    call = (0, 0)
    summary = plan.proposal.summary
    if summary is not None and summary.writer not in ("offline", "file", "person"):
        from core.metering import gain

        reads = gain(before, [d for d in plan.proposal.dispositions if d.what == "summarize"])
        call = (reads, plan.summary_tokens)
    return economics(
        before.view.items, before.item_tokens, after.view.items, after.item_tokens, prices_for(before), call
    )


def prices_for(opened: Opened) -> Prices | None:
    """What the session's model costs; None where provider, model or prices are unknown."""
    model = opened.resume.model
    if model is None:
        return None
    provider, _, name = model.value.rpartition("/")
    return prices_of(provider or (opened.resume.provider.value if opened.resume.provider else ""), name)
