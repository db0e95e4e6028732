"""`seamline check`: finds what is wrong, says where and what the client does; silent on a sound session."""

from __future__ import annotations

from pathlib import Path

from tests.commands.conftest import Run
from tests.commands.writing import call, result, user


def test_a_sound_session_has_no_finding(run: Run, session: Path) -> None:
    ran = run("check", session, "--json")
    assert ran.code == 0
    assert ran.json["findings"] == []
    assert "nothing wrong" in run("check", session).out


def test_an_unanswered_call_is_named_with_its_line(run: Run, session: Path) -> None:
    with session.open("ab") as file:
        file.write(call(67, "bash", {"command": "ls"}, "call_open") + user(68, "and?"))
    ran = run("check", session, "--json")
    assert ran.code == 1
    (finding,) = ran.json["findings"]
    assert (finding["kind"], finding["line"]) == ("unanswered-call", 68)
    assert "call_open" in finding["message"]
    assert "No result provided" in finding["client"]


def test_an_orphaned_result_is_found(run: Run, session: Path) -> None:
    with session.open("ab") as file:
        file.write(result(67, "read", "call_of_nobody", "text") + user(68, "go on"))
    ran = run("check", session, "--json")
    assert ran.code == 1
    assert "call_of_nobody" in str(ran.json["findings"])


def test_a_broken_line_is_placed(run: Run, session: Path) -> None:
    lines = session.read_bytes().splitlines(keepends=True)
    lines[40] = b"\0" * 512 + b"\n"
    session.write_bytes(b"".join(lines))
    ran = run("check", session, "--json")
    assert ran.code == 1
    places = {(finding["line"], finding["offset"]) for finding in ran.json["findings"]}
    assert (41, len(b"".join(lines[:40]))) in places
    assert "line 41" in run("check", session).out
