"""What was said, sentence by sentence, each with the neighbours that it needs to be understood."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from core.summary import signals
from core.summary.history import Part, clean
from core.summary.sentences import Sentence, announced, sentences
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
    tried: Quote | None = None
    shortened: bool = False

    def claim(self, **more: object) -> Claim:
        """It as a claim, hedged where its words are."""
        made = Claim(self.text, self.entry, self.shortened, hedged=hedged(self.text))
        return replace(made, **more)  # pyright: ignore[reportArgumentType]


def hedged(text: str) -> bool:
    """Whether the speaker says that they do not know."""
    return signals.HEDGE.search(words_only(text))


def statements(
    part: Part, evidence: str = "", failed: Quote | None = None, tried: Quote | None = None
) -> Iterator[Spoken]:
    """The text's sentences, each with the neighbours that it needs to be understood."""
    text = part.item.text
    found = list(sentences(text))
    taken = -1
    for number in range(len(found)):
        if number <= taken:
            continue
        last = taken = _span(text, found, number)
        whole = clean(text[found[number].start : found[last].end])
        short = whole[:LONGEST].rstrip()
        yield Spoken(part.position, short, part.entry, evidence, failed, tried, len(short) < len(whole))


def _span(text: str, found: Sequence[Sentence], number: int) -> int:
    """The last sentence that belongs to sentence `number`.

    A failed attempt or a decision takes the sentence with its reason along, a statement what points back to it and
    says that it failed or is a guess, and each the list that it announces.
    """
    words = words_only(found[number].of(text))
    failed, decided = signals.FAILED.search(words), signals.DECIDED.search(words)
    following = number + 1
    if following == len(found) or found[following].block != found[number].block:
        listed = failed or decided or signals.VERIFIED.search(words)
        return announced(text, found, number) if listed else number
    after = words_only(found[following].of(text))
    points_back = signals.POINTS_BACK.search(after)
    if failed or decided:
        reason = signals.REASON.search(after) or (points_back and not signals.asks(after))
        return following if reason and not signals.REASON.search(words) else number
    if points_back and signals.FAILED.search(after):
        return _span(text, found, following)
    doubt = points_back and signals.HEDGE.search(words) and signals.HEDGE.search(after)
    return following if doubt else number
