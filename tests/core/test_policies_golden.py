"""The agents' own policies against their real clients: the same cut, the same kept set, the same limits.

Each captured session that a client compacted by itself is cut right before that compaction; the policy then has to
propose what the client did.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core.opening import Opened, open_session
from core.policies import propose
from core.policies.settings import Settings
from core.proposal import Proposal
from core.view import Unit

CASES = Path(__file__).parents[1] / "data/conformance"

PI_KEPT = 60
"""Tokens that the captured clients were told to keep: any figure from 24 to 85 gives their cuts."""


def before(agent: str, case: str, *kinds: str) -> Iterator[tuple[list[bytes], dict[str, Any]]]:
    """For each compaction of a captured session: the lines before it, and its record."""
    folder = CASES / agent / case
    packed = folder / "session.jsonl.zstd"
    if packed.exists():
        import zstandard

        whole = (
            zstandard.ZstdDecompressor().stream_reader(io.BytesIO(packed.read_bytes()), read_across_frames=True).read()
        )
    else:
        whole = (folder / "session.jsonl").read_bytes()
    lines = whole.splitlines(keepends=True)
    for number, line in enumerate(lines):
        record = json.loads(line)
        if record["type"] in kinds or record.get("subtype") in kinds:
            yield lines[:number], record


def opened(lines: list[bytes], folder: Path) -> Opened:
    path = folder / "session.jsonl"
    path.write_bytes(b"".join(lines))
    return open_session(path)


def kept(session: Opened, proposal: Proposal) -> list[Unit]:
    gone = {d.unit for d in proposal.dispositions if d.what in ("summarize", "drop")}
    return [unit for unit in session.units if unit.id not in gone]


@pytest.mark.parametrize(
    ("case", "times"),
    [
        ("native_auto_compaction", 1),
        ("native_compaction", 1),
        ("native_split_turn", 1),
        ("native_two_compactions", 2),
        ("native_overflow_recovery", 1),
    ],
)
def test_pi_cuts_where_pi_cut(case: str, times: int, tmp_path: Path) -> None:
    seen = 0
    for lines, record in before("pi", case, "compaction"):
        seen += 1
        proposal = propose(opened(lines, tmp_path), Settings(keep_recent=PI_KEPT), "pi")
        assert proposal.cut is not None and proposal.cut.first_kept == record["firstKeptEntryId"]
        assert bool(proposal.cut.split) == ("**Turn Context (split turn):**" in record["summary"])
    assert seen == times


@pytest.mark.parametrize(
    ("case", "times"), [("compaction_manual", 1), ("compaction_preturn_twice", 2), ("compaction_midturn", 1)]
)
def test_codex_keeps_the_messages_that_codex_kept(case: str, times: int, tmp_path: Path) -> None:
    seen = 0
    for lines, record in before("codex", case, "compacted"):
        seen += 1
        session = opened(lines, tmp_path)
        mine = [
            session.view.items[unit.first].text
            for unit in kept(session, propose(session, Settings(), "codex"))
            if unit.starts_turn
        ]
        messages = [item for item in record["payload"]["replacement_history"] if item.get("role") == "user"]
        texts = [message["content"][0]["text"] for message in messages]
        assert mine == [text for text in texts if not text.startswith(("<", "Another language model"))]
    assert seen == times


@pytest.mark.parametrize(
    ("case", "times"), [("native_compact", 1), ("native_compact_twice", 2), ("native_auto_compact", 1)]
)
def test_claude_code_keeps_the_lines_that_claude_code_kept(case: str, times: int, tmp_path: Path) -> None:
    seen = 0
    for lines, record in before("claude-code", case, "compact_boundary"):
        seen += 1
        session = opened(lines, tmp_path)
        mine = [entry for unit in kept(session, propose(session, Settings(), "claude-code")) for entry in unit.entries]
        assert mine == record["compactMetadata"]["preservedMessages"]["uuids"]
    assert seen == times


def test_dsh_prunes_the_results_that_dsh_pruned(tmp_path: Path) -> None:
    seen = 0
    for lines, record in before("dsh", "native_prune_auto", "compaction/prune"):
        seen += 1
        session = opened(lines, tmp_path)
        limited = [d for d in propose(session, Settings(), "dsh").dispositions if d.what == "limit"]
        assert [int(d.source[0].entry) for d in limited] == record["data"]["shadowedSeqs"]
    assert seen == 2


def test_dsh_shadows_the_events_that_dsh_shadowed(tmp_path: Path) -> None:
    """`/compact` keeps nothing but the last event."""
    seen = 0
    for lines, record in before("dsh", "native_manual_twice", "compaction/summary"):
        seen += 1
        session = opened(lines, tmp_path)
        gone = [d.unit for d in propose(session, Settings(keep_recent=0), "dsh").dispositions if d.what == "summarize"]
        mine = [int(entry) for unit in session.units if unit.id in gone for entry in unit.entries]
        assert mine == record["data"]["shadowedSeqs"]
    assert seen == 2
