"""A plan made again for a session that has grown since: the same decisions, where all that is new stands behind."""

from __future__ import annotations

from core.agents.protocol import Stamp
from core.errors import Stale
from core.opening import Opened, open_session
from core.planning import ASKED_FOR, Plan, Writer, revise
from core.view import Item


def rebased(plan: Plan, stamp: Stamp, writer: Writer | None = None) -> Plan:
    """The plan laid over the session as it is now, with its new after-view; to be shown and approved anew.

    Raises Stale, with the reason, where the session did more than grow behind what the proposal touches, SeamlineError,
    OSError. A summary by a person stays as it is.
    """
    before = plan.opened
    now = open_session(before.session.path, before.overrides, leaf=before.leaf)
    _require_only_grown(plan, now)
    return revise(now, plan.proposal, plan.settings, stamp, writer, fork=plan.why == ASKED_FOR)


def news(before: Opened, now: Opened) -> tuple[Item, ...]:
    """The items that stand behind the old view's end."""
    return now.view.items[_same(before, now) :]


def _same(before: Opened, now: Opened) -> int:
    """How many items both views begin with."""
    old, new = before.view.items, now.view.items
    length = min(len(old), len(new))
    return next((at for at in range(length) if old[at] != new[at]), length)


def _require_only_grown(plan: Plan, now: Opened) -> None:
    before, path = plan.opened, plan.opened.session.path
    touched = [before.unit_by_id[disposition.unit] for disposition in plan.proposal.dispositions]
    last = max((unit.last for unit in touched), default=-1)
    if _same(before, now) <= last:
        raise Stale(f"{path}: what the proposal touches is no longer the same: open it again and look at a new one")
    for unit in touched:
        if now.unit_by_id.get(unit.id) != unit:
            raise Stale(f"{path}: a call that the proposal touches went on: open it again and look at a new one")
    torn = {damage.kind for damage in now.session.damage} - {damage.kind for damage in before.session.damage}
    if torn:
        raise Stale(f"{path}: something is being written to it right now: let it end, then try again")
