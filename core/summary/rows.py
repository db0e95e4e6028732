"""Facts as the sections of the handoff document, and the facts that sections hold."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from core.summary.document import Marks, Row, Section, Style, read_id, written_id
from core.summary.state import Claim, Command, Facts, Failure, FileChange, FileRead, How, Plan, Quote, Status, Step

_STATUS: dict[Status, str] = {"done": "step_done", "active": "step_active", "open": "step_open"}

_HOWS: tuple[How, ...] = ("written", "command", "removed")


def to_sections(facts: Facts) -> tuple[Section, ...]:
    """Every section of the template, in its order, also the empty ones."""
    steps = facts.plan.steps if facts.plan is not None else ()
    done = [step for step in steps if step.status == "done"]
    left = [step for step in steps if step.status != "done"]
    rows: dict[str, Iterable[Row]] = {
        "goal": map(_quote_row, facts.goal),
        "constraints": map(_quote_row, facts.constraints),
        "decisions": map(_claim_row, facts.decisions),
        "done": (
            *(_step_row(step, facts) for step in done),
            *(_command_row(command, "ran") for command in facts.milestones),
            *map(_claim_row, facts.reports),
        ),
        "verified": map(_claim_row, facts.verified),
        "unverified": map(_claim_row, facts.unverified),
        "attempts": map(_claim_row, facts.attempts),
        "errors": map(_failure_row, facts.failures),
        "todo": (*(_step_row(step, facts) for step in left), *map(_claim_row, facts.next_steps)),
        "questions": map(_claim_row, facts.questions),
        "request": map(_quote_row, () if facts.request is None else (facts.request,)),
        "messages": map(_quote_row, facts.messages),
        "earlier": map(_quote_row, facts.earlier),
        "changes": map(_change_row, facts.changes),
        "reads": map(_read_row, facts.reads),
        "commands": map(_command_row, facts.commands),
        "links": map(_quote_row, facts.links),
    }
    return tuple(Section(name, tuple(made)) for name, made in rows.items())


def from_sections(sections: Sequence[Section]) -> Facts:
    """The facts that the rows hold; free text counts as a quote of the entry that it stands in (set by the caller)."""
    rows: dict[str, list[Row]] = {}
    for section in sections:
        rows.setdefault(section.name, []).extend(section.rows)

    def each(name: str, make: Callable[[Row], Any], wanted: Callable[[Row], bool] = lambda _: True) -> tuple[Any, ...]:
        return tuple(make(row) for row in rows.get(name, ()) if wanted(row))

    requests = each("request", _read_quote)
    return Facts(
        goal=each("goal", _read_quote),
        constraints=each("constraints", _read_quote),
        messages=each("messages", _read_quote),
        decisions=each("decisions", _read_claim),
        plan=_read_plan((*rows.get("done", ()), *rows.get("todo", ()))),
        milestones=each("done", _read_command, lambda row: row.label == "ran"),
        reports=each("done", _read_claim, lambda row: not row.label),
        verified=each("verified", _read_claim),
        unverified=each("unverified", _read_claim),
        attempts=each("attempts", _read_claim),
        failures=each("errors", _read_failure),
        next_steps=each("todo", _read_claim, lambda row: not row.label),
        questions=each("questions", _read_claim),
        request=requests[-1] if requests else None,
        changes=each("changes", _read_change),
        reads=each("reads", _read_read),
        commands=each("commands", _read_command),
        links=each("links", _read_quote),
        earlier=each("earlier", _read_quote),
    )


def _quote_row(quote: Quote) -> Row:
    return Row(quote.text, quote.entry, marks=_marks(shortened=quote.shortened))


def _read_quote(row: Row) -> Quote:
    return Quote(row.text, row.entry, row.marked("shortened") is not None)


def _claim_row(claim: Claim) -> Row:
    told: tuple[tuple[str, Style, Quote | None], ...] = (
        ("tried", "code", claim.tried),
        ("error", "quote", claim.error),
        ("against", "quote", claim.against),
    )
    children = [
        Row(quote.text, quote.entry, style, label, _marks(shortened=quote.shortened))
        for label, style, quote in told
        if quote is not None
    ]
    marks = _marks(unverified=claim.hedged, evidence=_id(claim.evidence), shortened=claim.shortened)
    return Row(claim.text, claim.entry, marks=marks, children=tuple(children))


def _read_claim(row: Row) -> Claim:
    return Claim(
        row.text,
        row.entry,
        shortened=row.marked("shortened") is not None,
        hedged=row.marked("unverified") is not None,
        evidence=read_id(row.marked("evidence") or ""),
        against=_child(row, "against"),
        error=_child(row, "error"),
        tried=_child(row, "tried"),
    )


def _child(row: Row, label: str) -> Quote | None:
    return next((_read_quote(child) for child in row.children if child.label == label), None)


def _step_row(step: Step, facts: Facts) -> Row:
    entry = facts.plan.entry if facts.plan is not None else ""
    return Row(step.text, entry, label=_STATUS[step.status])


def _read_plan(rows: Iterable[Row]) -> Plan | None:
    found = [(Step(row.text, status), row.entry) for row in rows for status in _STATUS if row.label == _STATUS[status]]
    return Plan(tuple(step for step, _ in found), found[-1][1]) if found else None


def _failure_row(failure: Failure) -> Row:
    children = tuple(Row(block, "", "quote", "lines") for block in failure.blocks)
    return Row(
        failure.command or " ", failure.entry, "code", marks=_marks(passed=_id(failure.passed)), children=children
    )


def _read_failure(row: Row) -> Failure:
    if row.style == "plain":
        return Failure((row.text,), row.entry)
    blocks = tuple(child.text for child in row.children if child.label == "lines")
    return Failure(blocks, row.entry, "" if row.text == " " else row.text, read_id(row.marked("passed") or ""))


def _change_row(change: FileChange) -> Row:
    marks = (*_marks(times=_times(change.times)), (change.how, ""))
    children = tuple(Row(place, "", "code") for place in change.places)
    return Row(change.path, change.entry, "code", marks=marks, children=children)


def _read_change(row: Row) -> FileChange:
    how: How = "edited"
    for other in _HOWS:
        how = other if row.marked(other) is not None else how
    return FileChange(row.text, row.entry, how, _number(row, "times", 1), tuple(child.text for child in row.children))


def _read_row(read: FileRead) -> Row:
    return Row(read.path, read.entry, "code", marks=_marks(lines=read.lines, times=_times(read.times)))


def _read_read(row: Row) -> FileRead:
    return FileRead(row.text, row.entry, row.marked("lines") or "", _number(row, "times", 1))


def _command_row(command: Command, label: str = "") -> Row:
    code = "" if command.exit is None else str(command.exit)
    failed = command.failed and command.exit in (None, 0)
    marks = _marks(exit=code, failed=failed, times=_times(command.times), shortened=command.shortened)
    return Row(command.command, command.entry, "code", label, marks)


def _read_command(row: Row) -> Command:
    code = row.marked("exit")
    number = int(code) if code is not None and re.fullmatch(r"-?\d+", code) else None
    return Command(
        row.text,
        row.entry,
        exit=number,
        failed=row.marked("failed") is not None or bool(number),
        times=_number(row, "times", 1),
        shortened=row.marked("shortened") is not None,
    )


def _marks(**marks: str | bool) -> Marks:
    return tuple((key, value if isinstance(value, str) else "") for key, value in marks.items() if value)


def _id(entry: str) -> str:
    return written_id(entry) if entry else ""


def _times(times: int) -> str:
    return str(times) if times > 1 else ""


def _number(row: Row, mark: str, default: int) -> int:
    value = row.marked(mark)
    return int(value) if value is not None and value.isdigit() else default
