"""From a policy's proposal to a plan: the summary written, the patch made, the after-view read back, the checks run.

The after-view is never computed: it is read by the agent's own reader from the files with the patch laid over them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from core.agents.protocol import Stamp
from core.budget import Budget, counted_view
from core.checks import Check, run_checks, summary_checks
from core.compressed import stored
from core.errors import CommitRefused, SeamlineError
from core.files import Overlay
from core.metering import summary_tokens, tokens_after, tokens_before
from core.opening import Opened, open_session
from core.patch import Patch
from core.policies import budget_of as budget_of
from core.policies import policy_named
from core.policies.settings import Settings
from core.proposal import Disposition, Proposal, Summary
from core.spans import kept, span
from core.view import Item, Seen

Writer = Callable[["Opened", Sequence[Seen], Sequence[Item], Settings], Summary]
"""Writes a summary of what is seen in the summarised span, knowing what is kept beside it."""


ASKED_FOR = "asked for"
"""Why a plan is a fork where the person wanted one."""


@dataclass(frozen=True)
class Plan:
    """A proposal with all that a person needs to judge it, and the patch that would carry it out."""

    opened: Opened
    proposal: Proposal
    settings: Settings
    budget: Budget
    after: Opened
    """The session as it would be read after the commit; `opened` itself where nothing would change."""
    patch: Patch | None
    commits_as: str
    """`append`, `replace`, `fork` or `none`."""
    why: str
    """Why nothing can be committed, or why it must be a fork."""
    checks: tuple[Check, ...]

    @property
    def would_act(self) -> bool | None:
        """Whether the policy would act by itself now; None where the window is unknown."""
        return self.budget.acts

    @property
    def changes_anything(self) -> bool:
        return bool(self.proposal.dispositions)

    @property
    def may_commit(self) -> bool:
        return self.patch is not None and all(check.ok for check in self.checks)

    @cached_property
    def summary_tokens(self) -> int:
        """Tokens of the summary as it stands in the after-view, wrapper included; 0 without one."""
        return summary_tokens(self.after, self.proposal.summary)

    def to_json(self) -> dict[str, Any]:
        """The plan in the form `plan/1`."""
        opened, proposal = self.opened, self.proposal
        return {
            "schema": "plan/1",
            "agent": opened.agent.name,
            "policy": proposal.policy,
            "would_act": self.would_act,
            "session": {
                "path": str(opened.session.path),
                "fingerprint": opened.session.fingerprint,
                "leaf": opened.session.leaf,
                "resume": opened.resume.to_json(),
            },
            "window": opened.resume.window.value if opened.resume.window else None,
            "threshold": {"value": self.budget.threshold, "compared_with": self.budget.used.kind},
            "budget": self.budget.to_json(),
            "before": {"tokens": counted_view(opened.view_tokens), "items": len(opened.view.items)},
            "after": {
                "tokens": counted_view(self.after.view_tokens),
                "items": [item.to_json() for item in self.after.view.items],
            },
            "dispositions": [_disposition_json(opened, one, proposal.dispositions) for one in proposal.dispositions],
            "cut": _cut_json(proposal),
            "summary": _summary_json(proposal, self.summary_tokens),
            "checks": [check.to_json() for check in self.checks],
            "commits_as": self.commits_as,
            "why": self.why,
        }


def _disposition_json(opened: Opened, disposition: Disposition, among: Sequence[Disposition]) -> dict[str, Any]:
    unit = opened.unit_by_id[disposition.unit]
    sources = disposition.source or tuple(source for at in unit.items for source in opened.view.items[at].source[:1])
    returns = opened.options(unit).grows_back.get(disposition.what)
    return {
        "unit": disposition.unit,
        "source": [source.to_json() for source in sources],
        "what": disposition.what,
        "class": disposition.klass,
        "reason": disposition.reason,
        "text": disposition.text,
        "tokens_before": tokens_before(opened, disposition, among),
        "tokens_after": tokens_after(opened, disposition),
        **({"grows_back": returns} if returns else {}),
    }


def _cut_json(proposal: Proposal) -> dict[str, Any] | None:
    cut = proposal.cut
    if cut is None:
        return None
    told = {"first_kept": cut.first_kept, "rank": cut.rank, "reason": cut.reason}
    return told | {"split": cut.split} if cut.split else told


def _summary_json(proposal: Proposal, tokens: int) -> dict[str, Any] | None:
    summary = proposal.summary
    return {"writer": summary.writer, "text": summary.text, "tokens": tokens} if summary else None


def plan_session(
    opened: Opened, policy: str, settings: Settings, stamp: Stamp, writer: Writer | None = None, fork: bool = False
) -> Plan:
    """The policy's own proposal, with its summary, ready to be judged."""
    proposal = policy_named(policy, settings.policies).propose(opened, settings)
    return revise(opened, proposal, settings, stamp, writer, fork)


def revise(
    opened: Opened,
    proposal: Proposal,
    settings: Settings,
    stamp: Stamp,
    writer: Writer | None = None,
    fork: bool = False,
) -> Plan:
    """The plan for a proposal, perhaps edited: summary written where one is due, after-view read back, checks run.

    A summary by a person or a file stays as it is; an offline one is written anew from what is summarised now.
    """
    policy = policy_named(proposal.policy, settings.policies)
    proposal = with_summary(opened, proposal, settings, writer)
    patch, commits_as, why = _encoded(opened, proposal, stamp, fork)
    after = opened if patch is None else _read_back(opened, patch)
    budget = policy.budget(opened, settings)
    replaced = commits_as == "replace"
    checks = summary_checks(opened, proposal)
    if patch is not None:
        checks = run_checks(opened, proposal, after, settings, replaced)
    return Plan(opened, proposal, settings, budget, after, patch, commits_as, why, checks)


def with_summary(opened: Opened, proposal: Proposal, settings: Settings, writer: Writer | None = None) -> Proposal:
    """The proposal with a summary exactly where something is summarised: an offline one unless another writer is given.

    A text that a person gave stays as it is; the state behind it is that of what is summarised now.
    """
    summarised = {d.unit for d in proposal.dispositions if d.what == "summarize"}
    if not summarised:
        return replace(proposal, summary=None)
    fresh = (writer or offline(proposal.policy))(opened, span(opened, proposal), kept(opened, proposal), settings)
    given = proposal.summary
    if given is None or given.writer == "offline" or given.text == fresh.text:
        return replace(proposal, summary=fresh)
    return replace(proposal, summary=replace(given, state=fresh.state))


def offline(policy: str) -> Writer:
    """The writer that needs no model: what the program can prove, quoted, within the policy's room."""

    def write(opened: Opened, seen: Sequence[Seen], beside: Sequence[Item], settings: Settings) -> Summary:
        from core.summary.offline import write_offline

        return write_offline(
            seen,
            beside,
            opened.agent.profile,
            opened.counter,
            budget_tokens=policy_named(policy, settings.policies).summary_room(opened, settings),
            focus=settings.focus,
            order=[entry.id for entry in opened.session.entries],
        )

    return write


def _encoded(opened: Opened, proposal: Proposal, stamp: Stamp, fork: bool) -> tuple[Patch | None, str, str]:
    """(patch, how it commits, why). Falls back on a fork where the format can't carry the proposal in place."""
    if not proposal.dispositions and not fork:
        return None, "none", "nothing in the view would change"
    session, view = opened.session, opened.view
    if fork:
        return opened.agent.fork(session, view, proposal, stamp), "fork", ASKED_FOR
    try:
        patch = opened.agent.encode(session, view, proposal, stamp)
        return patch, patch.kind, ""
    except CommitRefused as refused:
        why = str(refused)
    try:
        return opened.agent.fork(session, view, proposal, stamp), "fork", why
    except SeamlineError as refused:
        return None, "none", why if str(refused) == why else f"{why}; and not as a fork: {refused}"


def _read_back(opened: Opened, patch: Patch) -> Opened:
    return open_session(patch.session, opened.overrides, Overlay(stored(opened.session.files), patch), patch.leaf)
