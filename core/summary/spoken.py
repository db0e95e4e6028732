"""What was said, sentence by sentence, each with the neighbours that it needs to be understood."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from core.summary import signals
from core.summary.history import Part, clean
from core.summary.sentences import Sentence, sentences
from core.summary.signals import words_only
from core.summary.state import Claim, Quote

LONGEST = 600
"""Characters of one quoted statement."""


@dataclass(frozen=True, slots=True)
class Spoken:
    """A run of neighbouring sentences of one text, and what stood around it."""

    position: int
    text: str
    entry: str
    evidence: str = ""
    failure: Quote | None = None
    shortened: bool = False

    def claim(self, **more: object) -> Claim:
        """It as a claim, hedged where its words are."""
        made = Claim(self.text, self.entry, self.shortened, hedged=hedged(self.text))
        return replace(made, **more)  # pyright: ignore[reportArgumentType]


def hedged(text: str) -> bool:
    """Whether the speaker says that they do not know."""
    return signals.HEDGE.search(words_only(text))


def statements(part: Part, evidence: str = "", failed: Quote | None = None) -> Iterator[Spoken]:
    """The text's sentences, each with the neighbours that it needs to be understood."""
    text = part.item.text
    found = list(sentences(text))
    taken = -1
    for number in range(len(found)):
        if number <= taken:
            continue
        first, last = _span(text, found, number)
        first = max(first, taken + 1)
        taken = last
        whole = clean(text[found[first].start : found[last].end])
        short = whole[:LONGEST].rstrip()
        yield Spoken(part.position, short, part.entry, evidence, failed, len(short) < len(whole))


def _span(text: str, found: Sequence[Sentence], number: int) -> tuple[int, int]:
    """A failed attempt or a decision takes the sentence with its reason along, and what it points back to."""
    sentence = found[number]
    words = words_only(sentence.of(text))
    failed, decided = signals.FAILED.search(words), signals.DECIDED.search(words)
    following = _neighbour(found, number, +1)
    if following is not None and not (failed or decided):
        after = words_only(found[following].of(text))
        if signals.POINTS_BACK.search(after) and signals.FAILED.search(after):
            return number, _span(text, found, following)[1]
        if signals.POINTS_BACK.search(after) and signals.HEDGE.search(words) and signals.HEDGE.search(after):
            return number, following
    if not (failed or decided):
        return number, number
    last = number
    if not signals.REASON.search(words) and following is not None:
        after = words_only(found[following].of(text))
        if signals.REASON.search(after) or (signals.POINTS_BACK.search(after) and not signals.asks(after)):
            last = following
    return number, last


def _neighbour(found: Sequence[Sentence], number: int, step: int) -> int | None:
    other = number + step
    return other if 0 <= other < len(found) and found[other].block == found[number].block else None
