"""`plan` and `compact` on the samples: the contract, edits from a file, refusals that leave no trace, undo."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.commands.conftest import ROOT, Run

ENGLISH = "interface-migration.jsonl"
CHINESE = "order-gateway-chinese.jsonl"


@pytest.fixture
def samples(tmp_path: Path) -> Path:
    folder = tmp_path / "samples"
    shutil.copytree(ROOT / "sample_sessions" / "pi", folder)
    for path in folder.iterdir():
        os.utime(path, (1_780_000_000, 1_780_000_000))
    return folder


def state(path: Path) -> tuple[str, int, int, int, list[str]]:
    status = path.stat()
    names = sorted(other.name for other in path.parent.iterdir())
    return hashlib.sha256(path.read_bytes()).hexdigest(), status.st_mode, status.st_mtime_ns, status.st_ino, names


def adds_up(plan: dict[str, Any]) -> bool:
    rows = plan["dispositions"]
    summary = plan["summary"]["tokens"] if plan["summary"] else 0
    freed = sum(row["tokens_before"] - row["tokens_after"] for row in rows)
    return plan["after"]["tokens"]["value"] == plan["before"]["tokens"]["value"] - freed + summary


def test_pruning_alone_is_not_enough_for_the_english_sample(run: Run, samples: Path) -> None:
    plan = run("plan", samples / ENGLISH, "--json").json
    assert plan["schema"] == "plan/1" and plan["would_act"] is True and plan["commits_as"] == "append"
    assert plan["cut"] is not None and plan["cut"]["rank"] == 1 and "turn" in plan["cut"]["reason"]
    assert plan["after"]["tokens"]["value"] <= 0.4 * plan["window"]
    assert all(check["ok"] for check in plan["checks"]) and adds_up(plan)
    assert all(row["tokens_after"] == 0 for row in plan["dispositions"] if row["what"] == "summarize")


def test_pruning_alone_is_enough_for_the_chinese_sample(run: Run, samples: Path) -> None:
    plan = run("plan", samples / CHINESE, "--json").json
    assert plan["would_act"] is True and plan["cut"] is None and plan["summary"] is None
    assert plan["after"]["tokens"]["value"] <= 0.5 * plan["window"] and adds_up(plan)
    texts = [row["text"] for row in plan["dispositions"] if row["what"] == "point"]
    assert texts and all(text.startswith("[已省略：") for text in texts)


def test_units_stand_in_view_order_and_once_for_each_result(run: Run, samples: Path) -> None:
    plan = run("plan", samples / ENGLISH, "--json", "--target", 60_000).json
    seen = [(row["unit"], json.dumps(row["source"])) for row in plan["dispositions"]]
    assert len(set(seen)) == len(seen)


def test_a_summary_that_lost_the_rules_is_refused(run: Run, samples: Path, tmp_path: Path) -> None:
    path = samples / ENGLISH
    text = run("plan", path, "--json").json["summary"]["text"]
    head, _, rest = text.partition("## Constraints")
    file = tmp_path / "summary.md"
    file.write_text(
        f"{head}## Constraints{rest.partition(chr(10))[0]}\n(none recorded)\n\n## Decisions"
        + rest.partition("## Decisions")[2]
    )
    refused = run("compact", path, "--yes", "--summary", file)
    assert refused.code == 1 and "summary-constraints" in refused.first_line


def test_planning_writes_nothing(run: Run, samples: Path) -> None:
    before = state(samples / ENGLISH)
    assert run("plan", samples / ENGLISH).code == 0
    assert state(samples / ENGLISH) == before


@pytest.mark.parametrize("version", ["1.6.0", "0.73.1"])
@pytest.mark.parametrize("name", [ENGLISH, CHINESE])
def test_the_committed_file_shows_the_approved_view_and_undo_gives_all_back(
    run: Run, samples: Path, name: str, version: str
) -> None:
    path = samples / name
    before = state(path)
    client = ("--client-version", version)
    approved = run("plan", path, "--json", *client).json["after"]["items"]
    done = run("compact", path, "--yes", *client)
    assert done.code == 0, done.err
    now = run("view", path, "--json", *client).json["items"]
    shown = [{key: item.get(key) for key in ("role", "type", "text", "call_id")} for item in now]
    assert shown == [{key: item.get(key) for key in ("role", "type", "text", "call_id")} for item in approved]
    assert path.stat().st_ino == before[3]
    assert run("undo", path, "--yes").code == 0
    assert state(path) == before


def test_a_second_time_there_is_nothing_to_do(run: Run, samples: Path) -> None:
    path = samples / ENGLISH
    assert run("compact", path, "--yes").code == 0
    before = state(path)
    again = run("compact", path, "--yes", "--json")
    assert again.code == 1 and "nothing need go" in again.json["error"] and again.json["schema"] == "compact/1"
    assert again.first_line.startswith("seamline compact: ")
    assert state(path) == before


def test_a_target_asks_for_more(run: Run, samples: Path) -> None:
    path = samples / ENGLISH
    assert run("compact", path, "--yes").code == 0
    done = run("compact", path, "--yes", "--target", 16_000)
    assert done.code == 0, done.err
    assert run("plan", path, "--json").json["before"]["tokens"]["value"] <= 16_000


def test_a_target_out_of_reach_is_refused_without_a_trace(run: Run, samples: Path) -> None:
    path = samples / ENGLISH
    before = state(path)
    done = run("compact", path, "--yes", "--target", 500)
    assert done.code == 1 and "reach 500 tokens" in done.first_line
    assert state(path) == before


def test_an_unknown_window_is_asked_for(run: Run, samples: Path) -> None:
    path = samples / ENGLISH
    plan = run("plan", path, "--json", "--model", "nobody/knows-it").json
    assert plan["window"] is None and plan["would_act"] is None and plan["threshold"]["value"] is None
    done = run("compact", path, "--yes", "--model", "nobody/knows-it")
    assert done.code == 1 and "--window" in done.first_line


def test_edits_from_a_file_are_laid_over_and_a_stale_file_is_refused(run: Run, samples: Path, tmp_path: Path) -> None:
    path = samples / ENGLISH
    plan = run("plan", path, "--json").json
    old = [row["unit"] for row in plan["dispositions"] if row["what"] == "summarize"]
    edits = {
        "session": {"fingerprint": plan["session"]["fingerprint"]},
        "dispositions": [{"unit": old[3], "what": "keep"}, {"unit": old[4], "what": "drop"}],
        "summary": {"text": plan["summary"]["text"].replace("## Done", "## Done\n- by hand: looked at twice", 1)},
    }
    file = tmp_path / "edits.json"
    file.write_text(json.dumps(edits), encoding="utf-8")
    edited = run("plan", path, "--json", "--edit", file).json
    assert {row["unit"]: row["what"] for row in edited["dispositions"]}.get(old[3]) is None
    assert {row["unit"]: row["what"] for row in edited["dispositions"]}[old[4]] == "drop"
    assert "by hand: looked at twice" in edited["summary"]["text"] and adds_up(edited)
    assert run("compact", path, "--yes", "--edit", file).code == 0
    assert any("by hand: looked at twice" in item.get("text", "") for item in run("view", path, "--json").json["items"])
    stale = run("compact", path, "--yes", "--edit", file)
    assert stale.code == 1 and "changed since" in stale.first_line


def test_a_summary_from_a_file_takes_the_place_of_ours(run: Run, samples: Path, tmp_path: Path) -> None:
    path = samples / ENGLISH
    own = run("plan", path, "--json").json["summary"]["text"]
    file = tmp_path / "summary.md"
    file.write_text(own + "\nOne more line.\n", encoding="utf-8")
    done = run("compact", path, "--yes", "--summary", file, "--json")
    assert done.code == 0, done.err
    assert done.json["receipt"]["summary"]["writer"] == "file"
    file.write_text("  \n", encoding="utf-8")
    assert run("undo", path, "--yes").code == 0
    before = state(path)
    empty = run("compact", path, "--yes", "--summary", file)
    assert empty.code == 1 and "empty" in empty.first_line
    assert state(path) == before


def test_without_a_terminal_nothing_is_written_unless_told(run: Run, samples: Path) -> None:
    path = samples / ENGLISH
    before = state(path)
    done = run("compact", path)
    assert done.code == 1 and "not committed" in done.first_line
    assert state(path) == before


def test_a_fresh_file_needs_the_persons_word(run: Run, samples: Path) -> None:
    path = samples / ENGLISH
    os.utime(path)
    done = run("compact", path, "--yes")
    assert done.code == 1 and "--agent-stopped" in done.first_line
    assert run("compact", path, "--yes", "--agent-stopped").code == 0


def test_an_old_version_is_refused_in_place_and_forked(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "old" / "session.jsonl"
    path.parent.mkdir()
    shutil.copy(ROOT / "tests" / "data" / "conformance" / "pi" / "v1_linear" / "session.jsonl", path)
    os.utime(path, (1_780_000_000, 1_780_000_000))
    before = state(path)
    refused = run("compact", path, "--yes", "--target", 10, "--window", 1_000)
    assert refused.code == 1 and "--as fork" in refused.first_line
    assert state(path) == before
    forked = run("compact", path, "--yes", "--as", "fork", "--json")
    assert forked.code == 0, forked.err
    fork = Path(forked.json["view"])
    assert fork != path and state(path)[:4] == before[:4]
    old, new = run("view", path, "--json").json["items"], run("view", fork, "--json").json["items"]
    assert [item.get("text") for item in new] == [item.get("text") for item in old]
    assert run("undo", fork, "--yes").code == 0 and not fork.exists()
