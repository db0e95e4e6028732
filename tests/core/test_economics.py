"""What a compaction costs and saves: exact on views made by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.comparing import compare, prices_for
from core.economics import economics
from core.models import Prices, prices_of
from core.opening import open_session
from core.policies import POLICIES
from core.policies.settings import Settings
from core.view import Item
from tests.core.pi_sessions import stamp

PRICES = Prices(input=10.0, cached=1.0, cache_write=12.0, output=50.0, source="a list")
SAMPLE = Path(__file__).parents[2] / "sample_sessions/pi/interface-migration.jsonl"


def text(words: str) -> Item:
    return Item("user", "text", words)


BEFORE = [text("a"), text("b"), text("c"), text("d")]


def test_only_what_stands_before_the_first_change_stays_in_the_cache() -> None:
    found = economics(BEFORE, [10, 100, 1_000, 20], [text("a"), text("summary"), text("d")], [10, 30, 20], PRICES)
    assert (found.prefix, found.rebilled, found.saved) == (10, 50, 1_070)
    assert found.once == pytest.approx(50 * 11 / 1e6)
    assert found.each == pytest.approx(1_070 / 1e6)
    assert found.pays_after == 1


def test_a_models_summary_is_charged_for_what_it_reads_and_writes() -> None:
    found = economics(BEFORE, [10, 100, 1_000, 20], [text("a")], [10], PRICES, summary_call=(1_100, 30))
    assert found.once == pytest.approx((1_100 * 10 + 30 * 50) / 1e6)
    assert found.pays_after == 12


def test_a_change_at_the_end_re_bills_nothing() -> None:
    found = economics(BEFORE, [1, 1, 1, 1], BEFORE[:3], [1, 1, 1], PRICES)
    assert (found.prefix, found.rebilled, found.saved, found.once) == (3, 0, 1, 0.0)


def test_the_same_text_of_another_role_is_not_the_same_prefix() -> None:
    assert economics([text("a")], [5], [Item("assistant", "text", "a")], [5]).prefix == 0


def test_without_prices_nothing_is_made_up() -> None:
    found = economics(BEFORE, [1, 1, 1, 1], BEFORE[:1], [1])
    assert (found.once, found.each, found.pays_after) == (None, None, None)
    assert prices_of("nobody", "nothing") is None


def test_prices_have_a_source_and_a_cache_write_that_costs_at_least_the_input() -> None:
    prices = prices_of("anthropic", "claude-opus-4-5")
    assert prices is not None and (prices.input, prices.cached, prices.cache_write, prices.output) == (5, 0.5, 6.25, 25)
    openai = prices_of("openai", "gpt-5.5")
    assert openai is not None and openai.cache_write == openai.input and openai.source


def test_the_policies_side_by_side() -> None:
    opened = open_session(SAMPLE)
    rows = {row.policy: row for row in compare(opened, POLICIES, Settings(), stamp())}
    assert list(rows) == list(POLICIES)
    for row in rows.values():
        freed = row.summarized + row.shortened + row.dropped
        assert row.tokens_after == opened.view_tokens - freed + row.summary, row.policy
        assert row.economics.prefix + row.economics.rebilled == row.tokens_after
        assert not row.failed and row.commits_as == "append"
        assert row.economics.pays_after is not None
    assert prices_for(opened) is not None
    assert rows["dsh"].turns > rows["pi"].turns > rows["handoff"].turns > rows["codex"].turns


def test_handoff_is_no_larger_than_who_keeps_as_many_whole_turns() -> None:
    for sample in sorted(SAMPLE.parent.glob("*.jsonl")):
        rows = {row.policy: row for row in compare(open_session(sample), POLICIES, Settings(), stamp())}
        ours = rows.pop("handoff")
        rivals = [row.tokens_after for row in rows.values() if row.turns >= ours.turns]
        assert rivals and ours.tokens_after <= min(rivals), sample.name
