"""From an approved plan to a receipt."""

from __future__ import annotations

from collections import Counter as Multiset
from dataclasses import dataclass
from pathlib import Path

from core.agents.protocol import Stamp
from core.budget import counted_view
from core.commit import Facts, Receipt, Request, Span, view_digest
from core.errors import CommitRefused
from core.files import Disk, Files, fingerprint
from core.opening import open_session
from core.patch import Append, Patch
from core.planning import Plan

LARGE = 256 << 20
"""Bytes of a file from which on a commit compares bytes, and not the views that are read from them."""


def request_for(plan: Plan, agent_stopped: bool) -> Request:
    """What the commit engine is asked to do. Raises CommitRefused where a check of the plan does not hold."""
    failed = [check for check in plan.checks if not check.ok]
    if plan.patch is None:
        raise CommitRefused(f"{plan.opened.session.path}: nothing to commit: {plan.why}")
    if failed:
        raise CommitRefused(f"{plan.opened.session.path}: {failed[0].id}: {failed[0].message}")
    opened, leaf = plan.opened, plan.patch.leaf

    approved, patch = view_digest(plan.after.view), plan.patch

    def reread(path: Path) -> str:
        if stands_unread(patch, opened.session.fingerprint):
            return approved
        return view_digest(open_session(path, opened.overrides, leaf=leaf).view)

    return Request(
        patch=plan.patch,
        session=opened.session.path,
        fingerprint=opened.session.fingerprint,
        approved=approved,
        reread=reread,
        facts=_facts(plan),
        known_running=opened.agent.known_running,
        agent_stopped=agent_stopped,
    )


@dataclass(frozen=True, slots=True)
class _Beginning:
    """The disk, with one file that ends at `size`."""

    base: Files
    ends: int

    def exists(self, path: Path) -> bool:
        return self.base.exists(path)

    def size(self, path: Path) -> int:
        return self.ends

    def read(self, path: Path, offset: int, length: int) -> bytes:
        return self.base.read(path, offset, max(0, min(length, self.ends - offset)))


def stands_unread(patch: Patch, before: str) -> bool:
    """Whether the approved bytes stand behind the old ones in a file that is too large to be read again at once.

    The after-view was read from exactly these bytes by the same reader, so it would be read again. `before` is the
    fingerprint of the old ones; that nothing else changed them is looked at by the commit itself. False for all other
    files: those are opened afresh. Raises OSError.
    """
    change = patch.changes[0]
    if len(patch.changes) != 1 or not isinstance(change, Append) or change.at < LARGE:
        return False
    disk = Disk()
    ours = disk.size(change.path) == change.at + change.size
    ours = ours and disk.read(change.path, change.at, change.size) == change.data
    return ours and fingerprint(_Beginning(disk, change.at), change.path) == before


def _facts(plan: Plan) -> Facts:
    """What the receipt remembers: figures and ids, no text."""
    counts = Multiset(disposition.what for disposition in plan.proposal.dispositions)
    changed = [plan.opened.unit_by_id[disposition.unit] for disposition in plan.proposal.dispositions]
    before, after = plan.opened.view_tokens, plan.after.view_tokens
    return Facts(
        agent=plan.opened.agent.name,
        policy=plan.proposal.policy + (" (edited)" if plan.proposal.edited else ""),
        range=Span(changed[0].entries[0], changed[-1].entries[-1], counts) if changed else Span(),
        tokens_before=counted_view(before),
        tokens_after=counted_view(after),
        summary_writer=plan.proposal.summary.writer if plan.proposal.summary else None,
    )


def approve(plan: Plan, stamp: Stamp, agent_stopped: bool = False) -> Receipt:
    """Carry out the plan in one transaction. Raises CommitRefused or Stale, and then nothing has changed."""
    from core.commit.apply import commit
    from core.commit.journal import Journal

    request = request_for(plan, agent_stopped)
    with Journal() as journal:
        return commit(request, journal, stamp)
