"""A proposal as bytes at the end of a Claude Code session: lines that make the client resume with the approved view.

The order is what makes a torn append harmless (2.1.332): results written again under their uuid, context lines that
stay as plain texts, the summary, and only then the boundary, which brings the new order into force; behind it the leaf.
A beginning of it that stops at any byte leaves the old view, perhaps with some of the approved shortenings, and perhaps
with those texts once more and the summary at its end, behind which a call without a result is not sent; or, from the
boundary on, the approved view.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from core import jsonl
from core.agents.claude_code.arranging import Arrangement, arrange
from core.agents.claude_code.compacting import metadata, summary_text
from core.agents.claude_code.records import detail, record
from core.agents.claude_code.rewriting import shortened
from core.agents.claude_code.siblings import MESSAGES
from core.agents.claude_code.units import options, units
from core.agents.deciding import Deciding, Decisions
from core.agents.line_ends import line_end_of
from core.agents.pi.chain import iso_time
from core.agents.protocol import Stamp
from core.errors import CommitRefused
from core.patch import Append, Patch
from core.proposal import Proposal
from core.session import Session
from core.view import View

COPIED = ("userType", "entrypoint", "cwd", "version", "gitBranch", "slug")
"""Fields that a new line has as the last one of the conversation has them."""

OTHER_COMPACTION = "marble-origami"
"""How the types of lines begin with which the client collapses context in a way of its own, which we don't know."""


def encode(session: Session, view: View, proposal: Proposal, stamp: Stamp) -> Patch:
    """The proposal as an append. Raises CommitRefused where this file, or this format, can't carry it in place."""
    if any(entry.kind.startswith(OTHER_COMPACTION) for entry in session.entries):
        words = "Claude Code has collapsed parts of it in its own way, which a commit could contradict: use --as fork"
        raise CommitRefused(f"{session.path}: {words}")
    lines = new_lines(session, view, proposal, stamp, Target(session.identity, detail(session).asked))
    if lines is None:
        raise CommitRefused(f"{session.path}: nothing in the view would change")
    # The leaf is named first, too: a line that is written again would else be taken for the end of the conversation.
    records = [leaf_line(session, session.leaf or "", session.identity), *lines.again.values(), *lines.added]
    size = session.files.size(session.path)
    end = line_end_of(session.files, session.path)
    data = b"".join(jsonl.encode(value) + end for value in records)
    if size and session.files.read(session.path, size - 1, 1) != b"\n":
        data = end + data
    return Patch((Append(session.path, size, data),), session.path, "append")


@dataclass(frozen=True)
class Target:
    """The file that lines are made for."""

    identity: str
    """Its session's id."""
    bounded: bool
    """Whether a boundary is needed for the conversation to end at its leaf."""


@dataclass(frozen=True)
class Lines:
    """What carries a proposal out."""

    again: dict[str, dict[str, Any]]
    """Lines of the conversation, written anew under their uuids: of two with one uuid the client takes the later."""
    added: list[dict[str, Any]]
    """New lines, for behind those."""


def new_lines(session: Session, view: View, proposal: Proposal, stamp: Stamp, target: Target) -> Lines | None:
    """The lines that carry the proposal out; None where nothing would change. Raises CommitRefused."""
    check_writable(session)
    decisions = Deciding(view, units(view), options).decide(proposal)
    if not decisions.gone and not decisions.results:
        return None
    again = {value["uuid"]: value | {"sessionId": target.identity} for value in shortened(session, view, decisions)}
    if not decisions.gone and not target.bounded:
        return Lines(again, [])
    arrangement = arrange(session, view, decisions)
    if decisions.summary is None and not any(line.entry.kind in MESSAGES for line in arrangement.lines):
        raise CommitRefused(f"{session.path}: nothing would be left to go on from: keep or summarise a message")
    compaction = _Compaction(session, view, stamp, target)
    compaction.add(proposal, decisions, arrangement)
    return Lines(again, compaction.records)


def check_writable(session: Session) -> None:
    """Raise CommitRefused where the file holds no conversation that the client would resume."""
    if detail(session).subagent:
        words = "it is the conversation of a sub-agent, which the client never resumes: compact the session it is of"
        raise CommitRefused(f"{session.path}: {words}")
    if session.leaf is None or not detail(session).path:
        raise CommitRefused(f"{session.path}: Claude Code finds no conversation here, so there is nothing to change")


@dataclass
class _Compaction:
    """The lines of a compaction in the making: the summary, the boundary that lists what stays, and the leaf."""

    session: Session
    view: View
    stamp: Stamp
    target: Target
    records: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    def add(self, proposal: Proposal, decisions: Decisions, arrangement: Arrangement) -> None:
        """What is new hangs on the old leaf, until the boundary puts it in its place."""
        renamed = {line.id: self._text(texts) for line, texts in arrangement.as_texts}
        kept = [renamed.get(line.id, line.id) for line in arrangement.lines]
        listed, wrapped = kept, ""
        if decisions.summary is not None:
            wrapped = summary_text(decisions.summary.text, self.session.path.absolute(), bool(kept))
            listed = [self._summary(wrapped), *kept]
        boundary = self._new_id()
        self._line(
            type="system",
            subtype="compact_boundary",
            content="Conversation compacted",
            isMeta=False,
            level="info",
            uuid=boundary,
            parentUuid=None,
            logicalParentUuid=self.session.leaf,
            compactMetadata=metadata(self.session, self.view, proposal, decisions, boundary, listed, wrapped),
        )
        self.records.append(leaf_line(self.session, listed[-1], self.target.identity))

    def _summary(self, text: str) -> str:
        """The line of the summary; its uuid."""
        own, above = self._new_id(), self._above()
        message = {"role": "user", "content": text}
        flags = {"isVisibleInTranscriptOnly": True, "isCompactSummary": True}
        self._line(type="user", message=message, **flags, uuid=own, parentUuid=above)
        return own

    def _text(self, texts: Sequence[str]) -> str:
        """The new line for a context line; its uuid."""
        own, above = self._new_id(), self._above()
        content = [{"type": "text", "text": text} for text in texts]
        self._line(type="user", message={"role": "user", "content": content}, isMeta=True, uuid=own, parentUuid=above)
        return own

    def _above(self) -> str | None:
        """The line that the next one hangs on."""
        return self.records[-1]["uuid"] if self.records else self.session.leaf

    def _line(self, **fields: Any) -> None:
        last = record(self.session, detail(self.session).path[-1].entry)
        time = iso_time(self.stamp.now + len(self.records) / 1000)
        common = {name: last[name] for name in COPIED if name in last}
        head = {"parentUuid": fields.pop("parentUuid"), "isSidechain": False}
        self.records.append({**head, **fields, "timestamp": time, "sessionId": self.target.identity, **common})

    def _new_id(self) -> str:
        return str(UUID(hex=self.stamp.new_id(), version=4))


def leaf_line(session: Session, leaf: str, identity: str) -> dict[str, Any]:
    """The line that says where the conversation ends, with the words by which the client lists the session."""
    last = next((entry for entry in reversed(session.entries) if entry.kind == "last-prompt"), None)
    words = record(session, last).get("lastPrompt") if last is not None else None
    prompt = words if isinstance(words, str) else session.title
    return {"type": "last-prompt", "lastPrompt": prompt, "leafUuid": leaf, "sessionId": identity}
