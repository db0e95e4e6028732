"""`seamline compare`: a row for each policy, and JSON that says where each figure comes from."""

from __future__ import annotations

from pathlib import Path

from core.policies import POLICIES
from tests.commands.conftest import Run

SAMPLE = Path(__file__).parents[2] / "sample_sessions/pi/order-gateway-chinese.jsonl"


def test_a_row_for_each_policy_in_aligned_columns(run: Run) -> None:
    ran = run("compare", str(SAMPLE))
    assert ran.code == 0
    rows = [line for line in ran.out.splitlines() if line.split("  ")[0] in POLICIES]
    assert [row.split()[0] for row in rows] == list(POLICIES)
    assert all(len(line) <= 100 for line in ran.out.splitlines()[3:])
    threshold = next(row for row in rows if row.startswith("pi "))
    assert "111,616*" in threshold and "112,141 r" in threshold


def test_json_says_of_what_kind_each_figure_is(run: Run) -> None:
    found = run("compare", str(SAMPLE), "--json", "--window", "200000").json
    assert found["schema"] == "compare/1" and found["window"] == 200_000
    assert [row["policy"] for row in found["policies"]] == list(POLICIES)
    for row in found["policies"]:
        assert row["after"]["kind"] == "counted" and row["used"]["kind"]
        assert row["would_act"] is False
        assert row["economics"]["rebilled_tokens"] >= 0


def test_an_unknown_window_is_said_and_not_guessed(run: Run) -> None:
    ran = run("compare", str(SAMPLE), "--model", "nobody/unheard-of")
    assert ran.code == 0 and "window unknown: give --window N" in ran.out
    assert " ? " in ran.out
