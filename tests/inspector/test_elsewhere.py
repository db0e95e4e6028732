"""From a timeline to another leaf of the session, and to a sub-agent or a fork of it and back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from textual.pilot import Pilot
from textual.widgets import OptionList

from core.opening import open_session
from inspector.app import Inspector
from inspector.elsewhere import places
from inspector.screens.elsewhere import ElsewhereScreen
from tests.core.claude_sessions import SESSION, Build, own
from tests.inspector.driving import on, on_timeline, until


def branched(folder: Path) -> Path:
    """A session with a branch that was left, and a sub-agent in a file of its own."""
    made = Build().turns(1, 2)
    made.user("again", parent="a1")
    made.reply("[red]re[/red] again")
    path = made.write(folder / f"{SESSION}.jsonl")
    below = folder / SESSION / "subagents"
    below.mkdir(parents=True, exist_ok=True)
    helper = Build()
    helper.user("task", isSidechain=True, agentId="a1")
    helper.reply("done", isSidechain=True, agentId="a1")
    helper.write(below / "agent-a1.jsonl")
    return path


async def chosen(pilot: Pilot[Any], *keys: str) -> ElsewhereScreen:
    await on_timeline(pilot)
    await pilot.press("o")
    screen: ElsewhereScreen = await on(pilot, ElsewhereScreen)
    await until(pilot, lambda: screen.places is not None)
    await pilot.press(*keys)
    return screen


def texts(screen: Any) -> list[str]:
    return [item.text for item in screen.opened.view.items]


def test_places_are_leaves_and_children_with_what_to_open(tmp_path: Path) -> None:
    opened = open_session(branched(tmp_path))
    leaf, child = places(opened, None)
    assert (leaf.path, leaf.leaf, leaf.is_child) == (opened.session.path, own("a2"), False)
    assert child.is_child and child.leaf is None and child.path.name == "agent-a1.jsonl"
    assert "sub-agent" in child.words and "2,149" in child.words
    back = places(open_session(opened.session.path, leaf=own("a2")), own("a2"))
    assert back[0].leaf is None and not back[0].is_child


async def test_another_leaf_takes_the_place_of_this_one_and_leads_back(tmp_path: Path) -> None:
    app = Inspector(branched(tmp_path))
    async with app.run_test(size=(120, 40)) as pilot:
        await chosen(pilot, "enter")
        await until(pilot, lambda: getattr(app.screen, "leaf", None) == own("a2"))
        assert texts(await on_timeline(pilot)) == ["q1", "a1", "q2", "a2"]
        depth = len(app.screen_stack)
        await chosen(pilot, "enter")
        await until(pilot, lambda: getattr(app.screen, "leaf", "") is None)
        assert texts(await on_timeline(pilot))[-1] == "[red]re[/red] again"
        assert len(app.screen_stack) == depth


async def test_a_child_opens_above_its_parent_and_esc_goes_back(tmp_path: Path) -> None:
    app = Inspector(branched(tmp_path))
    async with app.run_test(size=(120, 40)) as pilot:
        parent = await on_timeline(pilot)
        await chosen(pilot, "end", "enter")
        await until(pilot, lambda: app.screen is not parent and hasattr(app.screen, "opened"))
        assert texts(await on_timeline(pilot)) == ["task", "done"]
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is parent)


async def test_esc_changes_nothing_and_a_session_without_any_says_so(tmp_path: Path) -> None:
    app = Inspector(Build().turns(1).write(tmp_path / "a.jsonl"))
    async with app.run_test(size=(80, 24)) as pilot:
        timeline = await on_timeline(pilot)
        screen = await chosen(pilot)
        assert screen.query_one(OptionList).option_count == 0
        assert "none" in str(screen.query_one("#said").render())
        await pilot.press("enter", "escape")
        await until(pilot, lambda: app.screen is timeline)
