"""Facts of an earlier summary put together with newer ones, so that a summary is never made of a summary's prose."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TypeVar

from core.summary.document import neutral
from core.summary.shell import same_run
from core.summary.state import Claim, Command, Facts, Failure, FileChange, FileRead, Quote
from core.summary.work import PLACES

_Worded = TypeVar("_Worded", Quote, Claim)
_Indexed = TypeVar("_Indexed", FileRead, FileChange, Command)


def merge(older: Facts, newer: Facts) -> Facts:
    """The facts of two spans that follow each other. What is a state of things (plan, request) is the newer one's."""
    ran = {same_run(one.command): one for one in (*newer.commands, *newer.milestones)}
    return Facts(
        goal=older.goal or newer.goal,
        constraints=_worded(older.constraints, newer.constraints),
        messages=_worded(
            older.messages, (*_former_request(older, newer), *(newer.goal if older.goal else ())), newer.messages
        ),
        decisions=_worded(older.decisions, newer.decisions),
        plan=newer.plan or older.plan,
        milestones=_indexed(_standing(older.milestones, newer, ran), newer.milestones),
        reports=_worded(older.reports, newer.reports),
        verified=_worded(older.verified, newer.verified),
        unverified=_worded(older.unverified, newer.unverified),
        attempts=_worded(older.attempts, newer.attempts),
        failures=newer.failures or tuple(_passed(failure, ran) for failure in older.failures),
        next_steps=newer.next_steps or older.next_steps,
        questions=_worded(older.questions, newer.questions),
        request=newer.request or older.request,
        changes=_indexed(older.changes, newer.changes),
        reads=_indexed(older.reads, newer.reads),
        commands=_indexed(older.commands, newer.commands),
        links=_worded(older.links, newer.links),
        earlier=_worded(older.earlier, newer.earlier),
    )


def _former_request(older: Facts, newer: Facts) -> tuple[Quote, ...]:
    """The older span's last request, where it is no longer the last one and stands nowhere else."""
    former = older.request
    if former is None or newer.request is None or former.shortened or former.text == newer.request.text:
        return ()
    return () if any(former.text == quote.text for quote in older.goal) else (former,)


def _standing(milestones: Iterable[Command], newer: Facts, ran: Mapping[str, Command]) -> Iterator[Command]:
    """The milestones that did not fail when they were run anew."""
    failed = {same_run(failure.command) for failure in newer.failures if not failure.passed}
    failed |= {command for command, run in ran.items() if run.failed}
    return (one for one in milestones if one.shortened or same_run(one.command) not in failed)


def _passed(failure: Failure, ran: Mapping[str, Command]) -> Failure:
    later = ran.get(same_run(failure.command))
    return replace(failure, passed=later.entry) if later is not None and not later.failed else failure


def _worded(*groups: Iterable[_Worded]) -> tuple[_Worded, ...]:
    """Each text once, where it stands first; a whole text before a shortened one of the same beginning."""
    found: dict[str, _Worded] = {}
    for group in groups:
        for one in group:
            found.setdefault(neutral(one.text), one)
    return tuple(found.values())


def _indexed(older: Iterable[_Indexed], newer: Iterable[_Indexed]) -> tuple[_Indexed, ...]:
    found: dict[Hashable, _Indexed] = {}
    for one in (*older, *newer):
        key = one.command if isinstance(one, Command) else one.path
        before = found.pop(key, None)
        found[key] = _together(before, one) if before is not None else one
    return tuple(found.values())


def _together(before: FileRead | FileChange | Command, after: _Indexed) -> _Indexed:
    times = before.times + after.times
    if isinstance(after, FileChange) and isinstance(before, FileChange):
        places = tuple(dict.fromkeys((*before.places, *after.places)))[-PLACES:]
        how = "written" if before.how == "written" and after.how == "edited" else after.how
        return replace(after, times=times, places=places, how=how)
    if isinstance(after, FileRead) and isinstance(before, FileRead):
        spans = dict.fromkeys([*before.lines.split(", "), *after.lines.split(", ")])
        return replace(after, times=times, lines="" if "" in spans else ", ".join(spans))
    return replace(after, times=times)


def additions(written: Facts, known: Facts, entry: str, originals: Mapping[str, str] | None) -> Facts:
    """What a summary's text holds beyond what is known: the words of the person or model that worked on it.

    `entry` is the summary's own: what was put in its text is a quote of it. With `originals` (text by entry), only
    words that are not in the original of their entry count as added; without, everything that is not known.
    """
    told = {neutral(one.text) for group in _quoted(known) for one in group}

    def added(group: Iterable[_Worded]) -> tuple[_Worded, ...]:
        found: list[_Worded] = []
        for one in group:
            if one.shortened or neutral(one.text) in told:
                continue
            original = None if originals is None else originals.get(one.entry)
            if original is not None and one.text in neutral(original):
                continue
            found.append(one if originals is None and one.entry else replace(one, entry=entry))
        return tuple(found)

    own = Facts(
        goal=added(written.goal),
        constraints=added(written.constraints),
        messages=added(written.messages),
        decisions=added(written.decisions),
        reports=added(written.reports),
        verified=added(written.verified),
        unverified=tuple(replace(claim, hedged=True) for claim in added(written.unverified)),
        attempts=added(written.attempts),
        next_steps=added(written.next_steps),
        questions=added(written.questions),
    )
    if originals is not None:
        return own
    paths = {change.path for change in known.changes}
    return replace(
        own,
        plan=None if known.plan else written.plan,
        request=None if known.request else written.request,
        milestones=() if known.milestones else written.milestones,
        failures=() if known.failures else written.failures,
        changes=tuple(change for change in written.changes if change.path not in paths),
        reads=() if known.reads else written.reads,
        commands=() if known.commands else written.commands,
        links=() if known.links else written.links,
        earlier=() if known.earlier else written.earlier,
    )


def add(base: Facts, extra: Facts) -> Facts:
    """`base` with the additions at the end of each list."""
    return replace(
        merge(base, replace(extra, goal=(), request=None, plan=None, failures=(), next_steps=())),
        goal=_worded(base.goal, extra.goal),
        next_steps=_worded(base.next_steps, extra.next_steps),
        plan=base.plan or extra.plan,
        request=base.request or extra.request,
        failures=base.failures or extra.failures,
    )


def _quoted(facts: Facts) -> Iterable[Iterable[Quote | Claim]]:
    request = () if facts.request is None else (facts.request,)
    return (
        *(facts.goal, facts.constraints, facts.messages, facts.questions, facts.links, facts.earlier, request),
        *(facts.decisions, facts.reports, facts.verified, facts.unverified, facts.attempts, facts.next_steps),
    )
