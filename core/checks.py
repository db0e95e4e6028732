"""What must hold before a proposal may be committed, judged on the after-view as it was read back."""

from __future__ import annotations

from collections import Counter as Multiset
from dataclasses import dataclass
from typing import Any

from core.edits import BY_HAND
from core.metering import gain, summary_tokens, tokens_before
from core.opening import Opened
from core.policies.settings import Settings
from core.proposal import Proposal
from core.spans import kept
from core.view import Item, pair_up, sent

MUCH_REMOVED = 0.9
"""Above this share of the view removed, a second confirmation is wanted."""


@dataclass(frozen=True, slots=True)
class Check:
    """One condition, whether it holds, and what to do where it does not."""

    id: str
    ok: bool
    message: str = ""

    def to_json(self) -> dict[str, Any]:
        return {"id": self.id, "ok": self.ok, "message": self.message}


def run_checks(
    opened: Opened, proposal: Proposal, after: Opened, settings: Settings, replaced: bool = False
) -> tuple[Check, ...]:
    """All checks, in the order in which a person should read them.

    `replaced`: the file is written anew, so that ids which are places mean other entries afterwards.
    """
    return (
        _proven(opened),
        _pairs(opened, after),
        _kept_unchanged(opened, proposal, after),
        _shortened(proposal, after),
        _gone(opened, proposal, after, replaced),
        _smaller(opened, proposal, after),
        _target(after, settings),
        _much_removed(opened, after),
        _user_words(opened, proposal),
        _adds_up(opened, proposal, after),
        *summary_checks(opened, proposal),
    )


def _proven(opened: Opened) -> Check:
    return Check("view-proven", opened.view.proven, "" if opened.view.proven else "the whole file was not read yet")


def _pairs(opened: Opened, after: Opened) -> Check:
    """No call without its result, no result without its call, that was not so before."""
    items = after.view.items
    before, now = pair_up(opened.view.items), pair_up(items)
    known = Multiset(_loose(opened.view.items, before.unanswered + before.orphans))
    new = Multiset(_loose(items, now.unanswered + now.orphans)) - known
    known_repairs = sum(item.kind == "tool_result" and item.origin == "repair" for item in opened.view.items)
    repairs = sum(item.kind == "tool_result" and item.origin == "repair" for item in items)
    if new or repairs > known_repairs:
        names = ", ".join(sorted({call_id for _, call_id in new})) or "a call that has none now"
        return Check("pairs-whole", False, f"a call and its result would be parted: {names}")
    return Check("pairs-whole", True)


def _loose(items: tuple[Item, ...], positions: tuple[int, ...]) -> list[tuple[str, str]]:
    return [(items[at].kind, items[at].call_id) for at in positions]


def _same(before: Item, after: Item) -> bool:
    """Whether two items are the same; of one that the client shortens in one of the requests only, but for its text."""
    if before.trimmed or after.trimmed:
        return (before.kind, before.call_id, before.name) == (after.kind, after.call_id, after.name)
    return sent(before) == sent(after)


def _grows_back(opened: Opened, after: Opened) -> bool:
    """Whether the client shortens results in one of the two requests only, by how full the window is."""
    return any(item.trimmed for item in (*opened.view.items, *after.view.items))


def _kept_unchanged(opened: Opened, proposal: Proposal, after: Opened) -> Check:
    """Every unit that is kept stands in the after-view as it was, thinking included, and in the same order.

    Images that the client moves behind a run of results may stand elsewhere once the run ends elsewhere, and so may
    context lines that it gathers in a message of the system's side, once other messages stand before the next reply.
    """
    changed = {d.unit for d in proposal.dispositions}
    owner = {at: unit.id for unit in opened.units for at in unit.items}
    wanted = [
        item for at, item in enumerate(opened.view.items) if owner.get(at) not in changed and item.origin == "stored"
    ]
    found = iter(after.view.items)
    moved = Multiset(sent(item) for item in after.view.items if _is_moved(item))
    for item in wanted:
        content = sent(item)
        if _is_moved(item) and moved[content]:
            moved[content] -= 1
        elif not any(_same(item, other) for other in found):
            return Check("kept-unchanged", False, f"a kept {item.kind} would be altered or lost: {item.text[:60]!r}")
    return Check("kept-unchanged", True)


def _is_moved(item: Item) -> bool:
    """Whether the client itself chooses the place of the item."""
    return item.mark == "bundled_image" or (item.mark == "custom" and item.role == "system")


def _shortened(proposal: Proposal, after: Opened) -> Check:
    """Each pointer and limited text really stands in the after-view."""
    texts = Multiset(item.text for item in after.view.items if item.kind == "tool_result")
    missing = Multiset(d.text for d in proposal.dispositions if d.text is not None) - texts
    if missing.total() > sum(item.trimmed for item in after.view.items):
        return Check("shortened", False, f"{len(missing)} shortened results don't stand as proposed")
    return Check("shortened", True)


def _gone(opened: Opened, proposal: Proposal, after: Opened, replaced: bool) -> Check:
    """What is summarised or dropped is no longer sent, and nothing came back from before an earlier compaction."""
    if replaced:
        return _nothing_else(opened, proposal, after)
    gone = {
        entry
        for d in proposal.dispositions
        if d.what in ("summarize", "drop")
        for entry in opened.unit_by_id[d.unit].entries
    }
    shown = {item.source[0].entry for item in after.view.items if item.source}
    if gone & shown:
        return Check("gone", False, f"entry {sorted(gone & shown)[0]} would still be sent")
    extra = len(after.view.items) - len(opened.view.items)
    if extra > (proposal.summary is not None):
        return Check("gone", False, f"{extra} items would be sent that are not in the view now")
    return Check("gone", True)


def _nothing_else(opened: Opened, proposal: Proposal, after: Opened) -> Check:
    """All that is sent is something that was kept, a shortened result, or the one summary."""
    gone = {d.unit for d in proposal.dispositions if d.what in ("summarize", "drop")}
    allowed = Multiset(sent(opened.view.items[at]) for one in opened.units if one.id not in gone for at in one.items)
    texts = Multiset(d.text for d in proposal.dispositions if d.text is not None)
    summaries = int(proposal.summary is not None)
    kept = [opened.view.items[at] for one in opened.units if one.id not in gone for at in one.items]
    shortened = Multiset((item.call_id, item.name) for item in kept if item.trimmed)
    for item in after.view.items:
        content = sent(item)
        if allowed[content]:
            allowed[content] -= 1
        elif item.kind == "tool_result" and shortened[item.call_id, item.name]:
            shortened[item.call_id, item.name] -= 1  # the client shortened it in the request before
        elif item.trimmed:
            continue  # or shortens it in the one after
        elif item.kind == "tool_result" and texts[item.text]:
            texts[item.text] -= 1
        elif item.mark == "summary" and summaries:
            summaries -= 1
        elif item.origin == "stored":
            return Check("gone", False, f"a {item.kind} would be sent that was not kept: {item.text[:60]!r}")
    return Check("gone", True)


def _smaller(opened: Opened, proposal: Proposal, after: Opened) -> Check:
    """A compaction shrinks the view; a plain copy need not."""
    if after.view_tokens < opened.view_tokens or not proposal.dispositions:
        return Check("smaller", True)
    message = f"the view would not shrink: {opened.view_tokens:,} → {after.view_tokens:,} tokens; keep less"
    return Check("smaller", False, message)


def _target(after: Opened, settings: Settings) -> Check:
    if settings.target is None or after.view_tokens <= settings.target:
        return Check("target", True)
    message = (
        f"can't reach {settings.target:,} tokens this way: {after.view_tokens:,} remain "
        "(what is kept, and the summary); cut later (--keep-recent), drop more, or raise --target"
    )
    return Check("target", False, message)


def _much_removed(opened: Opened, after: Opened) -> Check:
    before = opened.view_tokens
    share = 1 - after.view_tokens / before if before else 0.0
    return Check("much-removed", True, f"{share:.0%} of the view would go" if share > MUCH_REMOVED else "")


def _user_words(opened: Opened, proposal: Proposal) -> Check:
    """What a person drops by hand of the user's own words is gone from view and summary: that should be meant."""
    spoken = [unit for unit in opened.units if unit.starts_turn]
    dropped = {d.unit for d in proposal.dispositions if d.what == "drop" and d.reason == BY_HAND}
    lost = [unit for unit in spoken if unit.id in dropped]
    if not lost:
        return Check("user-words", True)
    which = [name for name, unit in (("the first", spoken[0]), ("the last", spoken[-1])) if unit in lost]
    among = f", {' and '.join(which)} among them" if which else ""
    return Check(
        "user-words", True, f"{len(lost)} of the user's messages are dropped{among}: no summary will hold them"
    )


def _adds_up(opened: Opened, proposal: Proposal, after: Opened) -> Check:
    """Tokens after are those before − Σ tokens_before + Σ tokens_after + summary, all counted by us."""
    summary = summary_tokens(after, proposal.summary)
    freed = gain(opened, proposal.dispositions)
    expected = opened.view_tokens - freed + summary
    if expected == after.view_tokens:
        return Check("numbers-add-up", True)
    if _grows_back(opened, after):
        grown = after.view_tokens - expected
        words = "results that the client shortens only where the window is more than half full are sent whole again"
        return Check("numbers-add-up", True, f"{grown:+,} tokens: {words}" if grown > 0 else "")
    made_up = sum(n for item, n in zip(opened.view.items, opened.item_tokens) if item.origin == "repair")
    if 0 < expected - after.view_tokens <= made_up:
        # A late result that now stands with its call needs no made-up one any more.
        message = f"{expected - after.view_tokens:,} more tokens go: what the client made up is no longer needed"
        return Check("numbers-add-up", True, message)
    return Check("numbers-add-up", False, f"{expected:,} tokens expected, {after.view_tokens:,} counted")


def summary_checks(opened: Opened, proposal: Proposal) -> tuple[Check, ...]:
    """The summary's own conditions, which hold or not whether the format can carry the proposal or not."""
    if proposal.summary is None:
        return ()
    from core.summary.checking import check_summary

    replaced = sum(tokens_before(opened, d) for d in proposal.dispositions if d.what == "summarize")
    elsewhere = [item.text for item in kept(opened, proposal)]
    found = check_summary(proposal.summary, opened.counter, replaced, elsewhere=elsewhere)
    return tuple(Check(f"summary-{name}", ok, message) for name, ok, message in found)
