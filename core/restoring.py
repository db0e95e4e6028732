"""The view of before a commit as a session of its own, where an undo is no longer possible."""

from __future__ import annotations

from pathlib import Path

from core.agents.protocol import Stamp
from core.budget import counted_view
from core.commit import Facts, Journal, Receipt, Request, Span, commit, view_digest
from core.commit.past import Before
from core.commit.undo import last_operation
from core.files import Disk, Overlay, fingerprint
from core.opening import open_session
from core.proposal import Proposal
from core.resume import Overrides

POLICY = "undo"
"""What the receipt of such a fork names as its policy."""


def fork_before(path: Path, journal: Journal, stamp: Stamp, overrides: Overrides | None = None) -> Receipt:
    """Write the session as it was before its last commit into a new file beside it; this one is not touched.

    What the agent wrote since stays in the old session only. Raises CommitRefused where there was no commit, or the
    old bytes are gone, SeamlineError, OSError.
    """
    operation = last_operation(path, journal)
    target = operation.receipt.result
    before = Before(operation)
    old = open_session(target, overrides, before)
    patch = before.on_disk(old.agent.fork(old.session, old.view, Proposal(POLICY), stamp))
    new = open_session(patch.session, overrides, Overlay(Disk(), patch))
    facts = Facts(
        agent=old.agent.name,
        policy=POLICY,
        range=Span(),
        tokens_before=counted_view(open_session(target, overrides).view_tokens),
        tokens_after=counted_view(new.view_tokens),
    )

    def reread(made: Path) -> str:
        return view_digest(open_session(made, overrides).view)

    approved, mark = view_digest(new.view), fingerprint(Disk(), target)
    return commit(Request(patch, target, mark, approved, reread, facts), journal, stamp)
