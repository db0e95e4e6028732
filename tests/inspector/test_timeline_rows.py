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
from inspector.widgets.detail_rows import group_blocks
from inspector.widgets.review_rows import CUT, counted, rows_with_cut
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


@pytest.mark.parametrize(
    ("what", "number", "words"),
    [("point", 1, "1 pointer"), ("point", 2, "2 pointers"), ("summarize", 1, "1 summarised"), ("drop", 3, "3 dropped")],
)
def test_how_many_go_one_way(what: str, number: int, words: str) -> None:
    assert counted(what, number) == words


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


def test_what_left_between_kept_items_is_shown_dimmed_and_not_counted() -> None:
    old: Sight = "summarized"
    gone = tuple(Seen(item(f"gone {number}"), old, "e9") for number in range(3))
    shown = view(
        item("a summary", mark="summary", role="user"),
        item("kept one"),
        item("kept two"),
        item("question", role="user"),
        item("answer"),
    )
    seen = [Seen(one, "visible") for one in shown.items]
    history = (seen[1], gone[0], gone[1], seen[2], gone[2], seen[3], seen[4], seen[0])
    timeline = laid_out(shown, history)
    assert [(group.kind, group.stop - group.start) for group in timeline.groups] == [("lead", 6), ("turn", 2)]
    tokens = Tokens.estimated(timeline)
    tokens.count(timeline, 0, array("q", [1, 10, 1_000, 2_000, 20, 4_000, 100, 200]))
    cells = header_cells(timeline, 0, tokens, 1000, False)
    assert (cells.tokens, cells.badge) == ("31", "3 items +3 unseen")
    said = [block.text for block in group_blocks(timeline, 0, tokens, 1000)]
    assert said[1].startswith("3 items · 31 tokens")
    bars = [line.split() for line in said if "×" in line]
    assert sum(int(words[1]) for words in bars) == 3 and sum(int(words[3]) for words in bars) == 31
    assert any("not counted" in line and "3 summarised" in line for line in said)
    dimmed = [line_cells(timeline, line, tokens, PROFILE, 1000) for line in range(6)]
    assert [cells.dim for cells in dimmed] == [False, False, True, True, False, True]
    assert all(not cells.running and not cells.share for cells in dimmed if cells.dim)
    assert header_cells(timeline, 1, tokens, 1000, False).badge == "2 items"


def test_a_group_is_counted_when_what_is_seen_of_it_is() -> None:
    history = (Seen(SESSION.items[1], "visible"), Seen(item("gone"), "pruned"), Seen(SESSION.items[2], "visible"))
    timeline = laid_out(SESSION, history)
    assert timeline.lines[2].position is None
    tokens = Tokens.estimated(timeline)
    tokens.count(timeline, 0, array("q", [1, 2]))
    assert header_cells(timeline, 1, tokens, None, False).tokens.startswith("~")
    tokens.count(timeline, 3, array("q", [3]))
    assert header_cells(timeline, 1, tokens, None, False).tokens == "5"


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
