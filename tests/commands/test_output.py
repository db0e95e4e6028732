"""Whatever a session holds: text that no terminal minds, and JSON that any parser takes."""

from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.commands.output import dump_json
from inspector.text import KEPT, one_line, printable

ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | ANY_TEXT,
    lambda inner: st.lists(inner) | st.dictionaries(ANY_TEXT, inner),
    max_leaves=20,
)


@given(ANY_TEXT)
def test_nothing_that_moves_or_hides_is_left(text: str) -> None:
    shown = printable(text)
    left = [c for c in shown if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") and ord(c) not in KEPT]
    assert set(left) <= {"\n", "\t"}
    assert printable(shown) == shown


@given(ANY_TEXT)
def test_a_line_stays_one_line_of_bounded_length(text: str) -> None:
    line = one_line(text, 40)
    assert len(line) <= 40
    assert not set(line) & set("\n\t\r\x1b\u2028")


def test_visible_text_is_left_alone() -> None:
    for text in ("plain", "naïve café", "缓存返回旧值", "👩‍👩‍👧 emoji", "عربى", "a\tb\nc"):
        assert printable(text) == text


def test_controls_are_shown_and_not_dropped() -> None:
    assert printable("\x1b[31mred\x1b[0m\x07") == "␛[31mred␛[0m␇"
    assert printable("a\u202eb\x9b\ud83d") == "a‹U+202E›b‹U+009B›\ufffd"
    assert printable("one\r\ntwo\rthree") == "one\ntwo␍three"


@given(VALUES)
def test_json_is_valid_and_gives_the_value_back(value: object) -> None:
    text = dump_json(value).decode("utf-8")
    back = json.loads(text, parse_constant=pytest.fail)
    assert back == finite(value)


def finite(value: object) -> object:
    """What JSON can say of a value: no number is infinite, and a tuple is a list."""
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else None
    if isinstance(value, dict):
        return {key: finite(part) for key, part in value.items()}
    if isinstance(value, list):
        return [finite(part) for part in value]
    return value
