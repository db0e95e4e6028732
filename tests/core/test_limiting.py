"""Limiting: never longer than the budget, never through a character, and what failed stays."""

import re
import time
from itertools import pairwise

import pytest
import regex
from hypothesis import example, given
from hypothesis import strategies as st

from core.limiting import LONGEST_LINE, boundary, limit_log, limit_text

FAMILY = "👩‍👩‍👧‍👦"
FLAG = "🇩🇪"
ACCENTED = "e\u0301"
HARD = [FAMILY, FLAG, FLAG * 3, ACCENTED, "日", "本", "한", "a", " ", "\n", "\r\n", "👍🏽", "नि", "0", "x" * 40]
hard_texts = st.lists(st.sampled_from(HARD), max_size=80).map("".join)


def utf8(text: str) -> int:
    return len(text.encode("utf-8"))


def characters_of(text: str) -> list[str]:
    return regex.findall(r"\X", text)


def ends(text: str, result: str) -> tuple[str, str]:
    """The two ends of the text around the omission mark."""
    head, _, tail = re.split(r"\n?(\[… [\d,]+ \w+ left out …\]|…)\n?", result, maxsplit=1)
    return head, tail


def test_a_text_that_fits_comes_back_as_it_is() -> None:
    assert limit_text("abc" * 10, 20, 10) == "abc" * 10
    assert limit_log("FAILED\n" * 10, 100) == "FAILED\n" * 10


def test_the_mark_says_how_much_is_left_out() -> None:
    result = limit_text("a" * 500 + "b" * 500, 150, 50)
    head, tail = ends("", result)
    assert len(result) <= 200
    assert set(head) == {"a"} and set(tail) == {"b"}
    assert f"[… {1000 - len(head) - len(tail)} characters left out …]" in result


def test_the_mark_speaks_chinese_where_it_is_asked_to() -> None:
    assert re.search(r"\[… 略去 \d+ 个字符 …\]", limit_text("日" * 500, 150, 50, language="zh"))


@given(
    text=hard_texts, head=st.integers(0, 120), tail=st.integers(0, 60), unit=st.sampled_from(["characters", "bytes"])
)
@example(text=FAMILY * 30, head=64, tail=40, unit="characters")
@example(text=FLAG * 200, head=61, tail=41, unit="characters")
@example(text="日" * 100, head=100, tail=50, unit="bytes")
def test_never_longer_than_the_budget_and_never_through_a_character(text: str, head: int, tail: int, unit: str) -> None:
    size = utf8 if unit == "bytes" else len
    result = limit_text(text, head, tail, unit)  # type: ignore[arg-type]
    assert size(result) <= max(head + tail, 0) or (result == text and size(text) <= head + tail)
    assert "\ufffd" not in result
    assert limit_text(result, head, tail, unit) == result  # type: ignore[arg-type]
    if result == text or "…" not in result:
        return
    start, end = ends(text, result)
    whole = characters_of(text)
    places = {0, len(text)}
    at = 0
    for character in whole:
        at += len(character)
        places.add(at)
    assert text.startswith(start) and text.endswith(end)
    # The mark's own line break may have swallowed one of the text's.
    assert len(start) in places or len(start) + 1 in places
    assert len(text) - len(end) in places or len(text) - len(end) - 1 in places


@pytest.mark.parametrize("inside", range(1, len(FAMILY)))
def test_an_emoji_family_at_the_cut_is_left_out_whole(inside: int) -> None:
    text = "a" * 50 + FAMILY + "b" * 500
    place = 50 + inside
    assert boundary(text, place) == 50
    assert boundary(text, place, forward=True) == 50 + len(FAMILY)


def test_flags_are_cut_between_pairs_however_long_their_run() -> None:
    text = FLAG * 2_000
    assert boundary(text, 2_001) == 2_000
    assert boundary(text, 2_001, forward=True) == 2_002
    assert boundary(text, 2_000) == 2_000


def test_a_letter_with_its_accent_and_a_windows_line_end_stay_whole() -> None:
    assert boundary("xe\u0301y", 2) == 1
    assert boundary("a\r\nb", 2) == 1


def test_a_letter_under_thousands_of_accents_does_not_lengthen_the_result() -> None:
    result = limit_text("e" + "\u0301" * 10_000, 300, 100)
    assert len(result) <= 400


def test_bytes_of_chinese_are_never_half_a_character() -> None:
    for budget in range(12):
        result = limit_text("日本語" * 9, budget, 0, "bytes")
        assert utf8(result) <= budget


def test_tokens_are_what_the_counter_says() -> None:
    from core.tokens.counting import Counter

    count = Counter(image_tokens=0).text
    text = "The quick brown fox jumps over the lazy dog. 敏捷的棕色狐狸。\n" * 300
    result = limit_text(text, 200, 100, "tokens", count)
    assert 250 <= count(result) <= 300
    assert "tokens left out" in result
    with pytest.raises(ValueError, match="count"):
        limit_text(text, 10, 10, "tokens")


def a_log(passing: int = 3_000) -> str:
    lines = ["$ make test", "collected 3001 items"]
    lines += [f"tests/test_mod{n % 40}.py::test_error_message_{n} PASSED [ 50%]" for n in range(passing)]
    lines += [
        "=================== FAILURES ===================",
        "    def test_rate():",
        '>       assert client.rate("EUR") == Decimal("1.07")',
        "E       AssertionError: assert Decimal('1.7') == Decimal('1.07')",
        "",
        "tests/test_rates.py:41: AssertionError",
    ]
    lines += [f"INFO worker {n} heartbeat" for n in range(passing)]
    return "\n".join([*lines, "1 failed, 3000 passed in 81.20s", "exit code 1"])


def test_a_log_keeps_head_tail_and_the_lines_around_the_failure() -> None:
    result = limit_log(a_log(), 2_000)
    assert len(result) <= 2_000
    for line in (
        "$ make test",
        "E       AssertionError: assert Decimal('1.7') == Decimal('1.07')",
        '>       assert client.rate("EUR") == Decimal("1.07")',
        "tests/test_rates.py:41: AssertionError",
        "1 failed, 3000 passed in 81.20s",
        "exit code 1",
    ):
        assert line in result.split("\n"), line


def test_every_gap_says_how_many_lines_it_stands_for() -> None:
    text = a_log()
    result = limit_log(text, 2_000).split("\n")
    gaps = [re.fullmatch(r"\[… ([\d,]+) lines left out …\]", line) for line in result]
    hidden = sum(int(gap[1].replace(",", "")) for gap in gaps if gap)
    kept = [line for line, gap in zip(result, gaps, strict=True) if not gap]
    assert hidden + len(kept) == text.count("\n") + 1
    assert sum(gap is not None for gap in gaps) >= 2
    assert not any(one and two for one, two in pairwise(gaps))


def test_limiting_a_limited_log_again_changes_nothing_and_to_less_still_counts_all_lines() -> None:
    text = a_log()
    once = limit_log(text, 4_000)
    assert limit_log(once, 4_000) == once
    less = limit_log(once, 1_200).split("\n")
    gaps = [re.fullmatch(r"\[… ([\d,]+) lines left out …\]", line) for line in less]
    hidden = sum(int(gap[1].replace(",", "")) for gap in gaps if gap)
    assert hidden + sum(gap is None for gap in gaps) == text.count("\n") + 1


def test_one_failure_among_a_thousand_repetitions_of_another_is_kept() -> None:
    lines = [f"ERROR connection to 10.0.0.{n % 250} refused, retry {n}" for n in range(2_000)]
    lines[1_000] = "panic: index out of range [7] with length 3"
    result = limit_log("\n".join(lines), 1_500)
    assert "panic: index out of range [7] with length 3" in result


@pytest.mark.parametrize(
    "line",
    [
        "断言失败：期望 1.07，得到 1.7",
        "错误：找不到模块 rates",
        "thread 'main' panicked at src/lib.rs:9:5",
        "error[E0308]: mismatched types",
        "--- FAIL: TestRate (0.00s)",
        "not ok 12 - converts old rates",
        "Traceback (most recent call last):",
        "ld: undefined reference to `rate_of'",
        "npm ERR! code ELIFECYCLE",
        "Process exited with code 137",
        "FAILED tests/test_rates.py::test_rate",
        "Segmentation fault (core dumped)",
    ],
)
def test_what_common_tools_print_when_they_fail_is_kept(line: str) -> None:
    lines = [f"step {n}: compiled unit {n}" for n in range(2_000)]
    lines[900] = line
    result = limit_log("\n".join(lines), 1_000).split("\n")
    assert line in result
    assert "step 899: compiled unit 899" in result and "step 901: compiled unit 901" in result


def test_words_of_failure_that_tell_of_success_are_no_failure() -> None:
    calm = [
        "0 failed, 12 passed",
        "no errors found",
        "test_error_message PASSED [ 10%]",
        "exited with code 0",
        "ok 3 - handles fatal errors",
        "0 个错误",
    ]
    lines = [f"step {n}" for n in range(2_000)]
    lines[900:906] = calm
    lines[1_500] = "E       ValueError: x"
    result = limit_log("\n".join(lines), 1_000)
    assert "ValueError" in result
    assert not any(line in result for line in calm)


def test_one_endless_line_is_limited_inside() -> None:
    lines = ["start", "{" + "x" * 50_000 + "}", *(f"line {n}" for n in range(500)), "Error: broken", "end"]
    result = limit_log("\n".join(lines), 1_500)
    assert len(result) <= 1_500
    assert max(map(len, result.split("\n"))) <= LONGEST_LINE
    assert "Error: broken" in result


lines_of_logs = st.lists(
    st.sampled_from(
        [*HARD, "ERROR 1", "FAILED x", "E   y", "ok", "[… 12 lines left out …]", "z" * 900, "", "panic: q"]
    ),
    max_size=300,
).map("\n".join)


@given(text=lines_of_logs, limit=st.integers(0, 2_000))
def test_any_log_fits_is_stable_and_the_same_each_time(text: str, limit: int) -> None:
    result = limit_log(text, limit)
    assert len(result) <= limit or (result == text and len(text) <= limit)
    assert limit_log(result, limit) == result
    assert limit_log(text, limit) == result


@pytest.mark.parametrize("line", ["x" * 60, "error: y" * 6, "error PASSED" + " " * 800 + "x", ""])
def test_a_log_of_megabytes_takes_time_in_proportion(line: str) -> None:
    text = "\n".join([line] * (2_000_000 // (len(line) + 1)))
    start = time.process_time()
    limit_log(text, 5_000)
    assert time.process_time() - start < 5
