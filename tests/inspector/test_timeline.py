"""The timeline under keys and mouse, from opening to counted figures."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path
from typing import Any

import pytest

from core.agents.protocol import Progress
from core.opening import Opened
from core.view import Item, Source
from inspector.app import Inspector
from inspector.screens.chooser import ChooserScreen
from inspector.screens.help import HelpScreen
from inspector.screens.opening import OpeningScreen
from inspector.screens.timeline import TimelineScreen
from inspector.widgets.growth import GrowthStrip
from inspector.widgets.meter import Meter
from inspector.widgets.meter_rows import Gauge
from inspector.widgets.timeline_list import TimelineList
from inspector.widgets.timeline_rows import Group, Line, Timeline, Tokens
from tests.inspector.driving import CHINESE, ENGLISH, VERSION, drawn, on, on_timeline, until
from tests.inspector.test_timeline_rows import PROFILE


def item_of(screen: TimelineScreen) -> Item | None:
    line, _ = screen.list.selected
    return None if line is None else screen.timeline.lines[line].item


def shown(screen: TimelineScreen) -> str:
    return "\n".join(block.text for block in screen.blocks())


@pytest.mark.parametrize("session", [ENGLISH, CHINESE])
async def test_the_figures_are_the_cores_and_say_what_they_are(session: Path) -> None:
    app = Inspector(session, VERSION)
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await on_timeline(pilot)
        assert screen.tokens.total == screen.opened.view_tokens
        picture = drawn(pilot)
        gauge = app.screen.query_one(Meter).gauge
        assert gauge is not None and gauge.used.kind in ("reported", "counted", "reported + counted")
        assert f"{gauge.used.value:,} tokens" in picture
        assert "handoff acts at" in picture and "pi acts at" in picture and "window 128,000" in picture
        assert screen.query_one(GrowthStrip).growth is not None


async def test_figures_that_come_in_quick_succession_get_the_room_that_the_last_ones_need() -> None:
    app = Inspector(ENGLISH, VERSION)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await on_timeline(pilot)
        meter = screen.query_one(Meter)
        full = meter.gauge
        assert full is not None and screen.measured is not None
        height = meter.size.height
        await pilot.pause()
        meter.show(Gauge(full.used, full.used))
        # Another widget's wish for a layout is handled first.
        other = screen.query_one(GrowthStrip).refresh(layout=True)
        other._check_refresh()
        screen._refresh_layout()
        assert meter.size.height != height
        meter.show(full)
        await until(pilot, lambda: meter.size.height == height)


async def test_rows_come_before_they_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    gate: list[bool] = []

    def slowly(*given: object) -> None:
        while not gate:
            time.sleep(0.01)

    monkeypatch.setattr("inspector.screens.timeline.count", slowly)
    app = Inspector(ENGLISH, VERSION)
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await on(pilot, TimelineScreen)
        await until(pilot, lambda: screen.list.count > 10)
        assert "~" in drawn(pilot) and "estimated" in drawn(pilot)
        gate.append(True)
        await on_timeline(pilot)


async def test_jumps(monkeypatch: pytest.MonkeyPatch) -> None:
    app = Inspector(ENGLISH, VERSION)
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await on_timeline(pilot)
        await pilot.press("]")
        assert screen.list.selected == (None, 1)
        await pilot.press("down", "[")
        assert screen.list.selected == (None, 1), "from inside a turn, back to its own start first"
        await pilot.press("[")
        assert screen.list.selected == (None, 0)

        await pilot.press("b")
        line, _ = screen.list.selected
        assert line is not None and screen.tokens.values[line] == max(screen.tokens.values)
        await pilot.press("b")
        second, _ = screen.list.selected
        assert second != line

        await pilot.press("p")
        pair = [item_of(screen)]
        await pilot.press("p")
        pair.append(item_of(screen))
        assert {one.kind for one in pair if one} == {"tool_call", "tool_result"}
        assert len({one.call_id for one in pair if one}) == 1

        await pilot.press("e")
        error = item_of(screen)
        assert error is not None and error.is_error
        await pilot.press("home")
        assert screen.list.cursor == 0
        await pilot.press("end")
        assert screen.list.cursor == screen.list.count - 1


async def test_folding_keeps_the_place() -> None:
    app = Inspector(ENGLISH, VERSION)
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await on_timeline(pilot)
        everything = screen.list.count
        await pilot.press("b")
        line, group = screen.list.selected
        await pilot.press("z")
        assert screen.list.count == len(screen.timeline.groups)
        assert screen.list.selected == (None, group)
        await pilot.press("space")
        assert screen.list.count == len(screen.timeline.groups) + (
            screen.timeline.groups[group].stop - screen.timeline.groups[group].start
        )
        await pilot.press("z", "z")
        assert screen.list.count == everything
        assert line is not None


async def test_the_detail_shows_full_text_and_the_stored_record() -> None:
    app = Inspector(ENGLISH, VERSION)
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await on_timeline(pilot)
        await pilot.press("b")
        item = item_of(screen)
        assert item is not None and item.text in shown(screen)
        entry = screen.opened.session.entry(item.source[0].entry)
        assert entry is not None and f"line {entry.line:,} of the file" in shown(screen)
        await pilot.press("r")
        assert json.loads(shown(screen).splitlines()[-1])["id"] == entry.id
        await pilot.press("r")
        assert item.text in shown(screen)
        await pilot.press("enter")
        assert app.focused is screen.detail
        await pilot.press("escape")
        assert app.focused is screen.list


async def test_the_mouse_selects_folds_and_opens() -> None:
    app = Inspector(ENGLISH, VERSION)
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await on_timeline(pilot)
        await pilot.click("#list", offset=(20, 3))
        assert screen.list.cursor == 2
        before = screen.list.count
        await pilot.click("#list", offset=(20, 1))
        assert screen.list.cursor == 0 and screen.list.count < before
        await pilot.click("#list", offset=(20, 3), times=2)
        assert app.focused is screen.detail
        await pilot.click("GrowthStrip", offset=(60, 2))
        line, _ = screen.list.selected
        assert line is not None and line > 20


async def test_a_small_terminal_shows_one_pane_at_a_time() -> None:
    app = Inspector(ENGLISH, VERSION)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await on_timeline(pilot)
        assert screen.list.display and not screen.detail.display
        assert screen.list.size.height >= 14
        await pilot.press("down", "enter")
        await pilot.pause()
        assert screen.detail.display and not screen.list.display
        await pilot.press("escape")
        await pilot.pause()
        assert screen.list.display


async def test_hostile_text_is_shown_and_never_obeyed(tmp_path: Path) -> None:
    path = tmp_path / "hostile.jsonl"
    text = "\x1b[2J\x1b]0;owned\x07 [bold]not bold[/bold] \u202egpj.exe \u200b中文 👩\u200d👧 \ud83d"
    rows: list[dict[str, Any]] = [
        {"type": "session", "version": 3, "id": "a" * 8, "timestamp": "2026-01-01T00:00:00.000Z", "cwd": "/" + text},
        {
            "type": "message",
            "id": "b" * 8,
            "parentId": None,
            "timestamp": "2026-01-01T00:00:01.000Z",
            "message": {"role": "user", "content": text + "\nsecond line " + text, "timestamp": 1},
        },
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    app = Inspector(path, VERSION)
    async with app.run_test(size=(120, 40)) as pilot:
        await on_timeline(pilot)
        await pilot.press("down")
        await pilot.pause()
        picture = drawn(pilot)
        assert "␛[2J" in picture and "[bold]not bold[/bold]" in picture and "‹U+202E›" in picture
        assert not set(picture) & set("\x1b\x07\u202e\u200b\ud83d")


async def test_a_million_rows_cost_what_the_screen_costs() -> None:
    number = 1_000_000
    one = Item("assistant", "text", "a line of this session", source=(Source("e", 0),))
    line = Line(one, 0)
    timeline = Timeline((line,) * number, (Group("turn", 1, 0, number, "everything"),))
    tokens = Tokens.estimated(timeline)

    class Big(Inspector):
        def begin(self) -> None:
            self.mount(TimelineList(id="big"))

    app = Big(None)
    async with app.run_test(size=(120, 40)) as pilot:
        big = app.query_one("#big", TimelineList)
        big.show(timeline, tokens, PROFILE, 1000, set())
        big.focus()
        await pilot.pause()
        start = time.process_time()
        await pilot.press("end", "pageup", "up", "up", "home", "pagedown", "down")
        assert time.process_time() - start < 2.0
        assert big.count == number + 1


async def test_what_cannot_be_opened_says_why(tmp_path: Path) -> None:
    path = tmp_path / "no.jsonl"
    path.write_text("this is no session\n")
    app = Inspector(path, VERSION)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await on(pilot, OpeningScreen)
        await until(pilot, lambda: "not a session" in str(screen.query_one("#problem").content))
        await pilot.press("escape")
        await pilot.pause()
    assert app.return_code == 0 or app.return_value == 1


async def test_reading_can_be_cancelled(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    steps: list[int] = []

    def slowly(path: Path, overrides: object, leaf: str | None, progress: Progress) -> Opened:
        for step in range(1000):
            progress(step, 1000)
            steps.append(step)
            time.sleep(0.01)
        raise AssertionError("was not cancelled")

    monkeypatch.setattr("inspector.screens.opening.open_path", slowly)
    folder = tmp_path / "sessions"
    folder.mkdir()
    for name in ("one", "two"):
        shutil.copy(ENGLISH, folder / f"{name}.jsonl")
    app = Inspector(folder, VERSION)
    async with app.run_test(size=(80, 24)) as pilot:
        chooser = await on(pilot, ChooserScreen)
        await until(pilot, lambda: chooser.list.count == 2)
        await pilot.press("enter")
        await on(pilot, OpeningScreen)
        await until(pilot, lambda: len(steps) > 3)
        await pilot.press("escape")
        await on(pilot, ChooserScreen)
        await pilot.pause(0.1)
        assert len(steps) < 900


async def test_help_and_palette_come_from_the_table_of_keys() -> None:
    app = Inspector(ENGLISH, VERSION)
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await on_timeline(pilot)
        await pilot.press("question_mark")
        await on(pilot, HelpScreen)
        await pilot.press("escape")
        assert app.screen is screen
        await pilot.press("ctrl+p")
        await pilot.pause(0.2)
        await pilot.press(*"biggest")
        await pilot.pause(0.5)
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is screen)
        await until(pilot, lambda: screen.list.selected[0] is not None)
        line, _ = screen.list.selected
        assert line is not None and screen.tokens.values[line] == max(screen.tokens.values)


async def test_counting_can_be_stopped_and_goes_on_when_a_review_needs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    from inspector import measuring

    stopped: list[bool] = []

    def endless(opened: Opened, timeline: Timeline, report: object, cancelled: Any) -> None:
        while not cancelled():
            time.sleep(0.01)
        stopped.append(True)

    real = measuring.count
    monkeypatch.setattr("inspector.screens.timeline.count", endless)
    app = Inspector(ENGLISH, VERSION)
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await on(pilot, TimelineScreen)
        await until(pilot, lambda: screen.list.count > 10)
        await pilot.press("escape")
        await until(pilot, lambda: stopped)
        assert app.screen is screen and screen.measured is None
        monkeypatch.setattr("inspector.screens.timeline.count", real)
        await pilot.press("v")
        await on_timeline(pilot)
        assert screen.tokens.counted_to == len(screen.tokens.values)


async def test_the_look_can_be_switched_and_every_row_follows() -> None:
    app = Inspector(ENGLISH, VERSION)
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await on_timeline(pilot)

        def colours() -> set[str]:
            strips = [screen.list.render_line(y) for y in range(10)]
            return {str(segment.style.color) for strip in strips for segment in strip if segment.style}

        dark = colours()
        await pilot.press("ctrl+t")
        await pilot.pause()
        light = colours()
        assert not app.current_theme.dark
        assert dark and light and not dark & light
