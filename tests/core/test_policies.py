"""The agents' own policies on sessions whose numbers are known, and figures that a person overrides."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.errors import SeamlineError
from core.opening import Opened, open_session
from core.policies import POLICIES, names, policy_named, propose
from core.policies.estimating import dsh_tokens, grok_tokens, messages, pi_tokens
from core.policies.limits import limit_points
from core.policies.settings import Settings
from core.proposal import Proposal
from core.resume import Overrides
from core.view import Item, Source, pair_up

SAMPLE = Path(__file__).parents[2] / "sample_sessions/pi/interface-migration.jsonl"


@pytest.fixture(scope="module")
def sample() -> Opened:
    return open_session(SAMPLE)


def kept(opened: Opened, proposal: Proposal) -> list[int]:
    """Positions of the units that stay."""
    gone = {d.unit for d in proposal.dispositions if d.what in ("summarize", "drop")}
    return [at for at, unit in enumerate(opened.units) if unit.id not in gone]


@pytest.mark.parametrize(
    ("policy", "threshold"),
    [("codex", 115_200), ("dsh", 102_400), ("grok-build", 108_800), ("pi", 111_616), ("claude-code", 95_000)],
)
def test_each_policy_acts_at_its_own_threshold(sample: Opened, policy: str, threshold: int) -> None:
    assert policy_named(policy).budget(sample, Settings()).threshold == threshold


def test_pi_acts_above_its_threshold_and_the_others_at_it(sample: Opened) -> None:
    used = sample.usage.current
    assert used is not None
    at = open_session(SAMPLE, Overrides(window=used + 16_384))
    below = open_session(SAMPLE, Overrides(window=used + 16_383))
    pi = policy_named("pi")
    assert (pi.budget(at, Settings()).acts, pi.budget(below, Settings()).acts) == (False, True)
    figure = policy_named("dsh").budget(at, Settings())
    assert figure.threshold is not None and figure.acts == (figure.used.value >= figure.threshold)


@pytest.mark.parametrize("policy", POLICIES)
def test_no_policy_parts_a_pair_or_changes_its_mind(sample: Opened, policy: str) -> None:
    proposal = propose(sample, Settings(), policy)
    assert proposal == propose(sample, Settings(), policy)
    assert proposal.policy == policy
    items = [sample.view.items[position] for at in kept(sample, proposal) for position in sample.units[at].items]
    assert pair_up(items).whole


def test_codex_keeps_users_words_and_nothing_else(sample: Opened) -> None:
    stays = [sample.units[at] for at in kept(sample, propose(sample, Settings(), "codex"))]
    assert stays and all(unit.starts_turn for unit in stays)
    few = [sample.units[at] for at in kept(sample, propose(sample, Settings(keep_recent=60), "codex"))]
    assert few and few == stays[-len(few) :] and len(few) < len(stays)


def test_dsh_prunes_first_and_stops_there_if_that_is_enough(sample: Opened) -> None:
    enough = propose(sample, Settings(), "dsh")
    assert enough.cut is None and {d.what for d in enough.dispositions} == {"limit"}
    assert all(len(d.text or "") == 4_096 + 39 + 1_024 for d in enough.dispositions)
    tight = propose(open_session(SAMPLE, Overrides(window=90_000)), Settings(), "dsh")
    assert tight.cut is not None


def test_grok_build_keeps_the_last_request(sample: Opened) -> None:
    stays = kept(sample, propose(sample, Settings(), "grok-build"))
    assert [sample.units[at] for at in stays] == [[unit for unit in sample.units if unit.starts_turn][-1]]


def test_claude_code_keeps_the_last_reply(sample: Opened) -> None:
    (last,) = kept(sample, propose(sample, Settings(), "claude-code"))
    assert last == len(sample.units) - 1 and sample.units[last].kind == "assistant"


def test_pi_keeps_what_its_own_estimate_says(sample: Opened) -> None:
    proposal = propose(sample, Settings(), "pi")
    assert proposal.cut is not None
    first = [unit.id for unit in sample.units].index(proposal.cut.first_kept)
    items = [sample.view.items[position] for unit in sample.units[first:] for position in unit.items]
    total = sum(pi_tokens(message) for message in messages(items))
    before = [sample.view.items[position] for position in sample.units[first - 1].items]
    assert total < 20_000 + max(map(pi_tokens, messages(before)))
    assert total + sum(map(pi_tokens, messages(before))) >= 20_000
    assert proposal.cut.split, "the cut stands inside a turn: its first half is summarised apart"


def test_estimates_follow_each_agents_rule() -> None:
    text = Item("user", "text", "héllo wörld", source=(Source("a", 0),))
    call = Item("assistant", "tool_call", call_id="1", name="read", arguments={"path": "ä"}, source=(Source("b", 0),))
    image = Item("user", "image", source=(Source("a", 1),))
    assert pi_tokens([text]) == 3 and pi_tokens([text, image]) == (11 + 4_800 + 3) // 4
    assert pi_tokens([call]) == (4 + len('{"path":"ä"}') + 3) // 4
    assert dsh_tokens([text]) == 4 + 3 + 4
    assert dsh_tokens([call]) == 4 + 1 + 3 + 4
    assert grok_tokens([text]) == 13 // 4 and grok_tokens([call]) == 13 // 4
    assert pi_tokens([Item("user", "text", "😀😀")]) == 1, "four UTF-16 units"


def test_dsh_counts_code_points_not_bytes() -> None:
    assert limit_points("日" * 10, 10, 4, 2) == "日" * 10
    assert limit_points("日" * 11, 10, 4, 2) == "日日日日\n\n[... tool result middle pruned ...]\n\n日日"


def test_a_person_overrides_figures_and_has_policies_of_their_own() -> None:
    own = {"pi": {"reserve": 30_000}, "mine": {"like": "handoff", "keep_recent": 5_000, "title": "Short"}}
    assert names(own) == (*POLICIES, "mine")
    assert policy_named("pi", own).figures.tokens("reserve") == 30_000
    assert "set in" in policy_named("pi", own).figures.source("reserve")
    mine = policy_named("mine", own)
    assert (mine.name, mine.like, mine.title) == ("mine", "handoff", "Short")
    assert mine.figures.tokens("keep_recent") == 5_000
    assert policy_named("handoff", own).figures.tokens("keep_recent") == 20_000


@pytest.mark.parametrize(
    ("name", "own", "words"),
    [
        ("nobody", {}, "no policy named"),
        ("mine", {"mine": {"keep_recent": 5}}, "like"),
        ("mine", {"mine": {"like": "nobody"}}, "nobody"),
        ("mine", {"mine": {"like": "handoff", "color": 5}}, "color"),
        ("pi", {"pi": {"reserve": -1}}, "reserve"),
        ("pi", {"pi": {"reserve": True}}, "reserve"),
        ("dsh", {"dsh": {"retain_share": 1.5}}, "share of the window"),
        ("pi", {"pi": {"like": "dsh"}}, "another name"),
        ("pi", {"pi": 3}, "table"),
    ],
)
def test_a_policy_that_makes_no_sense_is_refused_in_words(name: str, own: dict[str, object], words: str) -> None:
    with pytest.raises(SeamlineError, match=words):
        policy_named(name, own)
