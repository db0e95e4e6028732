"""Which later statement takes an earlier guess or finding back; always shown as a quote, for the reader to judge."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from core.summary import signals
from core.summary.history import Part, clean
from core.summary.sentences import sentences
from core.summary.signals import content_words, words_only
from core.summary.spoken import LONGEST, Spoken, hedged
from core.summary.state import Quote

NEAR = 40
"""Items after the last guess within which a denial that only points back (*That is ruled out*) is taken for it."""

SHARED = 2
"""Words that a denial must share with a statement that it does not follow closely."""


def denials(parts: Sequence[Part]) -> list[Spoken]:
    """Every sentence, of the agent or the user, that takes something back and is no guess itself; also kept ones."""
    return [spoken for part in parts if part.said_by_agent or part.said_by_user for spoken in _denials(part)]


def _denials(part: Part) -> Iterator[Spoken]:
    text = part.item.text
    if not signals.NEGATED.search(text):
        return
    for sentence in sentences(text):
        words = sentence.of(text)
        said = words_only(words)
        if len(words) > LONGEST or hedged(words) or signals.asks(words) or signals.INTENDED.search(said):
            continue
        if signals.NEGATED.search(said):
            yield Spoken(part.position, clean(words), part.entry)


def against_guesses(guesses: Sequence[Spoken], against: Sequence[Spoken]) -> list[Quote | None]:
    """For each guess the first denial before the next guess that shares a word with it or points back.

    Where there is none: as for a finding.
    """
    found: list[Quote | None] = []
    for number, guess in enumerate(guesses):
        later = (other.position for other in guesses[number + 1 :] if other.position > guess.position)
        until = next(later, guess.position + NEAR)
        about = content_words(guess.text)
        near = (one for one in against if guess.position < one.position <= until)
        first = next((one for one in near if about & content_words(one.text) or _points_back(one)), None)
        found.append(Quote(first.text, first.entry) if first is not None else against_finding(guess, against))
    return found


def against_finding(finding: Spoken, against: Sequence[Spoken]) -> Quote | None:
    """The later denial that shares most words with it: `SHARED` at least, and a third of the shorter one's."""
    about = content_words(finding.text)
    best: tuple[int, Spoken] | None = None
    for one in against:
        if one.position > finding.position:
            words = content_words(one.text)
            shared = len(about & words)
            if shared >= max(SHARED, min(len(about), len(words)) / 3) and (best is None or shared > best[0]):
                best = (shared, one)
    return Quote(best[1].text, best[1].entry) if best is not None else None


def _points_back(spoken: Spoken) -> bool:
    return signals.POINTS_BACK.search(spoken.text)
