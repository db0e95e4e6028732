"""`--leaf`: other leaves are listed, and a view, figures and a plan can end at each."""

from __future__ import annotations

from pathlib import Path

from tests.commands.conftest import Run
from tests.core.claude_sessions import Build, own


def branched(folder: Path) -> Path:
    made = Build().turns(1, 2)
    made.user("again", parent="a1")
    made.reply("\x1b[2Jre again")
    return made.write(folder / "a.jsonl")


def test_leaves_are_listed_in_words_and_as_json(run: Run, tmp_path: Path) -> None:
    path = branched(tmp_path)
    ran = run("view", path, "--leaf", "list", "--json")
    assert ran.code == 0 and ran.json["schema"] == "leaves/1"
    assert [leaf["entry"] for leaf in ran.json["leaves"]] == [own("a2")]
    words = run("stats", path, "--leaf", "list").out
    assert own("a2") in words and ": a2" in words
    assert own("a2") in run("stats", path).out
    assert [leaf["entry"] for leaf in run("stats", path, "--json").json["leaves"]] == [own("a2")]
    assert "\x1b" not in run("stats", path, "--leaf", own("a2")).out


def test_view_stats_and_plan_can_end_at_a_leaf(run: Run, tmp_path: Path) -> None:
    path, leaf = branched(tmp_path), own("a2")
    view = run("view", path, "--json", "--leaf", leaf).json
    assert [item["text"] for item in view["items"]] == ["q1", "a1", "q2", "a2"]
    assert run("stats", path, "--json", "--leaf", leaf).json["items"] == 4
    assert run("plan", path, "--json", "--leaf", leaf).json["session"]["leaf"] == leaf


def test_a_session_without_other_leaves_says_so(run: Run, session: Path) -> None:
    assert "no other leaf" in run("view", session, "--leaf", "list").out
