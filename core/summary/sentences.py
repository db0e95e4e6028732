"""A text's sentences as exact spans, in English and Chinese, so that whatever is quoted is a part of the text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

LONGEST = 700
"""Characters above which joined lines are taken one by one: a log or a table, no sentence."""

WRAPPED = 50
"""A line at least this long (characters) may go on in the next one."""

_FENCE = re.compile(r"\s*(```+|~~~+)")
_BULLET = re.compile(
    r"\s*(?:[-*+•]\s+(?:\[[ xX]\]\s+)?|\d{1,3}[.)、]\s*|[一二三四五六七八九十]{1,3}、\s*|[（(]\d{1,2}[)）]\s*)"
)
_HEADING = re.compile(r"\s*(?:#{1,6}\s|\*\*[^*]+\*\*:?\s*$)")
_END = re.compile(r"(?<=[.!?])[\"'”’)\]*_`]*\s+|[。！？；]+[”’」』）)】]*\s*|(?<=[.!?][”’\"])\s+|(?<=\.\.\.)\s+")
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|resp|no|fig|ca|Mr|Mrs|Dr|St|[A-Z])|^\d+)\.$", re.IGNORECASE
)
_JOINS = re.compile(r"\s*(?:[a-z(`'\"]|[\u4e00-\u9fff])")


@dataclass(frozen=True, slots=True)
class Sentence:
    """`text[start:end]` of the text that it was found in; `block` numbers the paragraphs and list points."""

    start: int
    end: int
    block: int
    bullet: bool

    def of(self, text: str) -> str:
        return text[self.start : self.end]


def sentences(text: str) -> Iterator[Sentence]:
    """The sentences outside of fenced code, in order. List points and headings are sentences of their own."""
    for number, (start, end, bullet) in enumerate(_blocks(text)):
        yield from _split(text, start, end, number, bullet)


def _blocks(text: str) -> Iterator[tuple[int, int, bool]]:
    """Runs of lines that belong together: (start, end, is a list point)."""
    fence = ""
    block: tuple[int, int, bool] | None = None
    offset = 0
    for line in text.split("\n"):
        start, end = offset, offset + len(line)
        offset = end + 1
        mark = _FENCE.match(line)
        if mark or fence:
            if block:
                yield block
                block = None
            if mark and not fence:
                fence = mark[1][:3]
            elif mark and mark[1].startswith(fence):
                fence = ""
            continue
        if not line.strip():
            if block:
                yield block
                block = None
            continue
        point = _BULLET.match(line)
        if block and not point and _goes_on(text, block, line):
            block = (block[0], end, block[2])
            continue
        if block:
            yield block
        block = (start + point.end() if point else start, end, point is not None)
    if block:
        yield block


def _goes_on(text: str, block: tuple[int, int, bool], line: str) -> bool:
    last = text[block[0] : block[1]].rpartition("\n")[2]
    if len(last) < WRAPPED or _HEADING.match(last) or _HEADING.match(line) or block[1] - block[0] > LONGEST:
        return False
    return last.rstrip()[-1:] not in ".!?。！？；:：" and _JOINS.match(line) is not None


def _split(text: str, start: int, end: int, block: int, bullet: bool) -> Iterator[Sentence]:
    begin = start
    for match in _END.finditer(text, start, end):
        stop = match.end()
        piece = text[begin:stop].rstrip()
        if not piece or (piece[-1] == "." and _ABBREVIATION.search(piece)) or text.count("`", begin, match.start()) % 2:
            continue
        if (found := _trimmed(text, begin, stop, block, bullet)) is not None:
            yield found
        begin = stop
    if (found := _trimmed(text, begin, end, block, bullet)) is not None:
        yield found


def _trimmed(text: str, start: int, end: int, block: int, bullet: bool) -> Sentence | None:
    piece = text[start:end]
    start += len(piece) - len(piece.lstrip())
    end -= len(piece) - len(piece.rstrip())
    return Sentence(start, end, block, bullet) if start < end else None


def announced(text: str, found: Sequence[Sentence], number: int) -> int:
    """The number of the last sentence of the list that sentence `number` announces by a colon; else `number`."""
    if not found[number].of(text).rstrip("*_ ").endswith((":", "：")):
        return number
    last = number
    for later in range(number + 1, len(found)):
        between = text[found[last].end : found[later].start]
        if not (found[later].bullet or found[later].block == found[last].block) or between.count("\n") > 2:
            break
        if "```" in between or "~~~" in between:
            break
        last = later
    return last
