"""The lines of a failed result that say what failed, letter for letter."""

from __future__ import annotations

import re
from itertools import pairwise

MOST_LINES = 40
"""Lines that are carried of one failed result."""

LONGEST_LINE = 1_000
"""Characters above which a line is cut off (it is then a dump, no message)."""

LAST_LINES = 5
"""Lines that are carried of a failed result in which nothing looks like an error."""

GAP = 3
"""Telling parts that are at most this many lines apart are given as one."""

BEFORE, AFTER = 2, 3
"""Lines around a telling line that are carried along where there is room."""

_TEST_FRAMEWORK = re.compile(
    r"^E\s{2,}\S|^(?:FAILED|FAIL:?)\s+\S|^ERROR:?\s+\S+(?:::|\s\()|^--- FAIL|^\s*●\s|^\s*(?:✗|✕|✘|×)\s|^not ok\b"
    r"|panicked at|AssertionError|^\s*\d+\) \S|^\s*(?i:expected|received|left|right|actual|got|want)\b.*:"
    r"|assertion .*failed|^Traceback |^_{3,} .* _{3,}$|^={3,} (?i:.*\b(?:failed|failures|errors?)\b.*) ={3,}$"
)
_ERROR = re.compile(
    r"\b\w*(?:Error|Exception)\b|\berror(?:\[\w+\])?:|\berror TS\d+|\bfatal:|\bnpm ERR!|\bcannot\b|\bfailed\b"
    r"|错误|失败|异常|No such file|not found|denied",
    re.IGNORECASE,
)
_NOISE = re.compile(
    r"\b0 (?:errors?|failed|failures)\b|\berrors?[=: ]+0\b|\b(?:INFO|DEBUG|TRACE)\b|\bPASSED\b|\bok\b$", re.IGNORECASE
)


def tells_test(text: str) -> bool:
    """Whether a test framework says in it what failed."""
    return any(_TEST_FRAMEWORK.search(line) for line in text.split("\n"))


def failure_blocks(text: str) -> tuple[str, ...]:
    """Runs of neighbouring lines around what the test framework, or else anything, reports as an error.

    At most `MOST_LINES` in all: the context around goes first, then the middle. Where nothing looks like an
    error, the last lines are given.
    """
    lines = text.split("\n")
    telling = [number for number, line in enumerate(lines) if _TEST_FRAMEWORK.search(line)]
    if not telling:
        telling = [n for n, line in enumerate(lines) if _ERROR.search(line) and not _NOISE.search(line)]
    if not telling:
        telling = [number for number, line in enumerate(lines) if line.strip()][-LAST_LINES:]
    chosen = _with_context(lines, telling)
    if len(chosen) > MOST_LINES:
        chosen = telling
    if len(chosen) > MOST_LINES:
        chosen = [*chosen[: MOST_LINES // 2], *chosen[-MOST_LINES // 2 :]]
    return tuple(block for block in _blocks(lines, chosen) if block)


def first_message(text: str) -> str:
    """The one line that says best what failed; empty where there is none."""
    lines = text.split("\n")
    for form in (re.compile(r"^E\s{2,}\S"), _TEST_FRAMEWORK, _ERROR):
        for line in lines:
            if form.search(line) and not _NOISE.search(line):
                return line.strip()[:300]
    return next((line.strip()[:300] for line in reversed(lines) if line.strip()), "")


def _with_context(lines: list[str], telling: list[int]) -> list[int]:
    wanted: set[int] = set()
    for number in telling:
        around = range(max(0, number - BEFORE), min(len(lines), number + AFTER + 1))
        wanted.update(near for near in around if near == number or not _NOISE.search(lines[near]))
    chosen = sorted(wanted)
    for before, after in pairwise(chosen):
        if after - before <= GAP:
            wanted.update(range(before, after))
    return sorted(wanted)


def _blocks(lines: list[str], chosen: list[int]) -> list[str]:
    runs: list[list[int]] = []
    for number in chosen:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ["\n".join(_cut(lines[number]) for number in run).strip("\n") for run in runs]


def _cut(line: str) -> str:
    return line if len(line) <= LONGEST_LINE else line[:LONGEST_LINE]
