"""The two lines of a compaction as Claude Code 2.1.332 writes them: the summary in its wrapper, and the boundary."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from core.agents.claude_code.records import Line, detail, record
from core.agents.claude_code.usage import estimate, tokens_now
from core.agents.deciding import Decisions
from core.proposal import Proposal
from core.session import Session
from core.view import View

OPENING = (
    "This session is being continued from a previous conversation that ran out of context. The summary below covers "
    "the earlier portion of the conversation."
)

TRANSCRIPT = (
    "If you need specific details from before compaction (like exact code snippets, error messages, or content you "
    "generated), read the full transcript at: "
)

GO_ON = (
    "Continue the conversation from where it left off without asking the user any further questions. Resume directly "
    '— do not acknowledge the summary, do not recap what was happening, do not preface with "I\'ll continue" or '
    "similar. Pick up the last task as if the break never happened."
)

KEPT = (
    "The messages after this summary are the most recent messages from before compaction, kept verbatim. The summary "
    "was written without seeing them, so something it says has not happened yet may already have happened in them."
)


def summary_text(summary: str, transcript: Path, kept: bool) -> str:
    """What the model gets: the summary in the words that the client puts around one of its own.

    `transcript` is the file that holds what was summarised, also for a fork; `kept`: whether messages follow.
    """
    text = f"{OPENING}\n\nSummary:\n{summary}\n\n{TRANSCRIPT}{transcript}\n{GO_ON}"
    return f"{text}\n\n{KEPT}" if kept else text


def metadata(
    session: Session,
    view: View,
    proposal: Proposal,
    decisions: Decisions,
    boundary: str,
    listed: Sequence[str],
    wrapped: str,
) -> dict[str, Any]:
    """The boundary's `compactMetadata`: always complete, as earlier versions fail on less.

    `listed` are the lines that stay, in their new order, behind `boundary` itself; `wrapped` is the summary's text.
    """
    before = tokens_now(session, view)
    after = max(0, before - _freed(view, decisions) + -(-len(wrapped) // 4))
    return {
        "trigger": "manual",
        "preTokens": before,
        "postTokens": after,
        "cumulativeDroppedTokens": _dropped_before(session) + max(0, before - after),
        "durationMs": 0,
        "preservedSegment": {"headUuid": listed[0], "anchorUuid": boundary, "tailUuid": listed[-1]},
        "preservedMessages": {"anchorUuid": boundary, "uuids": list(listed), "allUuids": list(listed)},
        "seamline": _ours(proposal, decisions),
    }


def _ours(proposal: Proposal, decisions: Decisions) -> dict[str, Any]:
    """What only Seamline reads: the client carries unknown fields along."""
    told: dict[str, Any] = {"policy": proposal.policy}
    if decisions.summary is not None:
        told["writer"] = decisions.summary.writer
        if decisions.summary.state is not None:
            told["state"] = decisions.summary.state
    told["dropped"] = list(decisions.entries_gone("drop"))
    return told


def _freed(view: View, decisions: Decisions) -> int:
    """Tokens that go, by the client's own rough rule."""
    gone = sum(estimate(view.items[at]) for unit in decisions.units if unit.id in decisions.gone for at in unit.items)
    for item in view.items:
        change = decisions.results.get(item.source[0]) if item.kind == "tool_result" and item.source else None
        if change is not None:
            gone += estimate(item) - -(-len(change.text) // 4)
    return gone


def _dropped_before(session: Session) -> int:
    """What earlier compactions of this session dropped, as the last boundary says."""
    boundary: Line | None = detail(session).boundary
    stored = record(session, boundary.entry).get("compactMetadata") if boundary is not None else None
    count = stored.get("cumulativeDroppedTokens") if isinstance(stored, dict) else None
    return count if isinstance(count, int) and not isinstance(count, bool) and count > 0 else 0
