"""Commits to grok's sessions: over the captured ones, what a fresh reader sees is what the proposal says."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from core.agents.grok_build import AGENT
from core.agents.grok_build.messages import SUMMARY_PREAMBLE
from core.agents.protocol import Stamp
from core.errors import CommitRefused, SeamlineError
from core.files import Disk, Overlay
from core.opening import Opened, open_session
from core.proposal import Disposition, Proposal, Summary

CONFORMANCE = Path(__file__).resolve().parents[1] / "data" / "conformance" / "grok-build"
CASES = sorted(CONFORMANCE.glob("*/session/chat_history.jsonl"))
STAMP = Stamp(1_780_000_000.0, lambda: "0" * 32)


def proposal_of(opened: Opened, rng: random.Random) -> Proposal:
    listed: list[Disposition] = []
    for unit in opened.units:
        options = opened.options(unit)
        what = rng.choice(sorted(options.allowed))
        if what in ("limit", "point"):
            listed.append(Disposition(unit.id, what, "", (rng.choice(options.results),), "short \u2028 text"))
        elif what != "keep":
            listed.append(Disposition(unit.id, what, ""))
    return Proposal("handoff", tuple(listed), summary=Summary("person", "What was done."))


def expected(opened: Opened, proposal: Proposal) -> list[tuple[str, str]]:
    """Kind and text of each item that the proposal leaves, the summary in the place of the first it stands for."""
    found: dict[int, tuple[str, str]] = {}
    summarised: list[int] = []
    for unit in opened.units:
        of = proposal.of(unit.id)
        for position in unit.items:
            item = opened.view.items[position]
            if any(one.what == "summarize" for one in of):
                summarised.append(position)
            elif not any(one.what == "drop" for one in of):
                short = [one.text or "" for one in of if item.source[0] in one.source and item.kind == "tool_result"]
                found[position] = (item.kind, short[0] if short else item.text)
    if summarised:
        found[min(summarised)] = ("text", f"{SUMMARY_PREAMBLE}\n\nSummary:\nWhat was done.")
    return [found[position] for position in sorted(found)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.parts[-3])
def test_the_after_view_is_what_the_proposal_says(case: Path) -> None:
    try:
        opened = open_session(case)
    except SeamlineError as refused:
        pytest.skip(str(refused))
    for seed in range(6):
        proposal = proposal_of(opened, random.Random(seed))
        try:
            patch = AGENT.encode(opened.session, opened.view, proposal, STAMP)
        except CommitRefused:
            continue
        files = Overlay(Disk(), patch)
        after = open_session(patch.session, files=files)
        if any("[…trimmed…]" in item.text or "too old]" in item.text for item in opened.view.items):
            continue  # what is trimmed in one request only may be whole in the next
        assert [(item.kind, item.text) for item in after.view.items] == expected(opened, proposal)
