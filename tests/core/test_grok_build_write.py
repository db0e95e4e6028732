"""grok-build's writer: a new history in the place of the old one, in which untouched lines keep their bytes."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.agents.grok_build.messages import COMPACTION, SUMMARY_PREAMBLE
from core.approving import approve
from core.commit import Journal, undo
from core.edits import set_what
from core.errors import ClientRefuses, CommitRefused, EditRefused
from core.opening import Opened, open_session
from core.planning import plan_session, revise
from core.policies.settings import Settings
from core.proposal import Disposition, Proposal, Summary
from core.resume import Overrides
from core.view import pair_up
from tests.core.pi_sessions import stamp

ROOT = Path(__file__).parents[2]
CASES = sorted((ROOT / "tests/data/conformance/grok-build").glob("*/session/chat_history.jsonl"))
(ENGLISH,) = (ROOT / "sample_sessions/grok-build/interface-migration").glob("*/chat_history.jsonl")


@pytest.fixture
def session(tmp_path: Path) -> Path:
    """A copy of the English sample, with its folder."""
    folder = shutil.copytree(ENGLISH.parent, tmp_path / ENGLISH.parent.name)
    return Path(folder, ENGLISH.name)


def lines(opened: Opened, path: Path) -> list[bytes]:
    """The lines of a file as the session's own source gives them: of the disk, or under a patch."""
    files = opened.session.files
    return files.read(path, 0, files.size(path)).split(b"\n")


def test_a_summary_stands_in_groks_own_words_and_marks(session: Path) -> None:
    opened = open_session(session)
    plan = plan_session(opened, "handoff", Settings(target=9_000), stamp())
    assert plan.commits_as == "replace" and not [check for check in plan.checks if not check.ok]
    new = [json.loads(line) for line in lines(plan.after, session) if line]
    (summary,) = [line for line in new if line.get("synthetic_reason") == COMPACTION]
    assert summary["content"][0]["text"].startswith(f"{SUMMARY_PREAMBLE}\n\nSummary:\n# Handoff")
    assert "prompt_index" not in summary
    assert new[0]["type"] == "system" and new[1]["content"][0]["text"].startswith("<user_info>")
    assert plan.patch is not None and plan.patch.locks == (session.with_name("chat_history.jsonl.lock"),)


def test_commit_and_undo_give_back_the_same_bytes(session: Path) -> None:
    before = hashlib.sha256(session.read_bytes()).hexdigest(), session.stat().st_mtime_ns, session.stat().st_mode
    names = sorted(path.name for path in session.parent.iterdir())
    plan = plan_session(open_session(session), "handoff", Settings(target=9_000), stamp())
    receipt = approve(plan, stamp(), agent_stopped=True)
    assert receipt.result == session
    assert open_session(session).view.items == plan.after.view.items
    assert sorted(path.name for path in session.parent.iterdir()) == names
    with Journal() as journal:
        undo(session, journal, now=stamp().now, known_running=lambda path: None)
    after = hashlib.sha256(session.read_bytes()).hexdigest(), session.stat().st_mtime_ns, session.stat().st_mode
    assert after == before


def test_a_fork_is_a_session_of_its_own_beside_the_old_one(session: Path) -> None:
    before = session.read_bytes()
    opened = open_session(session)
    plan = plan_session(opened, "handoff", Settings(target=9_000), stamp(), fork=True)
    receipt = approve(plan, stamp(), agent_stopped=True)
    made = open_session(receipt.result)
    assert session.read_bytes() == before
    assert made.session.identity == receipt.result.parent.name != opened.session.identity
    assert receipt.result.parent.parent == session.parent.parent
    assert made.view.items == plan.after.view.items


def test_an_earlier_end_can_only_be_forked(session: Path) -> None:
    whole = open_session(session)
    leaf = whole.session.entries[60].id
    early = open_session(session, leaf=leaf)
    unit = next(unit for unit in early.units if unit.kind == "exchange")
    proposal = Proposal("handoff", (Disposition(unit.id, "drop", "by hand"),))
    with pytest.raises(CommitRefused, match="fork"):
        early.agent.encode(early.session, early.view, proposal, stamp())
    plan = revise(early, proposal, Settings(), stamp(), fork=True)
    assert len(plan.after.session.entries) == 61 - len(unit.entries)


def test_a_history_that_grok_makes_anew_is_refused() -> None:
    rebuilt = open_session(ROOT / "tests/data/conformance/grok-build/rebuilt_from_updates/session/updates.jsonl")
    proposal = Proposal("handoff", (Disposition(rebuilt.units[-1].id, "drop", "by hand"),))
    with pytest.raises(CommitRefused, match="resume it once"):
        rebuilt.agent.encode(rebuilt.session, rebuilt.view, proposal, stamp())


def test_a_pointer_takes_the_place_of_the_content_only(session: Path) -> None:
    opened = open_session(session, Overrides(window=1_000_000))
    unit = next(unit for unit in opened.units if opened.options(unit).results)
    plan = revise(opened, set_what(opened, Proposal("handoff"), unit.id, "point"), Settings(), stamp())
    old, new = session.read_bytes().split(b"\n"), lines(plan.after, session)
    changed = [(json.loads(a), json.loads(b)) for a, b in zip(old, new, strict=True) if a != b]
    assert len(changed) == len(opened.options(unit).results)
    for before, after in changed:
        assert before | {"content": after["content"]} == after and len(after["content"]) < len(before["content"])


@settings(max_examples=60)
@given(st.sampled_from(CASES), st.data())
def test_any_edits_keep_pairs_whole_and_untouched_lines_as_they_are(path: Path, data: st.DataObject) -> None:
    try:
        opened = open_session(path)
    except ClientRefuses:
        return
    proposal = Proposal("handoff")
    for unit in data.draw(st.lists(st.sampled_from(opened.units), max_size=4)) if opened.units else []:
        what = data.draw(st.sampled_from(["summarize", "drop", "point", "limit", "keep"]))
        try:
            proposal = set_what(opened, proposal, unit.id, what)
        except EditRefused:
            continue
    if not proposal.dispositions:
        return
    plan = revise(opened, replace_summary(proposal), Settings(), stamp())
    if plan.patch is None:
        assert plan.why
        return
    failed = {check.id for check in plan.checks if not check.ok and not check.id.startswith("summary")}
    assert failed <= {"smaller"}, [check.message for check in plan.checks if not check.ok]
    before, after = pair_up(opened.view.items), pair_up(plan.after.view.items)
    assert len(after.orphans) <= len(before.orphans) and len(after.unanswered) <= len(before.unanswered)
    if plan.commits_as == "replace":
        old = path.read_bytes().split(b"\n")
        stays = [line for line in lines(plan.after, path) if line in old]
        assert stays == [line for line in old if line in set(stays)][: len(stays)] or len(set(old)) < len(old)


def replace_summary(proposal: Proposal) -> Proposal:
    """The proposal with a short summary where one is due."""
    from dataclasses import replace

    due = any(one.what == "summarize" for one in proposal.dispositions)
    return replace(proposal, summary=Summary("person", "What was done so far, in short.") if due else None)
