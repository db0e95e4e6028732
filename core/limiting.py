"""Shorten one oversized text: head, a mark that says how much is left out, tail; for logs also what failed between.

Nothing here cuts through a character: neither a code point nor, where it can be told, what a reader sees as one
character (an emoji family, a flag, a letter with its accents). A result is never longer than its budget, so limiting a
limited text again changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Literal

Unit = Literal["characters", "bytes", "tokens"]
Language = Literal["en", "zh"]

_LEFT_OUT = {
    "en": {
        "characters": "[… {:,} characters left out …]",
        "bytes": "[… {:,} bytes left out …]",
        "tokens": "[… {:,} tokens left out …]",
        "lines": "[… {:,} lines left out …]",
    },
    "zh": {
        "characters": "[… 略去 {:,} 个字符 …]",
        "bytes": "[… 略去 {:,} 字节 …]",
        "tokens": "[… 略去 {:,} 个 token …]",
        "lines": "[… 略去 {:,} 行 …]",
    },
}


def limit_text(
    text: str,
    head: int,
    tail: int,
    unit: Unit = "characters",
    count: Callable[[str], int] | None = None,
    language: Language = "en",
) -> str:
    """The text's beginning and end around an omission mark, at most `head + tail` units long, the mark included.

    A text that fits comes back as it is. `characters` are code points, `bytes` those of UTF-8, `tokens` what `count`
    says (needed for this unit alone). Raises ValueError where `tokens` lacks `count`.
    """
    size = _measure(unit, count)
    budget = max(0, head) + max(0, tail)
    total = size(text)
    if total <= budget:
        return text
    frame = "\n" + _LEFT_OUT[language][unit] + "\n"
    if 2 * size(frame.format(total)) > budget:  # the mark would take more room than what is kept
        frame = "…"
    room = budget - size(frame.format(total))
    if room < 0:
        return _longest(text, budget, size, from_end=False)
    tail_room = room * max(0, tail) // budget
    while True:
        start = _longest(text, room - tail_room, size, from_end=False)
        end = _longest(text[len(start) :], tail_room, size, from_end=True)
        left_out = size(text[len(start) : len(text) - len(end)])
        result = start + frame.format(left_out) + end
        # Token counts do not simply add up: where two ends grow together into more, take a little less of each.
        over = size(result) - budget
        if over <= 0 or room <= 0:
            return result if over <= 0 else _longest(text, budget, size, from_end=False)
        room = max(0, room - over)
        tail_room = min(tail_room, room)


def _measure(unit: Unit, count: Callable[[str], int] | None) -> Callable[[str], int]:
    if unit == "characters":
        return len
    if unit == "bytes":
        return _utf8_length
    if count is None:
        raise ValueError("limit_text by tokens needs `count`")
    return count


def _utf8_length(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _longest(text: str, room: int, size: Callable[[str], int], from_end: bool) -> str:
    """The longest beginning (or end) of the text that fits in `room` units and ends between two characters."""

    def part(length: int) -> str:
        return text[len(text) - length :] if from_end else text[:length]

    # No character, byte or token holds less than a fraction of a code point, so gallop up from `room` code points.
    low, high = 0, min(len(text), max(0, room))
    while high < len(text) and size(part(high)) <= room:
        low, high = high, min(len(text), high * 2 or 1)
    while low < high:
        middle = (low + high + 1) // 2
        if size(part(middle)) <= room:
            low = middle
        else:
            high = middle - 1
    place = len(text) - low if from_end else low
    return text[boundary(text, place, forward=True) :] if from_end else text[: boundary(text, place)]


_LOOK_AROUND = 256
"""Code points around a place in which its character is looked for. A longer one (a letter under hundreds of accents)
is cut between two code points."""


def boundary(text: str, place: int, forward: bool = False) -> int:
    """The nearest place at or before `place` (or at or after it) between two characters as readers see them."""
    if place <= 0 or place >= len(text):
        return max(0, min(place, len(text)))
    before, after = text[place - 1], text[place]
    if before.isascii() and after.isascii() and before + after != "\r\n":
        return place
    start = max(0, place - _LOOK_AROUND)
    # Flags are pairs of regional indicators: which two belong together only the beginning of their run tells.
    while start > 0 and "\U0001f1e6" <= text[start] <= "\U0001f1ff":
        start -= 1
    stop = min(len(text), place + _LOOK_AROUND)
    earlier = later = start
    for end in _character_ends(text[start:stop]):
        later = start + end
        if later > place or (forward and later == place):
            break
        earlier = later
    if forward:
        return later if later < stop or stop == len(text) else place
    return earlier if earlier > start or start == 0 else place


def _character_ends(text: str) -> Iterator[int]:
    """Where each character of the text ends, by Unicode's rule for grapheme clusters (code points without `regex`)."""
    try:
        import regex
    except ImportError:
        return iter(range(1, len(text) + 1))
    return (match.end() for match in regex.finditer(r"\X", text))


# What failing test runs, builds and commands print, in English and Chinese: words, as they are far faster to look for
# in a long log than one pattern.
_FAILURE_WORDS = (
    "fail", "error", "err!", "exception", "traceback", "panic", "assert", "fatal", "exit code", "exit status",
    "exited with", "not ok", "segmentation fault", "core dumped", "killed", "timed out", "undefined reference",
    "unresolved", "cannot find", "not found", "✗", "✘", "✕", "✖", "❌", "\ne  ",
    "失败", "错误", "报错", "异常", "断言", "崩溃", "超时", "未通过", "找不到", "退出码",
)  # fmt: skip
# The line that says what went wrong itself, and not only that something did.
_REASON = re.compile(
    r"""
    ^\s*(?:E\ {2,}\S | FAILED\b | FAIL\b | ERROR\b | ---\ FAIL | not\ ok\b | [✗✘✕✖❌●] | panic: | fatal: | error[:\[] )
    | \w(?:Error|Exception)\b\s*: | \berror(?:\[\w+\]|\s\w+)?: | Traceback\ \(most | panicked\ at | assertion
    | 断言 | (?:错误|失败|异常|报错)[：:]
    """,
    re.VERBOSE,
)
# Words of failure that tell of success: `0 failed`, `no errors`, `test_error_message PASSED`, `exit code 0`.
_SUCCESS = re.compile(
    r"""
    \b(?:0|no)\ (?:tests?\ )?(?:fail(?:ed|ures?|ing)?|errors?|exceptions?)\b
    | \b(?:fail(?:ed|ures?)?|errors?)\s*[:=]\s*0\b
    | \b(?:PASSED|passed|ok|OK|PASS)\b(?:\s*\[\s*\d+%\]|\s*\([\d.]+\s?m?s\))?\s*$ | ^\s*(?:ok|PASS|✓|✔|√)\s
    | exit(?:ed)?\ (?:with\ )?(?:code|status)[:\ =]+0\b | (?:0|没有|无)\s*(?:个|项)?(?:失败|错误|异常)
    | (?:失败|错误)[：:]\s*0\b | 退出码[：:\ ]*0\b
    """,
    re.VERBOSE,
)
_NUMBERS = re.compile(r"0x[0-9a-fA-F]+|\d+")

LONGEST_LINE = 400
"""Characters of one line of a log that are kept at most."""
_HEAD_SHARE, _TAIL_SHARE = 0.15, 0.25
"""Of the budget, for the beginning and the end; then comes what failed. Where nothing did, the end takes the rest."""
_REPETITIONS = 100
"""Lines that only repeat an earlier failure: no more of them are looked at."""
_CONTEXTS = ((1, 3), (3, 12))
"""Lines before and after a failure: at first a little of each, then more of each as long as there is room."""


def limit_log(text: str, limit: int, language: Language = "en") -> str:
    """A log in at most `limit` characters: its beginning, its end, and between them the lines around what failed.

    Each gap carries the number of lines left out. Failures of different wording come before repetitions of one, and
    lines that give a reason before lines that only mention a failure. A text that fits comes back as it is.
    """
    if len(text) <= limit:
        return text
    lines = text.split("\n")
    mark_length = len(_gap(len(lines) + _hidden(lines), language)) + 1
    if len(lines) < 4 or limit < 8 * mark_length:
        return limit_text(text, limit - limit // 4, limit // 4, language=language)
    kept = _Kept([_short(line, language) for line in lines], limit - mark_length, mark_length)
    kept.grow(range(len(lines)), int(limit * _HEAD_SHARE))
    kept.grow(range(len(lines) - 1, -1, -1), int(limit * _TAIL_SHARE))
    failures = _failures(lines)
    for before, after in _CONTEXTS:
        for place in failures:
            if kept.full:
                break
            kept.add(range(max(0, place - before), min(len(lines), place + after + 1)), place)
    if not failures:
        kept.grow(range(len(lines) - 1, -1, -1), kept.room)
    return _assemble(kept, lines, language)


class _Kept:
    """The lines of a log that are kept so far, and the room that is left: each block may need one more mark."""

    def __init__(self, shown: list[str], room: int, mark_length: int) -> None:
        self.shown = shown
        self.room = room
        self.mark_length = mark_length
        self.places: set[int] = set()

    @property
    def full(self) -> bool:
        """Whether not even a short line would fit any more."""
        return self.room < 2 * self.mark_length

    def grow(self, places: Iterable[int], room: int) -> None:
        """Keep lines in the given order until the next one would take more than `room` characters."""
        room = min(room, self.room) - self.mark_length
        new: list[int] = []
        for place in places:
            if place in self.places:
                continue
            room -= len(self.shown[place]) + 1
            if room < 0:
                break
            new.append(place)
        self._keep(new)

    def add(self, places: range, centre: int) -> None:
        """Keep a block of lines whole, or at least the line in its centre, where there is room."""
        for block in (places, (centre,)):
            new = [place for place in block if place not in self.places]
            if not new:
                return
            if self._cost(new) <= self.room:
                self._keep(new)
                return

    def _cost(self, places: list[int]) -> int:
        return sum(len(self.shown[place]) + 1 for place in places) + self.mark_length

    def _keep(self, places: list[int]) -> None:
        if places:
            self.room -= self._cost(places)
            self.places.update(places)


def _short(line: str, language: Language) -> str:
    """One line without its middle where it is very long; the mark stands in the line."""
    if len(line) <= LONGEST_LINE:
        return line
    return limit_text(line, LONGEST_LINE * 3 // 4, LONGEST_LINE // 4, language=language).replace("\n", " ")


def _failures(lines: list[str]) -> list[int]:
    """Where something failed: reasons first, then mentions, then what only repeats an earlier line but for numbers."""
    reasons: list[int] = []
    mentions: list[int] = []
    repeated: list[int] = []
    seen: set[str] = set()
    for place, line in enumerate(lines):
        if not line:
            continue
        start = line[: 4 * LONGEST_LINE]
        lowered = "\n" + start.lower()
        if not any(word in lowered for word in _FAILURE_WORDS) or _SUCCESS.search(start):
            continue
        wording = _NUMBERS.sub("0", start.strip())
        if wording in seen:
            if len(repeated) < _REPETITIONS:
                repeated.append(place)
            continue
        seen.add(wording)
        (reasons if _REASON.search(start) else mentions).append(place)
    return reasons + mentions + repeated


def _gap(lines: int, language: Language) -> str:
    return _LEFT_OUT[language]["lines"].format(lines)


_GAP = re.compile(r"^\[… (?:略去 )?([\d,]+) (?:lines left out|行) …\]$")


def _hidden(lines: Iterable[str]) -> int:
    """Lines that marks of an earlier limiting stand for, beyond the marks themselves."""
    found = (_GAP.match(line) for line in lines if line.startswith("[… "))
    return sum(int(match[1].replace(",", "")) - 1 for match in found if match)


def _assemble(kept: _Kept, lines: list[str], language: Language) -> str:
    """The kept lines in order with a mark for each gap. An earlier mark joins the gap that it stands in or beside."""
    parts: list[str] = []
    last = -1
    places = sorted(place for place in kept.places if not _GAP.match(lines[place]))
    for place in (*places, len(lines)):
        between = range(last + 1, place)
        if between:
            gap = _gap(len(between) + _hidden(lines[at] for at in between), language)
            only = kept.shown[between[0]]
            parts.append(only if len(between) == 1 and len(only) <= len(gap) else gap)
        if place < len(lines):
            parts.append(kept.shown[place])
        last = place
    return "\n".join(parts)
