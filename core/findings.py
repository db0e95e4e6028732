"""What is wrong with a session: damage, calls and results without their partner, and what the client would refuse."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from core.agents import PRETTY_PRINTED, detect
from core.agents.protocol import Agent
from core.broken import LONGEST, cause_of, is_indented_run, is_pretty_printed
from core.errors import ClientRefuses
from core.files import Disk, Files
from core.jsonl import BYTE_ORDER_MARK
from core.pairing_findings import lost_pairs, unsent_pairs
from core.resume import Overrides
from core.session import Damage, Session
from core.surrogates import half_character_findings

UNREADABLE = frozenset({"broken-line", "broken-message", "not-a-record", "nul-line"})
"""Kinds of damage that are looked into for what befell the line."""

OF_INDENTATION = UNREADABLE | {"not-json-lines", "spliced-records", "pretty-printed", "torn-tail", "unclosed"}
"""Kinds of damage that a file shows all over when its records were spread over several lines."""

FEWEST_IN_A_RUN = 3
"""Damaged lines in a row that are told as one finding."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong, where, and what the real client does about it."""

    line: int | None
    """Physical line in the file, from 1; None where it concerns the whole session."""
    offset: int | None
    """Bytes from the start of the file."""
    kind: str
    message: str
    client: str

    def to_json(self) -> dict[str, Any]:
        """One of `findings` in `check/1`."""
        return {
            "line": self.line,
            "offset": self.offset,
            "kind": self.kind,
            "message": self.message,
            "client": self.client,
        }


@dataclass(frozen=True, slots=True)
class Checked:
    """A session's findings, in the order of the file."""

    agent: Agent
    session: Session
    findings: tuple[Finding, ...]

    def to_json(self) -> dict[str, Any]:
        """The form `check/1`."""
        return {
            "schema": "check/1",
            "agent": self.agent.name,
            "session": {"path": str(self.session.path), "fingerprint": self.session.fingerprint},
            "entries": len(self.session.entries),
            "findings": [finding.to_json() for finding in self.findings],
        }


def check_session(
    path: Path, overrides: Overrides | None = None, files: Files | None = None, leaf: str | None = None
) -> Checked:
    """Look a session over; one that the client refuses is still read as far as it goes. Raises NotASession, OSError."""
    source = Disk() if files is None else files
    agent = detect(source, path)
    session = agent.open(source, path, leaf)
    explained = [_explained(session, one) for one in session.damage]
    found = [_of(damage) for damage in _of_file(session, list(_in_runs(session, explained)))]
    resume = agent.resume(session, overrides or Overrides())
    try:
        view = agent.view(session, resume)
    except ClientRefuses as refusal:
        found.append(Finding(None, None, "refused", str(refusal), f"{agent.profile.title} does not load the session"))
        found += map(_of, half_character_findings(session, None))
    else:
        found += map(_of, agent.findings(session, resume))
        known = {(finding.offset, _about(finding.kind)) for finding in found}
        found += [_of(one) for one in lost_pairs(session, view) if (one.offset, _about(one.kind)) not in known]
        told = {finding.offset for finding in found if finding.kind.endswith(("-call", "-result"))}
        unsent = unsent_pairs(session, view, agent.history(session, resume))
        found += [_of(one) for one in unsent if one.offset not in told]
        found += map(_of, half_character_findings(session, view))
    return Checked(agent, session, tuple(sorted(found, key=lambda finding: (finding.offset or 0, finding.kind))))


def _about(kind: str) -> str:
    """What a finding is about: a call without a result is one thing, whatever became of the result."""
    return "unanswered-call" if kind == "in-flight-call" else kind


def _of(damage: Damage) -> Finding:
    # Negative numbers: the damage concerns no single place.
    placed = damage.line >= 0
    return Finding(
        damage.line if placed else None,
        damage.offset if placed else None,
        damage.kind,
        damage.message,
        damage.client,
    )


def _explained(session: Session, damage: Damage) -> Damage:
    """The damage with what befell the line, as far as its bytes tell."""
    if damage.kind not in UNREADABLE or not damage.length:
        return damage
    data = session.files.read(session.path, damage.offset, min(damage.length, LONGEST))
    if damage.kind == "not-a-record" and not data.startswith(BYTE_ORDER_MARK):
        return damage
    cause = cause_of(data.rstrip(b"\r\n"))
    return damage if cause is None else replace(damage, kind=cause.kind, message=cause.message)


def _in_runs(session: Session, damage: Sequence[Damage]) -> Iterator[Damage]:
    """The damage, with many damaged lines in a row told as one: what an editor did to a file is one fault."""
    run: list[Damage] = []
    for one in damage:
        if run and (one.kind not in UNREADABLE or one.line != run[-1].line + 1):
            yield from _as_one(session, run)
            run = []
        if one.kind in UNREADABLE:
            run.append(one)
        else:
            yield one
    yield from _as_one(session, run)


def _as_one(session: Session, run: list[Damage]) -> Sequence[Damage]:
    if len(run) < FEWEST_IN_A_RUN:
        return run
    first, last = run[0], run[-1]
    length = last.offset + last.length - first.offset
    words = f"lines {first.line:,} to {last.line:,}, {len(run):,} in a row: {first.message}"
    if is_indented_run(session.files.read(session.path, first.offset, min(length, 1 << 16))):
        return (replace(first, length=length, kind="pretty-printed", message=f"{words}: {PRETTY_PRINTED}"),)
    return (replace(first, length=length, message=words),)


def _of_file(session: Session, damage: Sequence[Damage]) -> Iterator[Damage]:
    """The damage, with what the beginning of the file tells of the whole of it."""
    head = session.files.read(session.path, 0, 1 << 16)
    if session.path.suffix == ".jsonl" and is_pretty_printed(head):
        of_lines = [one for one in damage if one.kind in OF_INDENTATION]
        damage = [one for one in damage if one.kind not in OF_INDENTATION]
        if of_lines:
            size = session.files.size(session.path)
            yield Damage(1, 0, size, "pretty-printed", PRETTY_PRINTED, of_lines[0].client)
    if head.startswith(BYTE_ORDER_MARK) and not any(one.kind == "byte-order-mark" for one in damage):
        client = "many JSON readers refuse the file; it is passed over here"
        yield Damage(1, 0, 3, "byte-order-mark", "a byte order mark before the first line", client)
    yield from damage
