"""`compact`, `receipts`, `undo` and `recover` from the command line, on a session that is large enough to act."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from tests.commands.conftest import Run

COMMIT = ("--target", "5000", "--yes", "--agent-stopped")


def state(path: Path) -> tuple[str, int, int]:
    status = path.stat()
    return hashlib.sha256(path.read_bytes()).hexdigest(), status.st_mode, status.st_mtime_ns


def test_a_commit_is_undone_byte_for_byte(run: Run, session: Path) -> None:
    session.chmod(0o640)
    before = state(session)
    planned = run("plan", session, "--target", "5000", "--json").json
    committed = run("compact", session, *COMMIT, "--json")
    assert committed.code == 0, committed.err
    assert state(session)[0] != before[0]
    (receipt,) = run("receipts", session, "--json").json["receipts"]
    assert receipt["sha256_before"] == {"value": before[0], "scope": "whole"}
    assert receipt["sha256_after"]["value"] == state(session)[0]
    assert receipt["tokens_after"]["value"] == planned["after"]["tokens"]["value"]
    assert receipt["state"] == "done"
    undone = run("undo", session, "--yes", "--json")
    assert undone.code == 0, undone.err
    assert undone.json["schema"] == "undo/1"
    assert state(session) == before
    assert run("receipts", "--json").json["receipts"][0]["state"] == "undone"


def test_the_view_after_a_commit_is_the_one_that_was_planned(run: Run, session: Path) -> None:
    planned = run("plan", session, "--target", "5000", "--json").json["after"]["items"]
    assert run("compact", session, *COMMIT).code == 0
    seen = run("view", session, "--json").json["items"]
    assert [(item["type"], item.get("text")) for item in seen] == [(i["type"], i.get("text")) for i in planned]


def test_nothing_is_undone_without_a_word(run: Run, session: Path) -> None:
    assert run("compact", session, *COMMIT).code == 0
    before = state(session)
    ran = run("undo", session)
    assert ran.code == 1
    assert "not undone" in ran.first_line
    assert state(session) == before


def test_undo_without_a_commit_is_refused(run: Run, session: Path) -> None:
    before = state(session)
    ran = run("undo", session, "--yes", "--json")
    assert ran.code == 1
    assert ran.json["error"] in ran.first_line
    assert state(session) == before


def test_undo_is_refused_where_the_agent_has_written_since(run: Run, session: Path) -> None:
    from tests.commands.writing import user

    assert run("compact", session, *COMMIT).code == 0
    with session.open("ab") as file:
        file.write(user(900, "a new message"))
    before = state(session)
    assert run("undo", session, "--yes").code == 1
    assert state(session) == before


@pytest.mark.parametrize("words", [(), ("--yes",)])
def test_a_refused_compaction_leaves_no_trace(run: Run, session: Path, words: tuple[str, ...]) -> None:
    """Far below its threshold, and just written by someone else: nothing need go, and nothing is asked."""
    before = state(session)
    names = sorted(session.parent.iterdir())
    ran = run("compact", session, *words)
    assert ran.code == 1
    assert ran.first_line.startswith(f"seamline compact: {session}: nothing need go")
    assert state(session) == before
    assert sorted(session.parent.iterdir()) == names


def test_recover_has_nothing_to_do_after_a_whole_commit(run: Run, session: Path) -> None:
    assert run("compact", session, *COMMIT).code == 0
    before = state(session)
    ran = run("recover", session, "--json")
    assert (ran.code, ran.json["recovered"]) == (0, [])
    assert state(session) == before


def test_receipts_of_nothing(run: Run, session: Path) -> None:
    assert run("receipts", session, "--json").json == {"schema": "receipts/1", "receipts": []}
    assert "no commit was made here" in run("receipts").out
