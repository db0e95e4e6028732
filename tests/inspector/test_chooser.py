"""Choosing a session: in a folder, on this machine, and where there is none."""

from __future__ import annotations

import shutil
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from rich.cells import cell_len
from textual.pilot import Pilot
from textual.widgets import Static

from core.finding import Place
from core.surveying import Installed, Survey, survey
from inspector.app import Inspector
from inspector.screens.chooser import ChooserScreen
from inspector.widgets.session_rows import LIVE
from tests.core.dated_sessions import pi_session
from tests.inspector.driving import CHINESE, ENGLISH, SAMPLES, VERSION, drawn, on, on_timeline, until

CASES = Path(__file__).parents[1] / "data" / "conformance"


async def listed(pilot: Pilot[Any], count: int) -> ChooserScreen:
    chooser = await on(pilot, ChooserScreen)
    await until(pilot, lambda: chooser.read and chooser.list.count == count)
    return chooser


def shown(chooser: ChooserScreen) -> list[str]:
    """The files of the rows, in their order."""
    return [row.place.path.name for row, _ in chooser.list.shown]


def titles(chooser: ChooserScreen) -> str:
    return "\n".join(row.survey.title for row, _ in chooser.list.shown if row.survey)


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
        assert "LegacyStore" in titles(chooser) and "LegacyOrderClient" in titles(chooser)
        wanted = chooser.list.shown[1][0].place.path
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
        chooser = await listed(pilot, 14)
        assert str(tmp_path / "sessions") in said(chooser) and "samples" in said(chooser)
        folders = [row.place.path for row, _ in chooser.list.shown]
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
        gone = chooser.list.shown[1][0].place.path
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


@pytest.fixture
def several(tmp_path: Path) -> Path:
    """Four sessions of two agents, one of them begun by another, and a file that is none."""
    pi_session(tmp_path / "new.jsonl", "/work/alpha", "2026-11-03T10:00:00Z")
    pi_session(tmp_path / "old.jsonl", "/work/beta", "2026-11-01T10:00:00Z", "2026-11-01T10:01:00Z")
    lineage = CASES / "codex" / "fork_history_base" / "session"
    for rollout in lineage.iterdir():
        shutil.copy(rollout, tmp_path)
    (tmp_path / "none.jsonl").write_text("{}\n")
    return tmp_path


async def test_children_stand_below_their_parents_and_what_is_no_session_is_told(several: Path) -> None:
    app = Inspector(several, VERSION)
    async with app.run_test(size=(120, 40)) as pilot:
        chooser = await listed(pilot, 4)
        assert [depth for _, depth in chooser.list.shown] == [0, 1, 0, 0]
        assert shown(chooser)[2:] == ["new.jsonl", "old.jsonl"]
        assert "4 sessions" in said(chooser) and "1 file that is none" in said(chooser)
        assert "└ Name three rivers." in drawn(pilot)


async def test_what_is_typed_filters_at_once_and_escape_shows_all_again(several: Path) -> None:
    app = Inspector(several, VERSION)
    async with app.run_test(size=(120, 40)) as pilot:
        chooser = await listed(pilot, 4)
        await pilot.press("slash", *"pi")
        assert set(shown(chooser)) == {"new.jsonl", "old.jsonl"}
        await pilot.press("space", *"BETA")
        assert shown(chooser) == ["old.jsonl"]
        await pilot.press("q", "s")
        assert shown(chooser) == [] and chooser.list.selected is None
        await pilot.press("enter")
        assert pilot.app.screen is chooser, "there is nothing to open"
        await pilot.press("escape")
        assert chooser.list.count == 4 and chooser.list.has_focus
        await pilot.press("slash", *"work", "down", "enter")
        timeline = await on_timeline(pilot)
        assert timeline.opened.session.path.name == "old.jsonl"


async def test_the_list_can_be_sorted_by_other_columns_and_keeps_the_selected_session(several: Path) -> None:
    app = Inspector(several, VERSION)
    async with app.run_test(size=(80, 24)) as pilot:
        chooser = await listed(pilot, 4)
        await pilot.press("end")
        assert chooser.list.selected is not None and chooser.list.selected.place.path.name == "old.jsonl"
        for order in ("tokens", "threshold", "size", "project", "activity"):
            await pilot.press("s")
            assert f"{order if order != 'activity' else 'age'}▾" in drawn(pilot)
            assert chooser.list.selected.place.path.name == "old.jsonl"
            sizes = [row.place.size for row, depth in chooser.list.shown if not depth]
            assert order != "size" or sizes == sorted(sizes, reverse=True)


async def test_a_session_that_an_agent_has_open_is_marked(several: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def open_there(self: object, path: Path) -> str | None:
        return "pi (process 7) has this file open" if path.name == "old.jsonl" else None

    monkeypatch.setattr("core.agents.pi.Pi.known_running", open_there)
    app = Inspector(several, VERSION)
    async with app.run_test(size=(120, 40)) as pilot:
        chooser = await listed(pilot, 4)
        await until(pilot, lambda: chooser.list.running)
        marked = [line for line in drawn(pilot).splitlines() if line[1:2] == LIVE]
        assert len(marked) == 1 and "words of old" in marked[0]
        await pilot.press("end")
        await until(pilot, lambda: "process 7" in drawn(pilot))


async def test_rows_are_there_before_anything_was_read(several: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gate = Event()

    def slowly(place: Place, installed: Installed) -> Survey:
        assert gate.wait(30)
        return survey(place, installed)

    monkeypatch.setattr("inspector.listing.survey", slowly)
    app = Inspector(several, VERSION)
    async with app.run_test(size=(120, 40)) as pilot:
        chooser = await on(pilot, ChooserScreen)
        await until(pilot, lambda: chooser.list.count == 5)
        assert "reading 5 more" in said(chooser) and "new.jsonl" in drawn(pilot)
        await pilot.press("end")
        gate.set()
        await listed(pilot, 4)


async def test_after_a_visit_the_figures_are_those_of_the_changed_file(several: Path) -> None:
    app = Inspector(several, VERSION)
    async with app.run_test(size=(120, 40)) as pilot:
        chooser = await listed(pilot, 4)
        await pilot.press("end", "enter")
        await on_timeline(pilot)
        pi_session(several / "old.jsonl", "/work/gamma", "2027-01-01T10:00:00Z")
        await pilot.press("escape")
        await until(pilot, lambda: chooser.list.selected and chooser.list.shown[0][0].time > 1_798_000_000)
        assert shown(chooser)[0] == "old.jsonl"
        assert chooser.list.selected is not None and chooser.list.selected.place.path.name == "old.jsonl"


async def test_text_of_sessions_can_do_nothing_to_the_screen(tmp_path: Path) -> None:
    for number, title in enumerate(("[bold]no markup[/bold]", "\x1b[31mred \u202eturned", "请修复测试 🙏 日本語")):
        pi_session(tmp_path / f"{number}.jsonl", f"/work/{title}", "2026-11-03T10:00:00Z", words=title)
    app = Inspector(tmp_path, VERSION)
    async with app.run_test(size=(80, 24)) as pilot:
        await listed(pilot, 3)
        picture = drawn(pilot)
        assert "[bold]no markup" in picture and "\x1b" not in picture and "\u202e" not in picture
        assert all(cell_len(line) == 80 for line in picture.splitlines())
