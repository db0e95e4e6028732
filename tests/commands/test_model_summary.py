"""`seamline compact --summary model`: the whole way, with a model on the loopback interface."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import pytest

from tests.commands.conftest import Run
from tests.core.model_server import GOOD, KEY, calls_a_tool, fails, says, served

SAMPLE = Path(__file__).parents[2] / "sample_sessions/pi/interface-migration.jsonl"
OPTIONS = ("--yes", "--agent-stopped", "--summary", "model", "--summary-model", "writer", "--summary-window", "200000")


@pytest.fixture
def session(tmp_path: Path) -> Path:
    return Path(shutil.copy(SAMPLE, tmp_path / "session.jsonl"))


def test_a_models_summary_is_committed_with_the_programs_facts(run: Run, session: Path) -> None:
    with served(says(GOOD)) as server:
        ran = run("compact", str(session), *OPTIONS, "--base-url", server.url, OPENAI_API_KEY=KEY)
    assert ran.code == 0, ran.err
    assert len(server.requests) == 1 and "written by: writer" in ran.out
    view = run("view", str(session), "--json").out
    assert "one adapter for old and new calls" in view
    receipts = run("receipts", str(session), "--json")
    assert KEY not in ran.out + ran.err + receipts.out and "adapter" not in receipts.out


@pytest.mark.parametrize("behaviour", [fails(401, f"bad key {KEY}"), calls_a_tool, says("")])
def test_a_failure_leaves_the_session_as_it_was(run: Run, session: Path, behaviour: object) -> None:
    before = hashlib.sha256(session.read_bytes()).hexdigest(), session.stat().st_mtime_ns
    with served(behaviour) as server:  # pyright: ignore[reportArgumentType]
        ran = run("compact", str(session), *OPTIONS, "--base-url", server.url, OPENAI_API_KEY=KEY)
    assert ran.code == 1 and "writer" in ran.first_line and KEY not in ran.out + ran.err
    assert (hashlib.sha256(session.read_bytes()).hexdigest(), session.stat().st_mtime_ns) == before
    assert [path.name for path in session.parent.iterdir()] == ["session.jsonl"]


def test_no_call_is_paid_for_where_nothing_need_go(run: Run, session: Path) -> None:
    with served(says(GOOD)) as server:
        ran = run(
            "compact", str(session), *OPTIONS, "--base-url", server.url, "--window", "1000000", OPENAI_API_KEY=KEY
        )
    assert ran.code == 1 and "nothing need go" in ran.first_line
    assert server.requests == []


def test_without_a_key_it_says_what_to_do(run: Run, session: Path) -> None:
    ran = run("compact", str(session), *OPTIONS)
    assert ran.code == 1 and "OPENAI_API_KEY" in ran.first_line
