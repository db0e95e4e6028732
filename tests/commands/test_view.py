"""`seamline view`: every item in order, tokens only where asked for, and the options that change a view."""

from __future__ import annotations

from pathlib import Path

from tests.commands.conftest import Run


def test_items_stand_in_request_order_with_their_source(run: Run, session: Path) -> None:
    items = run("view", session, "--json").json["items"]
    assert [item["type"] for item in items[:4]] == ["text", "text", "tool_call", "tool_result"]
    assert items[0]["text"] == "Question 0: what is in src/part_0.py?"
    assert items[2]["source"] == [{"entry": "00000002", "part": 1}]
    assert [item["unit"] for item in items[:4]] == ["00000001", "00000002", "00000002", "00000002"]
    assert all("tokens" not in item for item in items)


def test_tokens_add_up(run: Run, session: Path) -> None:
    out = run("view", session, "--json", "--tokens").json
    assert out["tokens"]["value"] == sum(item["tokens"] for item in out["items"])
    assert out["tokens"]["kind"] == "counted"
    assert all(item["tokens"] > 0 for item in out["items"])
    assert f"{out['tokens']['value']:,} tokens counted" in run("view", session, "--tokens").out


def test_overrides_name_their_source(run: Run, session: Path) -> None:
    words = ("--client-version", "0.73.1", "--window", "32000", "--model", "openai/gpt-5")
    out = run("view", session, "--json", *words).json
    assert out["client_version"] == "0.73.1"
    assert out["resume"]["window"] == {"value": 32000, "source": "command line"}
    assert out["resume"]["model"]["value"] == "gpt-5"


def test_a_leaf_ends_the_view_there(run: Run, session: Path) -> None:
    out = run("view", session, "--json", "--leaf", "00000003").json
    assert out["session"]["leaf"] == "00000003"
    assert len(out["items"]) == 4


def test_a_window_of_nothing_is_wrong_usage(run: Run, session: Path) -> None:
    for window in ("0", "-5", "many"):
        ran = run("view", session, "--window", window)
        assert ran.code == 2
        assert "--window" in ran.first_line


def test_the_human_form_has_a_line_an_item(run: Run, session: Path) -> None:
    out = run("view", session).out
    assert "pi session 5e55a9e0" in out
    assert 'call read {"path":"src/part_0.py"}' in out
    assert len(out.split("\n\n", 1)[1].splitlines()) == 88


def test_an_empty_file_has_no_view(run: Run, session: Path) -> None:
    session.write_bytes(b"")
    done = run("view", session, "--json")
    assert done.code == 1 and "no session" in done.json["error"]
    assert run("check", session).out.strip().endswith("an empty session, nothing wrong found")


def test_the_folder_that_one_is_in_can_be_named_with_dots(run: Run, session: Path) -> None:
    assert run("view", ".", cwd=session.parent).code == 0
    assert "no session in this folder" in run("view", "..", cwd=_empty(session.parent.parent / "a" / "b")).first_line


def _empty(folder: Path) -> Path:
    folder.mkdir(parents=True)
    return folder
