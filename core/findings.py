"""What is wrong with a session: damage, calls and results without their partner, and what the client would refuse."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.agents import detect
from core.agents.protocol import Agent
from core.errors import ClientRefuses
from core.files import Disk, Files
from core.resume import Overrides
from core.session import Session
from core.view import Item, View, pair_up


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
    found = [Finding(d.line, d.offset, d.kind, d.message, d.client) for d in session.damage]
    resume = agent.resume(session, overrides or Overrides())
    try:
        view = agent.view(session, resume)
    except ClientRefuses as refusal:
        found.append(Finding(None, None, "refused", str(refusal), f"{agent.profile.title} does not load the session"))
    else:
        found += [Finding(d.line, d.offset, d.kind, d.message, d.client) for d in agent.findings(session, resume)]
        known = {(finding.offset, finding.kind) for finding in found}
        found += [one for one in _pairing(session, view) if (one.offset, one.kind) not in known]
    return Checked(agent, session, tuple(sorted(found, key=lambda finding: (finding.offset or 0, finding.kind))))


def _pairing(session: Session, view: View) -> Iterator[Finding]:
    """Calls without a result and results without a call, as they would be sent."""
    pairing = pair_up(view.items)
    made_up = {item.call_id: item.text for item in view.fresh if item.kind == "tool_result"}
    for at in pairing.unanswered:
        said = made_up.get(view.items[at].call_id)
        client = "sends the call as it is" if said is None else _adds(said)
        yield _finding(session, view.items[at], "unanswered-call", "has no result", client)
    for at in pairing.orphans:
        yield _finding(session, view.items[at], "orphaned-result", "answers no call", "sends the result as it is")
    for call, result in pairing.pairs:
        if view.items[result].origin == "repair":
            client = _adds(view.items[result].text)
            yield _finding(session, view.items[call], "unanswered-call", "has no result", client)


def _adds(text: str) -> str:
    return f"adds a result at each request: {' '.join(text.split())}"


def _finding(session: Session, item: Item, kind: str, what: str, client: str) -> Finding:
    entry = session.entry(item.source[0].entry) if item.source else None
    name = f"{item.name} " if item.name else ""
    subject = f"the {'call' if item.kind == 'tool_call' else 'result'} {name}({item.call_id})"
    where = f"entry {entry.id}: " if entry else ""
    return Finding(
        entry.line if entry else None, entry.offset if entry else None, kind, f"{where}{subject} {what}", client
    )
