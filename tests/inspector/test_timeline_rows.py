"""The timeline as values: grouping, folding, what left the view, totals, and rows that always fit."""

from __future__ import annotations

from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.style import Style

from core.agents.protocol import Profile
from core.resume import Known, Resume
from core.view import Item, Seen, Sight, Source, Unit, View, turns
from inspector.widgets.review_rows import CUT, rows_with_cut
from inspector.widgets.review_strips import Marked
from inspector.widgets.review_strips import row as review_row
from inspector.widgets.timeline_rows import (
    Cells,
    Timeline,
    Tokens,
    build,
    group_of_header,
    header_cells,
    kind_of,
    line_cells,
    rows,
)
from inspector.widgets.timeline_strips import heading, row

PROFILE = Profile(
    agent="test",
    title="test",
    newest_client="1",
    reserve=10,
    keep_recent=10,
    image_tokens=100,
    image_rule="a test",
    tools={},
)


def item(text: str, role: str = "assistant", kind: str = "text", entry: str = "", **more: object) -> Item:
    source = (Source(entry or text, 0),)
    return Item(role=role, kind=kind, text=text, source=source, **more)  # type: ignore[arg-type]


def view(*items: Item, fresh: tuple[Item, ...] = ()) -> View:
    return View("test", Resume(Known("1", "a test")), tuple(items), fresh)


def units(shown: View) -> tuple[Unit, ...]:
    made: list[Unit] = []
    for at, one in enumerate(shown.items):
        starts = one.role == "user" and not one.mark
        made.append(Unit(f"u{at}", "user" if starts else "assistant", (at,), (f"e{at}",), starts))
    return tuple(made)


def laid_out(shown: View, history: tuple[Seen, ...] = ()) -> Timeline:
    return build(shown, turns(units(shown)), history)


SESSION = view(
    item("kept from before", mark="summary", role="user"),
    item("first question", role="user"),
    item("answer"),
    item("second question", role="user"),
    item("another answer"),
    item("last word"),
)


def test_items_are_grouped_by_turn_and_what_stands_before_them_apart() -> None:
    timeline = laid_out(SESSION)
    assert [(group.kind, group.number, group.stop - group.start) for group in timeline.groups] == [
        ("lead", 0, 1),
        ("turn", 1, 2),
        ("turn", 2, 3),
    ]
    assert timeline.groups[1].title == "first question"
    assert [timeline.group_of(line) for line in range(6)] == [0, 1, 1, 2, 2, 2]


def test_what_left_before_all_is_one_folded_group_and_what_left_later_stands_in_its_place() -> None:
    old: Sight = "summarized"
    history = (
        Seen(item("old question", role="user"), old, "e9"),
        Seen(item("old answer"), old, "e9"),
        *(Seen(one, "visible") for one in SESSION.items[1:3]),
        Seen(item("long log"), "pruned", "e8"),
        *(Seen(one, "visible") for one in SESSION.items[3:]),
        Seen(SESSION.items[0], "visible"),
    )
    timeline = laid_out(SESSION, history)
    assert timeline.groups[0].kind == "past"
    texts = [line.item.text for line in timeline.lines]
    assert texts == [
        "old question",
        "old answer",
        "kept from before",
        "first question",
        "answer",
        "long log",
        "second question",
        "another answer",
        "last word",
    ]
    assert [line.sight for line in timeline.lines][5] == "pruned"
    positions = [line.position for line in timeline.lines if line.position is not None]
    assert positions == list(range(6)), "every item of the view stands there once, in order"
    assert timeline.line_at(3) == 6


def test_nothing_of_the_view_is_lost_without_any_history() -> None:
    assert [line.position for line in laid_out(SESSION).lines] == list(range(6))


def test_folding_takes_away_the_lines_and_leaves_the_header() -> None:
    timeline = laid_out(SESSION)
    all_rows = rows(timeline, set())
    assert len(all_rows) == 6 + 3
    folded = rows(timeline, {1})
    assert [group_of_header(row_number) for row_number in folded].count(None) == 4
    assert len(folded) == 4 + 3


@pytest.mark.parametrize(("cut", "folded", "above"), [(1, set[int](), 2), (3, set[int](), 5), (4, {2}, 6), (6, {2}, 6)])
def test_the_cut_has_a_row_of_its_own(cut: int, folded: set[int], above: int) -> None:
    timeline = laid_out(SESSION)
    shown, place = rows_with_cut(timeline, folded, cut)
    assert place is not None and shown[place] == CUT
    assert place == above
    assert len(shown) == len(rows(timeline, folded)) + 1


def test_totals_are_those_of_the_view_alone() -> None:
    history = (Seen(item("x" * 400), "summarized", "e9"), *(Seen(one, "visible") for one in SESSION.items))
    timeline = laid_out(SESSION, history)
    tokens = Tokens.estimated(timeline)
    assert tokens.counted_to == 1, "the past does not keep the running total from being counted"
    tokens.count(timeline, 1, array("q", [10, 20, 30, 40, 50, 60]))
    assert tokens.total == 210
    assert [tokens.running[at] for at in range(1, 7)] == [10, 30, 60, 100, 150, 210]
    assert tokens.of_group(timeline.groups[0]) == 100
    assert tokens.of_group(timeline.groups[2]) == 50
    assert tokens.scale == 150
    assert line_cells(timeline, 2, tokens, PROFILE, 1000).share == "2.0%"


def test_an_estimate_carries_a_tilde_until_it_is_counted() -> None:
    timeline = laid_out(SESSION)
    tokens = Tokens.estimated(timeline)
    assert line_cells(timeline, 1, tokens, PROFILE, None).tokens.startswith("~")
    tokens.count(timeline, 0, array("q", [1, 2, 3]))
    assert line_cells(timeline, 1, tokens, PROFILE, None).tokens == "2"
    assert header_cells(timeline, 2, tokens, None, False).tokens.startswith("~")


@pytest.mark.parametrize(
    ("one", "kind", "badge"),
    [
        (item("x", origin="repair", kind="tool_result", role="tool"), "result", "repair"),
        (item("x", kind="tool_result", role="tool", is_error=True), "error", ""),
        (item("x", mark="shell", role="user"), "shell", ""),
        (item("x", kind="thinking", opaque=True), "thinking", ""),
        (item("x", kind="image", media_type="image/png"), "image", ""),
    ],
)
def test_kinds_and_origins_are_told_in_words(one: Item, kind: str, badge: str) -> None:
    timeline = laid_out(view(one))
    cells = line_cells(timeline, 0, Tokens.estimated(timeline), PROFILE, None)
    assert (cells.kind, cells.badge) == (kind, badge)
    assert kind_of(one) == kind


def test_a_fresh_item_is_shown_as_such() -> None:
    timeline = laid_out(view(item("hello", role="user"), fresh=(item("rules", role="system", origin="fresh"),)))
    assert timeline.groups[0].kind == "fresh"
    assert line_cells(timeline, 0, Tokens.estimated(timeline), PROFILE, None).badge == "fresh"


words = st.text(st.one_of(st.characters(), st.sampled_from("中🙂\x1b\u202e\u200d\ufe0f\t[]")), max_size=60)


@given(words, words, words, st.booleans(), st.booleans(), st.integers(20, 220))
def test_a_row_is_exactly_as_wide_as_the_list(
    text: str, tool: str, badge: str, strong: bool, selected: bool, width: int
) -> None:
    call = item(text, kind="tool_result", role="tool", name=tool)
    timeline = laid_out(view(call))
    cells = line_cells(timeline, 0, Tokens.estimated(timeline), PROFILE, 1000)
    made = Cells(
        cells.style,
        cells.icon,
        cells.kind,
        cells.tool,
        cells.text,
        badge[:5] and "pruned",
        strong=strong,
        tokens="12,345",
    )
    style = lambda name: Style()  # noqa: E731
    assert row(made, width, style, selected).cell_length == width
    marked = Marked("keep", "K ■", "9", cells.text)
    assert review_row(made, marked, width, style, selected).cell_length == width
    assert heading(width, style, "of window").cell_length == width
