"""Nothing in a text may break a column: widths in cells, cutting, wrapping, hostile characters."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from inspector.widgets.cells import first_line, fit, visible, wrap

HOSTILE = "\x1b\x07\x00\x7f\x9b\r\t\u202e\u2066\u200f\u200b\u200d\ufeff\ufe0f\u2028\U000e0041\ud83d"
WIDE = "中文宽字漢字한글かな🙂👍🏽👨\u200d👩\u200d👧🇩🇪❤\ufe0f"
MARKUP = "[bold red]x[/] \\[y] {{z}} <b>"
texts = st.text(st.one_of(st.characters(), st.sampled_from(HOSTILE + WIDE + MARKUP)), max_size=80)


@given(texts, st.integers(0, 60), st.sampled_from(["left", "right"]))
def test_fit_is_exactly_as_wide_as_asked(text: str, width: int, align: str) -> None:
    fitted = fit(visible(text), width, "right" if align == "right" else "left")
    assert cell_len(fitted) == width


@given(texts)
def test_what_is_visible_can_neither_move_the_cursor_nor_turn_the_direction(text: str) -> None:
    for character in visible(text).replace("\n", ""):
        assert unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Zl", "Zp"), repr(character)


@given(texts, st.integers(2, 40))
def test_wrapped_lines_fit_and_lose_nothing(text: str, width: int) -> None:
    line = visible(text).replace("\n", "")
    lines = wrap(line, width)
    assert all(cell_len(part) <= width for part in lines)
    assert "".join(lines).replace(" ", "") == line.replace(" ", "")


@given(texts)
def test_a_first_line_is_one_line(text: str) -> None:
    assert "\n" not in first_line(text)


@pytest.mark.parametrize(
    ("text", "width", "shown"),
    [
        ("中文字", 5, "中文…"),
        ("中文字", 4, "中… "),
        ("中文字", 6, "中文字"),
        ("ab", 4, "ab  "),
        ("abcdef", 4, "abc…"),
    ],
)
def test_a_wide_character_is_never_cut_in_half(text: str, width: int, shown: str) -> None:
    assert fit(text, width) == shown


def test_escape_sequences_are_shown_not_obeyed() -> None:
    assert visible("\x1b[31mred\x1b[0m") == "␛[31mred␛[0m"
    assert "\u202e" not in visible("evil\u202egnp.exe")


def test_a_long_line_is_wrapped_in_time_that_grows_with_its_length() -> None:
    assert len(wrap("x" * 2_000_000, 100)) == 20_000
    assert sum(len(part) for part in wrap("中" * 100_000, 99)) == 100_000
