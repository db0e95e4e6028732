"""`seamline stats`: figures that add up, each with its kind."""

from __future__ import annotations

from pathlib import Path

from tests.commands.conftest import Run
from tests.commands.writing import header, message, small_session, user


def test_every_table_adds_up_to_the_counted_view(run: Run, session: Path) -> None:
    out = run("stats", session, "--json").json
    counted = out["tokens"]["counted"]
    assert counted == run("view", session, "--json", "--tokens").json["tokens"]["value"]
    assert sum(out["by_role"].values()) == counted
    assert sum(out["by_kind"].values()) == counted
    assert sum(out["by_tool"].values()) == out["by_kind"]["tool_call"] + out["by_kind"]["tool_result"]
    assert out["by_tool"].keys() == {"read"}
    assert sum(out["by_file"].values()) == out["by_tool"]["read"]
    assert set(out["by_file"]) == {f"src/part_{part}.py" for part in range(5)}


def test_bytes_by_record_type_cover_the_file(run: Run, session: Path) -> None:
    by_type = run("stats", session, "--json").json["by_record_type"]
    size = session.stat().st_size
    assert sum(by_type.values()) == size - session.read_bytes().count(b"\n")


def test_biggest_come_first_with_their_place(run: Run, session: Path) -> None:
    with session.open("ab") as file:
        file.write(user(67, "spam " * 3000))
    biggest = run("stats", session, "--json").json["biggest"]
    assert biggest[0]["source"] == [{"entry": "00000043", "part": 0}]
    assert [big["tokens"] for big in biggest] == sorted((big["tokens"] for big in biggest), reverse=True)
    assert biggest[0]["share"] > 0.1


def test_reported_and_estimated_stand_apart(run: Run, session: Path) -> None:
    tokens = run("stats", session, "--json").json["tokens"]
    assert tokens["reported"] == 1000 + 100 * 21 + 20
    later = session.read_bytes().splitlines()[-1]
    assert tokens["reported"] < tokens["estimated"] < tokens["reported"] + len(later)
    assert tokens["includes"]["counted"] == "view"


def test_an_unknown_window_is_null(run: Run, session: Path) -> None:
    session.write_bytes(header() + user(1, "hello"))
    assert run("stats", session, "--json").json["window"] is None
    assert run("stats", session, "--json", "--window", "1000").json["window"] == 1000
    assert "unknown" in run("stats", session).out


def test_an_empty_session_has_no_tokens(run: Run, session: Path) -> None:
    session.write_bytes(header())
    out = run("stats", session, "--json").json
    assert out["tokens"]["counted"] == 0
    assert out["biggest"] == []


def test_a_compaction_is_a_boundary(run: Run, session: Path) -> None:
    compaction = message(67, {}).replace(b'"type": "message"', b'"type": "compaction"')
    compaction = compaction.replace(
        b'"message": {', b'"summary": "done", "firstKeptEntryId": "0000003d", "tokensBefore": 4242, "unused": {'
    )
    session.write_bytes(small_session() + compaction)
    out = run("stats", session, "--json").json
    assert [(b["entry"], b["tokens_before"]) for b in out["boundaries"]] == [("00000043", 4242)]
    assert "4,242 tokens before" in run("stats", session).out
