"""What the agent said: decisions, findings, guesses, failed attempts, reports, next steps and questions, as quotes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from core.agents.protocol import Profile
from core.summary import signals
from core.summary.history import Part, clean
from core.summary.sentences import Sentence, sentences
from core.summary.signals import words_only
from core.summary.state import Claim, Quote
from core.summary.wishes import announced

_Statement = TypeVar("_Statement", Claim, Quote)

LONGEST = 600
"""Characters of one quoted statement."""

RECENT_TEXTS = 3
"""How many of the agent's last texts are asked for what is left to do: older ones are overtaken."""


@dataclass(frozen=True, slots=True)
class Spoken:
    """A run of neighbouring sentences of one text, and what stood around it."""

    position: int
    text: str
    entry: str
    evidence: str = ""
    failure: Quote | None = None
    by_user: bool = False
    shortened: bool = False

    def claim(self, **more: object) -> Claim:
        made = Claim(self.text, self.entry, self.shortened, hedged=hedged(self.text))
        return replace(made, **more)  # pyright: ignore[reportArgumentType]


@dataclass(slots=True)
class Claims:
    """The statements by class, oldest first."""

    decisions: list[Claim] = field(default_factory=list[Claim])
    verified: list[Claim] = field(default_factory=list[Claim])
    unverified: list[Claim] = field(default_factory=list[Claim])
    attempts: list[Claim] = field(default_factory=list[Claim])
    reports: list[Claim] = field(default_factory=list[Claim])
    next_steps: list[Claim] = field(default_factory=list[Claim])
    questions: list[Quote] = field(default_factory=list[Quote])


def hedged(text: str) -> bool:
    """Whether the speaker says that they do not know."""
    return signals.HEDGE.search(words_only(text)) is not None


def claims(parts: Sequence[Part], profile: Profile, failures: dict[int, Quote]) -> Claims:
    """Sort every statement; `failures` gives, by the position of a failed result, the line that says what failed."""
    found = Claims()
    evidence = _evidence(parts, profile)
    denials = [spoken for part in parts if _speaks(part) for spoken in _denials(part)]
    recent = [part.position for part in parts if part.said_by_agent and not part.kept][-RECENT_TEXTS:]
    last_word_of_user = max((part.position for part in parts if part.said_by_user), default=-1)
    failed: Quote | None = None
    for part in parts:
        if part.kept:
            break
        if part.position in failures:
            failed = failures[part.position]
        elif part.said_by_user:
            failed = None
            found.decisions += [s.claim() for s in _statements(part, "", None) if _decided_by_user(s.text)]
        if not part.said_by_agent:
            continue
        for spoken in _statements(part, evidence.get(part.position, ""), failed):
            _sort(found, spoken, denials)
        if part.position in recent:
            found.next_steps += _left(part)
        found.questions += _questions(part, answered=part.position < last_word_of_user)
    found.questions += _asked_by_user(parts)
    return Claims(
        decisions=_unique(found.decisions),
        verified=_unique(found.verified),
        unverified=_unique(found.unverified),
        attempts=_unique(found.attempts),
        reports=_unique(found.reports),
        next_steps=_unique(found.next_steps),
        questions=_unique(found.questions),
    )


def _speaks(part: Part) -> bool:
    return part.said_by_agent or part.said_by_user


def _sort(found: Claims, spoken: Spoken, denials: Sequence[Spoken]) -> None:
    words = words_only(spoken.text)
    guess = hedged(spoken.text)
    if signals.asks(spoken.text) and not guess:
        return
    if signals.FAILED.search(words):
        error = None if signals.REASON.search(words) else spoken.failure
        found.attempts.append(spoken.claim(error=error))
        return
    about_cause = signals.CAUSE.search(words) is not None
    known = signals.VERIFIED.search(words) is not None
    if signals.DECIDED.search(words) and (not guess or signals.DECIDED_PLAINLY.search(words)):
        found.decisions.append(spoken.claim())
    elif guess and (about_cause or known):
        found.unverified.append(spoken.claim(against=_denial(spoken, denials)))
        return
    if known and not guess:
        if spoken.evidence:
            found.verified.append(spoken.claim(evidence=spoken.evidence, against=_denial(spoken, denials)))
        else:
            found.unverified.append(spoken.claim(hedged=True, against=_denial(spoken, denials)))
    elif signals.REPORTED.search(words):
        found.reports.append(spoken.claim())


def _statements(part: Part, evidence: str, failed: Quote | None) -> Iterator[Spoken]:
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
        yield Spoken(part.position, short, part.entry, evidence, failed, part.said_by_user, len(short) < len(whole))


def _span(text: str, found: Sequence[Sentence], number: int) -> tuple[int, int]:
    """A failed attempt or a decision takes the sentence with its reason along, and what it points back to."""
    sentence = found[number]
    words = words_only(sentence.of(text))
    failed, decided = signals.FAILED.search(words), signals.DECIDED.search(words)
    following = _neighbour(found, number, +1)
    if following is not None and not (failed or decided):
        after = words_only(found[following].of(text))
        if signals.POINTS_BACK.match(after) and signals.FAILED.search(after):
            return number, _span(text, found, following)[1]
    if not (failed or decided):
        return number, number
    last = number
    if not signals.REASON.search(words) and following is not None:
        after = words_only(found[following].of(text))
        if signals.REASON.search(after) or (signals.POINTS_BACK.match(after) and not signals.asks(after)):
            last = following
    return number, last


def _neighbour(found: Sequence[Sentence], number: int, step: int) -> int | None:
    other = number + step
    return other if 0 <= other < len(found) and found[other].block == found[number].block else None


def _evidence(parts: Sequence[Part], profile: Profile) -> dict[int, str]:
    """For each text of the agent, the result in the same turn that stands before it, or else right after it."""
    shown: dict[int, str] = {}
    waiting: list[int] = []
    last = ""
    for part in parts:
        if part.said_by_user:
            last, waiting = "", []
        elif part.item.kind == "tool_result":
            if profile.tool(part.item.name).kind in {"plan", "edit", "write"}:
                continue
            last = part.entry
            shown.update(dict.fromkeys(waiting, last))
            waiting = []
        elif part.said_by_agent and last:
            shown[part.position] = last
        elif part.said_by_agent:
            waiting.append(part.position)
    return shown


def _denials(part: Part) -> Iterator[Spoken]:
    text = part.item.text
    if not signals.NEGATED.search(text):
        return
    for sentence in sentences(text):
        words = sentence.of(text)
        if len(words) <= LONGEST and signals.NEGATED.search(words_only(words)) and not hedged(words):
            yield Spoken(part.position, clean(words), part.entry, by_user=part.said_by_user)


def _denial(spoken: Spoken, denials: Sequence[Spoken]) -> Quote | None:
    """The later statement that takes back what was said: the one that shares most words with it."""
    about = signals.content_words(spoken.text)
    best: tuple[int, Spoken] | None = None
    for denial in denials:
        if denial.position > spoken.position:
            shared = len(about & signals.content_words(denial.text))
            if shared and (best is None or shared > best[0]):
                best = (shared, denial)
    return Quote(best[1].text, best[1].entry) if best else None


def _decided_by_user(text: str) -> bool:
    return signals.DECIDED_PLAINLY.search(words_only(text)) is not None and not signals.asks(text)


def _left(part: Part) -> Iterator[Claim]:
    text = part.item.text
    found = list(sentences(text))
    taken = -1
    for number, sentence in enumerate(found):
        words = sentence.of(text)
        if number > taken and signals.LEFT.search(words_only(words)) and not signals.asks(words):
            taken = announced(text, found, number)
            whole = clean(text[sentence.start : found[taken].end])
            short = whole[: LONGEST * 2].rstrip()
            yield Claim(short, part.entry, len(short) < len(whole), hedged=hedged(short))


def _questions(part: Part, answered: bool) -> Iterator[Quote]:
    for sentence in sentences(part.item.text):
        words = sentence.of(part.item.text)
        if len(words) > LONGEST:
            continue
        plain = words_only(words)
        asked = not answered and signals.asks(words) and signals.ASKED_USER.search(plain)
        if asked or signals.OPEN_QUESTION.search(plain):
            yield Quote(clean(words), part.entry)


def _asked_by_user(parts: Sequence[Part]) -> Iterator[Quote]:
    """Questions of the user's that no text of the agent follows."""
    last = max((part.position for part in parts if part.said_by_agent), default=-1)
    for part in parts:
        if part.said_by_user and part.position > last and not part.kept:
            for sentence in sentences(part.item.text):
                if signals.asks(sentence.of(part.item.text)):
                    yield Quote(clean(sentence.of(part.item.text)), part.entry)


def _unique(statements: Sequence[_Statement]) -> list[_Statement]:
    """Each text once, where it was said first; a later word against it is taken over."""
    found: dict[str, _Statement] = {}
    for statement in statements:
        found.setdefault(" ".join(statement.text.lower().split()), statement)
    return list(found.values())
