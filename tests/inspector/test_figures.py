"""The token bar, the growth strip and the staircase as values: every mark labelled, every figure with its kind."""

from __future__ import annotations

from array import array
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from core.agents.protocol import Boundary, Usage, UsagePoint
from core.budget import Figure, Mark, Sum
from core.files import Disk
from core.session import Entry, Session
from inspector.widgets import figures
from inspector.widgets.growth_rows import DROP, Growth, Point, columns, cumulative, drawn, reported
from inspector.widgets.meter_rows import Gauge, bar, figures_lines, legend, sources
from inspector.widgets.staircase_rows import Step
from inspector.widgets.staircase_rows import lines as stairs
from inspector.widgets.timeline_rows import Tokens
from tests.inspector.test_timeline_rows import SESSION, laid_out

MARKS = (Mark("handoff", 96_496, "a sum"), Mark("pi", 111_616, "another"), Mark("window", 128_000, "a table"))
VIEW = Figure(90_000, "counted", "view")
REPORTED = Figure(95_000, "reported", "view, system prompt and tools")


def text(lines: list[list[tuple[str, str]]]) -> str:
    return "\n".join("".join(part for part, _ in line) for line in lines)


@given(st.integers(0, 400_000), st.integers(10, 200))
def test_the_bar_is_as_wide_as_asked_and_holds_every_mark(used: int, width: int) -> None:
    gauge = Gauge(Figure(used, "counted", "view"), VIEW, MARKS)
    drawn_bar = "".join(part for part, _ in bar(gauge, width))
    assert cell_len(drawn_bar) == width
    assert [sign for sign in drawn_bar if sign in "12┃"] == ["1", "2", "┃"]


@given(st.integers(20, 200))
def test_the_legend_names_every_mark_with_its_value_and_fits(width: int) -> None:
    lines = legend(MARKS, width)
    for words in ("1 handoff acts at 96,496", "2 pi acts at 111,616", "┃ window 128,000"):
        assert words in text(lines)
    if width >= 30:
        assert all(cell_len("".join(part for part, _ in line)) <= width for line in lines)


def test_an_unknown_window_says_what_to_do() -> None:
    gauge = Gauge(VIEW, VIEW)
    assert bar(gauge, 100) == []
    assert "--window" in text(legend((), 100))


def test_figures_say_their_kind_and_what_they_include() -> None:
    said = text(figures_lines(Gauge(REPORTED, VIEW, MARKS), 200))
    assert "95,000 tokens · 74.2% of the window" in said
    assert "reported: view, system prompt and tools" in said
    assert "view alone 90,000 counted" in said


def test_a_sum_shows_its_parts_and_a_stale_figure_its_reason() -> None:
    later = Sum((REPORTED, Figure(1_200, "counted", "2 items after the last reply")))
    said = text(figures_lines(Gauge(later, VIEW, MARKS, stale="a compaction came after it"), 80))
    assert "95,000 reported: view, system prompt and tools + 1,200 counted: 2 items after the last reply" in said
    assert "no longer holds: a compaction came after it" in said
    assert "a sum" in sources(Gauge(later, VIEW, MARKS))


def session(*entries: str) -> Session:
    made = [Entry(name, at, at + 1, at * 10, 9, "message") for at, name in enumerate(entries)]
    return Session("test", Path("x"), Disk(), "x", "", "", made, [], None, "f", None)


def test_the_growth_strip_drops_where_a_compaction_was() -> None:
    points = tuple(UsagePoint(name, tokens, 0, 0, "m") for name, tokens in (("a", 10), ("b", 90), ("d", 20), ("e", 30)))
    usage = Usage(points, (Boundary("c", "pi", 90, None),), 30)
    growth = reported(session("a", "b", "c", "d", "e"), usage)
    assert growth is not None
    assert [(point.tokens, point.drop) for point in growth.points] == [
        (10, False),
        (90, False),
        (20, True),
        (30, False),
    ]
    assert "4 replies, reported" in growth.label and "1 compaction" in growth.label
    shown = text(drawn(growth, 40, 3, 80))
    assert shown.count(DROP) == 3 + 1, "one column of three lines, and the sign in the label"


@pytest.mark.parametrize("width", [73, 113, 20])
@pytest.mark.parametrize("replies", [3, 104])
def test_a_compaction_that_no_reply_has_followed_is_marked_at_the_end(replies: int, width: int) -> None:
    names = [f"r{number}" for number in range(replies)]
    usage = Usage(tuple(UsagePoint(name, 90, 0, 0, "m") for name in names), (Boundary("c", "us", 90, None),), None)
    growth = reported(session(*names, "c"), usage)
    assert growth is not None and f"{replies} replies" in growth.label
    marked = [number for number, (_, drop, _) in enumerate(columns(growth, width)) if drop]
    assert len(marked) == 1
    assert columns(growth, width)[marked[0]][2] == "c", "a click goes to the compaction"
    lines = drawn(growth, width + 7, 3, 80)
    assert all(DROP in "".join(part for part, _ in line) for line in lines[1:])


def test_a_compaction_before_all_that_is_in_the_file_is_marked_at_the_start() -> None:
    usage = Usage((UsagePoint("a", 10, 0, 0, "m"),), (Boundary("in the parent", "codex", 90, None),), 10)
    growth = reported(session("a"), usage)
    assert growth is not None and [point.drop for point in growth.points] == [True]


def test_without_usage_the_strip_counts_and_says_so() -> None:
    assert reported(session("a"), Usage((), (), None)) is None
    timeline = laid_out(SESSION)
    tokens = Tokens.estimated(timeline)
    assert "estimated" in cumulative(timeline, tokens).label
    tokens.count(timeline, 0, array("q", [1, 2, 3, 4, 5, 6]))
    growth = cumulative(timeline, tokens)
    assert [point.tokens for point in growth.points] == [1, 3, 6, 10, 15, 21]
    assert "counted" in growth.label and "no usage" in growth.label


@given(st.lists(st.integers(0, 200_000), min_size=1, max_size=300), st.integers(1, 150))
def test_a_column_shows_the_highest_context_that_falls_into_it(values: list[int], width: int) -> None:
    growth = Growth(tuple(Point(str(at), value) for at, value in enumerate(values)), "")
    shown = columns(growth, width)
    assert len(shown) <= width
    assert max(value for value, _, _ in shown) == max(values)
    assert shown[-1][2] == str(len(values) - 1)


def test_a_step_that_is_worked_out_shows_no_figure() -> None:
    said = text(stairs([Step("now", 100_000), Step("cut and summarised", None)], MARKS, 100))
    assert "100,000" in said and "78.1%" in said
    assert "…" in said


@pytest.mark.parametrize(
    ("value", "words"),
    [(940, "940"), (12_400, "12.4k"), (128_000, "128k"), (1_200_000, "1.2M"), (9_999, "9,999"), (100_000, "100k")],
)
def test_short_figures(value: int, words: str) -> None:
    assert figures.short(value) == words


@pytest.mark.parametrize(
    ("seconds", "words"), [(5, "just now"), (300, "5 min ago"), (7200, "2 h ago"), (86_400 * 3, "3 d ago")]
)
def test_ages(seconds: float, words: str) -> None:
    assert figures.age(seconds) == words


@given(st.floats(-1, 2), st.integers(1, 40))
def test_a_small_bar_never_leaves_its_column(fraction: float, width: int) -> None:
    assert cell_len(figures.bar(fraction, width)) == width
