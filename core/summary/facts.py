"""Facts of a session's past: collected by fixed rules, each with the entry that proves it. Nothing is made up."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from core.agents.protocol import Profile
from core.summary.claims import claims
from core.summary.document import read_document
from core.summary.history import ALSO_DROPPED, Part, clean, entry_of, parts_of
from core.summary.logs import first_message
from core.summary.merging import add, additions, merge
from core.summary.plans import plan_in_text
from core.summary.rows import from_sections
from core.summary.state import Facts, FileChange, Plan, Quote, from_state
from core.summary.wishes import wishes
from core.summary.work import ACTING, action_of, changes_of, runs, work
from core.view import Item, Seen

_LINK = re.compile(r"https?://[^\s<>\"'`，。；！？、（）()“”\]\[{}|\\^]+")


def collect(
    seen: Sequence[Seen],
    kept: Sequence[Item],
    profile: Profile,
    states: Mapping[str, Mapping[str, Any]] | None = None,
    order: Sequence[str] = (),
) -> Facts:
    """The facts for a summary of `seen`.

    `seen` is the whole path up to the first kept unit, oldest first, with what earlier compactions hid; of items that
    were dropped only the paths of the files that they changed are used. `kept` is what stays in the view, in its
    place by `order` (the ids of the session's entries, oldest first), else after all that is seen. What tells how
    things stand now is taken from both: rules, decisions, findings, failed attempts, changed files, the plan, the
    last failed test and the last request; a kept result may still be shortened later. What only tells what happened
    is taken from `seen` alone.

    `states` holds the stored states of earlier summaries of ours by their entry's id. Where an earlier summary's
    originals are in `seen`, they are used, and of the summary only what a person added to it; else its facts are
    merged in, and an agent's own summary is carried apart as text.
    """
    parts = parts_of(seen, kept, order)
    hidden_by = {one.left_at for one in seen if one.sight == "summarized" and not one.item.mark}
    facts = _collect([part for part in parts if part.item.mark in {"", "shell", "custom"}], profile)
    if any(one.sight == "dropped" for one in seen):
        facts = replace(facts, changes=_changes(seen, kept, profile, order))
    earlier = [part for part in parts if not part.kept and part.item.mark in {"summary", "branch_summary"}]
    summaries = [part for part in earlier if part.item.mark == "summary"]
    for part in reversed(earlier):
        state = from_state((states or {}).get(part.entry))
        if part.entry not in hidden_by:
            facts = merge(_earlier(part, state), facts)
        elif part is summaries[-1] and (read := read_document(part.item.text)) is not None:
            originals = {one.entry: one.item.text for one in parts}
            facts = add(facts, additions(from_sections(read[1]), state or facts, part.entry, originals))
    return facts


def _collect(parts: list[Part], profile: Profile) -> Facts:
    user = wishes(parts)
    all_runs = runs(parts, profile)
    tools = work(all_runs)
    by_entry = {part.entry: part.position for part in parts}
    failures = {
        by_entry.get(run.result_entry, run.position): Quote(line, run.result_entry)
        for run in all_runs
        if run.failed and (line := first_message(run.result))
    }
    actions = {run.position: Quote(action_of(run), run.result_entry) for run in all_runs if run.kind in ACTING}
    agent = claims(parts, profile, failures, actions)
    decided = {(claim.text, claim.entry) for claim in agent.decisions}
    return Facts(
        goal=user.goal,
        constraints=user.constraints,
        messages=tuple(one for one in user.messages if (one.text, one.entry) not in decided),
        decisions=agent.decisions,
        plan=tools.plan or _written_plan(parts),
        milestones=tuple(tools.milestones),
        reports=agent.reports,
        verified=agent.verified,
        unverified=agent.unverified,
        attempts=agent.attempts,
        failures=tuple(tools.failures),
        next_steps=agent.next_steps,
        questions=agent.questions,
        request=user.request,
        changes=tuple(tools.changes.values()),
        reads=tuple(tools.reads.values()),
        commands=tuple(tools.commands.values()),
        links=_links(parts),
    )


def _changes(
    seen: Sequence[Seen], kept: Sequence[Item], profile: Profile, order: Sequence[str]
) -> tuple[FileChange, ...]:
    """The changed files with those that dropped calls changed: of these the path, and no words."""
    dropped = {entry_of(one.item) for one in seen if one.sight == "dropped"}
    parts = [part for part in parts_of(seen, kept, order, ALSO_DROPPED) if part.item.mark in {"", "shell"}]
    return tuple(changes_of(runs(parts, profile), dropped).values())


def _written_plan(parts: Sequence[Part]) -> Plan | None:
    """The newest checklist in the agent's own text, for agents without a plan tool."""
    for part in reversed(parts):
        if part.said_by_agent and (plan := plan_in_text(part.item.text, part.entry)):
            return plan
    return None


def _links(parts: Iterable[Part]) -> tuple[Quote, ...]:
    """Web addresses that the user or the agent wrote, or that a web tool was given; each once, newest last."""
    found: dict[str, Quote] = {}
    for part in parts:
        if part.kept or not (part.said_by_user or part.said_by_agent or part.item.kind == "tool_call"):
            continue
        text = part.item.text if part.item.kind == "text" else str(part.item.arguments)
        if part.item.kind == "text" or len(text) < 2_000:
            for match in _LINK.finditer(text):
                link = clean(match[0].rstrip(".,;:!?*_"))
                found.pop(link, None)
                found[link] = Quote(link, part.entry)
    return tuple(found.values())


def _earlier(part: Part, state: Facts | None) -> Facts:
    """The facts that an earlier summary stands for whose originals are not at hand."""
    read = read_document(part.item.text)
    if read is None:
        return Facts(earlier=(Quote(clean(unwrapped(part.item.text)), part.entry),))
    known = state or Facts()
    return add(known, additions(from_sections(read[1]), known, part.entry, None))


def unwrapped(text: str) -> str:
    """The text between a client's `<summary>` tags, where there are any."""
    match = re.search(r"<summary>\n?(.*?)\n?</summary>", text, re.DOTALL)
    return match[1] if match else text
