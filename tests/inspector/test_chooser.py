"""Choosing a session: in a folder, on this machine, and where there is none."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from inspector.app import Inspector
from inspector.screens.chooser import ChooserScreen
from tests.inspector.driving import CHINESE, ENGLISH, SAMPLES, VERSION, on, on_timeline, until


async def listed(pilot: Pilot[Any], count: int) -> ChooserScreen:
    chooser = await on(pilot, ChooserScreen)
    await until(pilot, lambda: [one for one in chooser.list.sessions if one.messages] and chooser.list.count == count)
    return chooser


def said(chooser: ChooserScreen) -> str:
    return str(chooser.query_one("#where").content)  # type: ignore[attr-defined]


def problem(pilot: Pilot[Any]) -> str:
    return "".join(str(line.content) for line in pilot.app.screen.query("#problem").results(Static))


async def test_a_folder_with_several_sessions_lists_them_and_enter_opens(tmp_path: Path) -> None:
    for sample in (ENGLISH, CHINESE):
        shutil.copy(sample, tmp_path)
    (tmp_path / "notes.txt").write_text("no session")
    app = Inspector(tmp_path, VERSION)
    async with app.run_test(size=(120, 40)) as pilot:
        chooser = await listed(pilot, 2)
        await until(pilot, lambda: all(one.messages for one in chooser.list.sessions))
        titles = {one.title for one in chooser.list.sessions}
        assert any("LegacyStore" in title for title in titles) and any("LegacyOrderClient" in title for title in titles)
        wanted = chooser.list.sessions[1].found.path
        await pilot.press("down", "enter")
        timeline = await on_timeline(pilot)
        assert timeline.opened.session.path == wanted
        await pilot.press("escape")
        assert await on(pilot, ChooserScreen) is chooser


async def test_a_folder_with_one_session_opens_it_at_once(tmp_path: Path) -> None:
    shutil.copy(CHINESE, tmp_path)
    app = Inspector(tmp_path, VERSION)
    async with app.run_test(size=(120, 40)) as pilot:
        timeline = await on_timeline(pilot)
        assert timeline.opened.session.path == tmp_path / CHINESE.name


async def test_without_a_path_the_sessions_of_this_machine_are_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PI_CODING_AGENT_DIR", str(tmp_path))
    project = tmp_path / "sessions" / "--home-me-project--"
    project.mkdir(parents=True)
    shutil.copy(ENGLISH, project)
    app = Inspector(None, VERSION)
    async with app.run_test(size=(120, 40)) as pilot:
        chooser = await listed(pilot, 1)
        assert "1 session on this machine" in said(chooser)


async def test_where_there_is_none_it_says_where_it_looked_and_offers_copies_of_the_samples(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PI_CODING_AGENT_DIR", str(tmp_path))
    app = Inspector(None, VERSION)
    async with app.run_test(size=(120, 40)) as pilot:
        chooser = await listed(pilot, 12)
        assert str(tmp_path / "sessions") in said(chooser) and "samples" in said(chooser)
        folders = [row.found.path for row in chooser.list.sessions]
        chooser.list.cursor = next(number for number, path in enumerate(folders) if path.name == "chat_history.jsonl")
        await pilot.press("enter")
        timeline = await on_timeline(pilot)
        path = timeline.opened.session.path
        assert path.name == "chat_history.jsonl" and (path.parent / "summary.json").is_file()
        assert SAMPLES not in path.parents, "a copy: nothing that is tried changes the sample"


async def test_a_session_that_is_gone_says_so(tmp_path: Path) -> None:
    shutil.copy(ENGLISH, tmp_path)
    shutil.copy(CHINESE, tmp_path)
    app = Inspector(tmp_path, VERSION)
    async with app.run_test(size=(120, 40)) as pilot:
        chooser = await listed(pilot, 2)
        gone = chooser.list.sessions[1].found.path
        gone.unlink()
        await pilot.press("down", "enter")
        await until(pilot, lambda: "no such file" in problem(pilot))
        await pilot.press("escape")
        assert await on(pilot, ChooserScreen) is chooser


async def test_an_empty_folder_says_where_it_looked(tmp_path: Path) -> None:
    app = Inspector(tmp_path, VERSION)
    async with app.run_test(size=(120, 40)) as pilot:
        chooser = await on(pilot, ChooserScreen)
        await until(pilot, lambda: f"No session found in {tmp_path}." in said(chooser))
