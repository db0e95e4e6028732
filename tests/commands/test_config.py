"""`seamline config`, and policies of a person's own in the commands that propose."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands.conftest import Run

SAMPLE = Path(__file__).parents[2] / "sample_sessions/pi/order-gateway-chinese.jsonl"


def settings(run: Run, **extra: str) -> dict[str, tuple[float, str]]:
    found = run("config", "--show", "--json", **extra).json
    assert found["schema"] == "config/1"
    return {one["name"]: (one["value"], one["source"]) for one in found["settings"]}


def test_every_figure_has_a_source(run: Run) -> None:
    found = settings(run)
    assert found["policies.pi.reserve"] == (16_384, "pi 1.6.0: compaction.reserveTokens")
    assert all(source for _, source in found.values())
    ran = run("config")
    assert "the defaults hold" in ran.out and "policies.dsh.retain_share" in ran.out


def test_a_figure_and_a_policy_of_ones_own(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text('[policies.pi]\nreserve = 30000\n\n[policies.short]\nlike = "handoff"\nkeep_recent = 500\n')
    found = settings(run, SEAMLINE_CONFIG=str(path))
    value, source = found["policies.pi.reserve"]
    assert value == 30_000 and str(path) in source
    assert found["policies.short.keep_recent"][0] == 500
    plan = run("plan", str(SAMPLE), "--policy", "short", "--json", SEAMLINE_CONFIG=str(path)).json
    assert plan["policy"] == "short"
    rows = run("compare", str(SAMPLE), "--json", SEAMLINE_CONFIG=str(path)).json["policies"]
    assert [row["policy"] for row in rows][-1] == "short"
    assert next(row for row in rows if row["policy"] == "pi")["threshold"]["value"] == 98_000


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[policies.pi\n", "TOML"),
        ("[colours]\n", "colours"),
        ("policies = 3\n", "tables"),
        ("[policies.pi]\nreserve = -1\n", "reserve"),
        ("[policies.mine]\nkeep_recent = 1\n", "like"),
    ],
)
def test_a_file_that_is_wrong_is_refused_in_one_line(run: Run, tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "own.toml"
    path.write_text(text)
    for command in (("config",), ("plan", str(SAMPLE)), ("compare", str(SAMPLE))):
        ran = run(*command, SEAMLINE_CONFIG=str(path))
        assert ran.code == 1 and str(path) in ran.first_line and words in ran.first_line


def test_a_policy_that_nobody_knows(run: Run) -> None:
    ran = run("plan", str(SAMPLE), "--policy", "nobody")
    assert ran.code == 1 and "handoff, codex, dsh" in ran.first_line
