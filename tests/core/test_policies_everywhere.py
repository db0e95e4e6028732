"""All policies on sessions of every format: what must hold of each proposal, whoever wrote the session."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import ClientRefuses, SeamlineError
from core.finding import places, root_of
from core.metering import gain
from core.opening import Opened, open_session
from core.planning import plan_session
from core.policies import POLICIES, propose
from core.policies.settings import Settings
from core.resume import Overrides
from core.view import pair_up
from tests.core.pi_sessions import stamp

ROOT = Path(__file__).parents[2]
SAMPLES = [
    place.path
    for place in places([root_of(ROOT / "sample_sessions")])
    if "truth" not in place.path.parts and not place.path.name.endswith(".meta.json")
]
"""The last ones tell of a sub-agent, whose session lies beside them."""
CASES = sorted(place.path for place in places([root_of(ROOT / "tests/data/conformance")]))
WINDOWS = (2_000, 8_000, 128_000, 1_000_000)


@cache
def opened(path: Path, window: int | None) -> Opened | None:
    try:
        return open_session(path, Overrides(window=window))
    except (ClientRefuses, SeamlineError):
        return None


@settings(max_examples=300)
@given(st.sampled_from(CASES), st.sampled_from(sorted(POLICIES)), st.sampled_from(WINDOWS), st.data())
def test_of_every_proposal(path: Path, policy: str, window: int, data: st.DataObject) -> None:
    session = opened(path, window)
    if session is None:
        return
    keep = data.draw(st.sampled_from([None, 0, 50, 5_000]))
    target = data.draw(st.sampled_from([None, 100, 2_000]))
    asked = Settings(target=target, keep_recent=keep)
    proposal = propose(session, asked, policy)
    assert proposal == propose(session, asked, policy), "deterministic"
    assert proposal.policy == policy
    place = {unit.id: number for number, unit in enumerate(session.units)}
    order = [place[one.unit] for one in proposal.dispositions]
    assert order == sorted(order), "in view order"
    for one in proposal.dispositions:
        options = session.options(session.unit_by_id[one.unit])
        assert one.what in options.allowed, one
        if one.source and one.what in ("limit", "point"):
            assert set(one.source) <= set(options.results)
            assert one.text is not None
            one.text.encode("utf-8")
    whole = [one.unit for one in proposal.dispositions if one.what in ("summarize", "drop")]
    assert len(whole) == len(set(whole)), "a unit goes once"
    assert not set(whole) & {d.unit for d in proposal.dispositions if d.what in ("limit", "point")}
    before = pair_up(session.view.items)
    stays = [at for unit in session.units if unit.id not in set(whole) for at in unit.items]
    after = pair_up(session.view.items[at] for at in sorted(stays))
    assert len(after.orphans) <= len(before.orphans) and len(after.unanswered) <= len(before.unanswered)
    assert gain(session, proposal.dispositions) >= 0 or policy == "dsh"
    if proposal.cut is not None:
        assert any(one.what == "summarize" for one in proposal.dispositions)


@pytest.mark.parametrize(
    "path", SAMPLES, ids=lambda path: str(path.relative_to(ROOT / "sample_sessions")).split("/")[0]
)
@pytest.mark.parametrize("policy", POLICIES)
def test_what_is_committed_shrinks_the_view_and_is_left_alone_by_the_same_policy(path: Path, policy: str) -> None:
    session = opened(path, 128_000)
    assert session is not None
    plan = plan_session(session, policy, Settings(), stamp())
    if not plan.changes_anything or plan.patch is None:
        return
    failed = [f"{check.id}: {check.message}" for check in plan.checks if not check.ok]
    if any(item.trimmed for item in session.view.items) and [one.partition(":")[0] for one in failed] == ["smaller"]:
        return  # grok shortens results above half of the window: below it they would be sent whole again
    assert not failed
    assert plan.after.view_tokens < session.view_tokens
    again = propose(plan.after, Settings(), policy)
    assert again.dispositions == ()


@pytest.mark.parametrize(
    "path", SAMPLES, ids=lambda path: str(path.relative_to(ROOT / "sample_sessions")).split("/")[0]
)
def test_where_pruning_is_enough_there_is_no_cut_and_no_summary(path: Path) -> None:
    session = opened(path, 1_000_000)
    assert session is not None
    plan = plan_session(session, "handoff", Settings(), stamp())
    assert plan.proposal.cut is None and plan.proposal.summary is None


@pytest.mark.parametrize(
    "path", SAMPLES, ids=lambda path: str(path.relative_to(ROOT / "sample_sessions")).split("/")[0]
)
def test_handoff_leaves_no_more_than_who_keeps_as_many_turns(path: Path) -> None:
    from core.comparing import compare

    session = opened(path, 128_000)
    assert session is not None
    if any(item.trimmed for item in session.view.items):
        pytest.skip("grok shortens results above half of the window: what grows back can't be compared")
    rows = {row.policy: row for row in compare(session, POLICIES, Settings(), stamp())}
    ours = rows.pop("handoff")
    rivals = [row.tokens_after for row in rows.values() if row.turns >= ours.turns]
    assert not rivals or ours.tokens_after <= min(rivals)
