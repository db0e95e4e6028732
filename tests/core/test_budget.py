"""The budget: when the policy acts, what it holds back, and figures that are never mixed unnoticed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.agents import agent_named
from core.agents.protocol import Profile, Usage
from core.budget import (
    Figure,
    Sum,
    agent_mark,
    difference,
    handoff_budget,
    marks,
    turns_left,
    used_figure,
)
from core.errors import SeamlineError
from core.resume import Known

WINDOW = Known(128_000, "--window")
PROFILE = Profile("pi", "pi", "1.6.0", reserve=16_384, keep_recent=20_000, image_tokens=1_200, image_rule="stated")


def used(tokens: int) -> Figure:
    return Figure(tokens, "reported", "view, system prompt and tools")


def test_the_case_of_the_document_acts_at_120k_of_128k() -> None:
    budget = handoff_budget(WINDOW, used(120_000), next_reply=6_000, tool_room=10_000)
    assert budget.acts is True
    # 120,000 would fit with the reply alone: it is the tool result and the recovery that no longer fit.
    assert budget.window is not None
    assert budget.used.value + 6_000 < budget.window.value
    assert [(reserve.name, reserve.tokens) for reserve in budget.reserves] == [
        ("next reply", 6_000),
        ("tool results", 10_000),
        ("recovery", 5_120),
    ]
    assert budget.threshold == 106_880


@pytest.mark.parametrize("next_reply", [6_000, None])
def test_the_same_window_does_not_act_at_90k(next_reply: int | None) -> None:
    assert handoff_budget(WINDOW, used(90_000), next_reply=next_reply).acts is False


def test_it_acts_from_the_threshold_on_and_not_one_token_before() -> None:
    threshold = handoff_budget(WINDOW, used(0)).threshold
    assert threshold == 128_000 - 16_384 - 10_000 - 5_120
    assert handoff_budget(WINDOW, used(threshold)).acts is True
    assert handoff_budget(WINDOW, used(threshold - 1)).acts is False


def test_the_reply_reserve_is_what_the_model_can_write_but_at_most_the_default() -> None:
    short = handoff_budget(WINDOW, used(0), max_output=Known(8_192, "model table"))
    long = handoff_budget(WINDOW, used(0), max_output=Known(64_000, "model table"))
    unknown = handoff_budget(WINDOW, used(0))
    assert [budget.reserves[0].tokens for budget in (short, long, unknown)] == [8_192, 16_384, 16_384]
    assert "model table" in short.reserves[0].source
    assert "64,000" in long.reserves[0].source
    assert "unknown" in unknown.reserves[0].source


def test_a_window_of_16k_leaves_half_of_it_and_says_so() -> None:
    budget = handoff_budget(Known(16_384, "session"), used(5_000))
    assert budget.threshold is not None and budget.threshold >= 8_192
    assert budget.acts is False
    assert all("at most half of the window" in reserve.source for reserve in budget.reserves)


def test_an_unknown_window_is_unknown_and_not_a_number() -> None:
    budget = handoff_budget(None, used(500_000))
    assert (budget.threshold, budget.acts, budget.share, budget.pressure, budget.left) == (None,) * 5
    assert budget.threshold_mark is None
    assert marks(budget, PROFILE) == ()
    assert budget.to_json()["window"] is None


@pytest.mark.parametrize("window", [0, -1])
def test_an_empty_window_is_refused_with_what_to_do(window: int) -> None:
    with pytest.raises(SeamlineError, match="--window") as refusal:
        handoff_budget(Known(window, "session header"), used(10))
    assert "session header" in str(refusal.value)


@pytest.mark.parametrize(
    "wrong", [{"next_reply": -1}, {"tool_room": -5}, {"recovery_share": -0.1}, {"recovery_share": float("nan")}]
)
def test_a_reserve_that_is_no_sensible_number_is_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(SeamlineError, match="tool room"):
        handoff_budget(WINDOW, used(1), **wrong)  # type: ignore[arg-type]


@given(
    window=st.integers(1, 3_000_000),
    tokens=st.integers(0, 4_000_000),
    longest=st.none() | st.integers(1, 400_000),
    reply=st.none() | st.integers(0, 400_000),
    room=st.integers(0, 400_000),
    share=st.floats(0, 1),
)
def test_any_window_leaves_at_least_half_usable(
    window: int, tokens: int, longest: int | None, reply: int | None, room: int, share: float
) -> None:
    max_output = None if longest is None else Known(longest, "table")
    budget = handoff_budget(Known(window, "x"), used(tokens), max_output, reply, room, share)
    assert budget.threshold is not None and budget.pressure is not None
    assert window / 2 <= budget.threshold <= window
    assert min((reserve.tokens for reserve in budget.reserves), default=0) >= 0
    assert budget.acts is (tokens >= budget.threshold) is (budget.pressure >= 1)


def usage(current: int | None) -> Usage:
    return Usage(points=(), boundaries=(), current=current)


def test_reported_and_later_tokens_stay_two_figures_shown_as_a_sum() -> None:
    figure = used_figure(usage(100_000), view_tokens=70_000, system_tokens=5_000, later_tokens=3_200)
    assert isinstance(figure, Sum)
    assert figure.value == 103_200
    assert figure.kind == "reported + counted"
    assert [(part.value, part.kind) for part in figure.parts] == [(100_000, "reported"), (3_200, "counted")]
    assert str(figure) == "100,000 reported + 3,200 counted"
    assert [part["kind"] for part in figure.to_json()["parts"]] == ["reported", "counted"]


def test_a_reported_figure_stands_alone_where_nothing_came_after_it() -> None:
    assert used_figure(usage(100_000), 70_000) == Figure(
        100_000, "reported", "view, system prompt and tools up to the last reply"
    )


@pytest.mark.parametrize("current", [None, 0])
def test_no_report_or_a_report_of_zero_falls_back_on_the_count(current: int | None) -> None:
    assert used_figure(usage(current), 70_000, later_tokens=5) == Figure(70_000, "counted", "view")
    with_system = used_figure(usage(current), 70_000, system_tokens=4_000)
    assert (with_system.value, with_system.kind) == (74_000, "counted")
    assert "system prompt" in with_system.includes


def test_figures_of_two_kinds_or_contents_are_not_subtracted() -> None:
    counted = Figure(50, "counted", "view")
    assert difference(Figure(80, "counted", "view"), counted) == 30
    assert difference(Figure(80, "reported", "view"), counted) is None
    assert difference(Figure(80, "counted", "view and system prompt"), counted) is None
    assert difference(Sum((Figure(80, "reported", "view"),)), counted) is None


def test_the_marks_stand_in_order_each_with_its_sum() -> None:
    found = marks(handoff_budget(WINDOW, used(1), next_reply=6_000), PROFILE)
    assert [(mark.name, mark.tokens) for mark in found] == [
        ("handoff", 106_880),
        ("pi", 111_616),
        ("window", 128_000),
    ]
    assert "10,000 tool results" in found[0].source
    assert "16,384" in found[1].source
    assert found[2].source == "--window"


def test_an_agent_whose_reserve_is_the_window_acts_always() -> None:
    mark = agent_mark(Known(16_384, "x"), PROFILE)
    assert mark is not None and mark.tokens == 0
    assert agent_mark(None, PROFILE) is None


def test_turns_left_at_the_median_pace_of_the_last_turns() -> None:
    budget = handoff_budget(WINDOW, used(86_880), next_reply=6_000)
    assert budget.left == 20_000
    assert turns_left(budget, [90_000, 0, 4_000, -30_000, 5_000, 5_000, 6_000, 70_000]) == 4
    assert turns_left(budget, []) is None
    assert turns_left(budget, [0, -5]) is None
    assert turns_left(handoff_budget(None, used(1)), [5]) is None
    assert turns_left(handoff_budget(WINDOW, used(127_000)), [5]) == 0


@pytest.mark.parametrize(("agent", "share"), [("codex", 0.1), ("dsh", 0.2), ("grok-build", 0.15)])
@pytest.mark.parametrize("window", [100_000, 272_000, 500_000, 1_000_000])
def test_an_agent_that_keeps_a_share_free_does_so_in_any_window(agent: str, share: float, window: int) -> None:
    mark = agent_mark(Known(window, "set"), agent_named(agent).profile)
    assert mark is not None and mark.tokens == window - round(window * share)
