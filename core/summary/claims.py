"""What the agent said: decisions, findings, guesses, failed attempts, reports, next steps and questions, as quotes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from core.agents.protocol import Profile
from core.summary import signals
from core.summary.denials import against_finding, against_guesses, denials
from core.summary.history import Part, clean
from core.summary.sentences import announced, sentences
from core.summary.signals import words_only
from core.summary.spoken import LONGEST, Spoken, hedged, statements
from core.summary.state import Claim, Quote

RECENT_TEXTS = 3
"""How many of the agent's last texts are asked for what is left to do: older ones are overtaken."""


@dataclass(frozen=True, slots=True)
class Claims:
    """The statements by class, oldest first."""

    decisions: tuple[Claim, ...]
    verified: tuple[Claim, ...]
    unverified: tuple[Claim, ...]
    attempts: tuple[Claim, ...]
    reports: tuple[Claim, ...]
    next_steps: tuple[Claim, ...]
    questions: tuple[Claim, ...]


@dataclass(slots=True)
class _Sorted:
    decisions: list[Spoken] = field(default_factory=list[Spoken])
    verified: list[Spoken] = field(default_factory=list[Spoken])
    unverified: list[Spoken] = field(default_factory=list[Spoken])
    attempts: list[Spoken] = field(default_factory=list[Spoken])
    reports: list[Spoken] = field(default_factory=list[Spoken])


def claims(
    parts: Sequence[Part], profile: Profile, failures: Mapping[int, Quote], actions: Mapping[int, Quote]
) -> Claims:
    """Sort every statement, also kept ones; only what was reported done is left out there.

    `failures` gives, by the position of a failed result, the line that says what failed; `actions`, by the position
    of a call, what was done.
    """
    found = _sorted(parts, profile, failures, actions)
    own = [part for part in parts if part.said_by_agent]
    last_word_of_user = max((part.position for part in parts if part.said_by_user), default=-1)
    questions = [question for part in own for question in _questions(part, part.position < last_word_of_user)]
    kept = {part.position for part in parts if part.kept}
    taken_back = denials(parts)
    guesses = zip(found.unverified, against_guesses(found.unverified, taken_back), strict=True)
    return Claims(
        decisions=_unique(one.claim() for one in found.decisions),
        verified=_unique(
            one.claim(evidence=one.evidence, against=against_finding(one, taken_back)) for one in found.verified
        ),
        unverified=_unique(one.claim(hedged=True, against=against) for one, against in guesses),
        attempts=_unique(map(_attempt, found.attempts)),
        reports=_unique(one.claim() for one in found.reports if one.position not in kept),
        next_steps=_unique(left for part in own[-RECENT_TEXTS:] for left in _left(part)),
        questions=_unique([*questions, *_asked_by_user(parts)]),
    )


def _sorted(
    parts: Sequence[Part], profile: Profile, failures: Mapping[int, Quote], actions: Mapping[int, Quote]
) -> _Sorted:
    found = _Sorted()
    evidence = _evidence(parts, profile)
    failed: Quote | None = None
    tried: Quote | None = None
    for part in parts:
        tried = actions.get(part.position, tried)
        if part.position in failures:
            failed = failures[part.position]
        elif part.said_by_user:
            failed = tried = None
            found.decisions += [one for one in statements(part) if _decided_by_user(one.text)]
        elif part.said_by_agent:
            for spoken in statements(part, evidence.get(part.position, ""), failed, tried):
                _sort(found, spoken)
    return found


def _attempt(spoken: Spoken) -> Claim:
    """What failed; with the failure's message where no reason is given, and what was done where it only points back."""
    error = None if signals.REASON.search(words_only(spoken.text)) else spoken.failure
    return spoken.claim(error=error, tried=spoken.tried if signals.POINTS_BACK.search(spoken.text) else None)


def _sort(found: _Sorted, spoken: Spoken) -> None:
    words = words_only(spoken.text)
    guess = hedged(spoken.text)
    if spoken.text.endswith((":", "：")) or (
        signals.asks(spoken.text) and (not guess or signals.ASKED_USER.search(words))
    ):
        return
    intended = signals.INTENDED.search(words)
    if signals.FAILED.search(words) and (not intended or signals.REASON.search(words)):
        found.attempts.append(spoken)
        return
    known = signals.VERIFIED.search(words) and not intended
    if signals.DECIDED_PLAINLY.search(words) or (signals.DECIDED.search(words) and not guess and not intended):
        found.decisions.append(spoken)
    elif guess and not intended:
        found.unverified.append(spoken)
    if known and not guess:
        (found.verified if spoken.evidence else found.unverified).append(spoken)
    elif signals.REPORTED.search(words) and not guess:
        found.reports.append(spoken)


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


def _decided_by_user(text: str) -> bool:
    return signals.USER_DECIDED.search(words_only(text)) and not signals.asks(text)


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


def _questions(part: Part, answered: bool) -> Iterator[Claim]:
    for sentence in sentences(part.item.text):
        words = sentence.of(part.item.text)
        if len(words) > LONGEST:
            continue
        plain = words_only(words)
        asked = not answered and signals.asks(words) and signals.ASKED_USER.search(plain)
        if asked or signals.OPEN_QUESTION.search(plain):
            yield Claim(clean(words), part.entry, hedged=hedged(words))


def _asked_by_user(parts: Sequence[Part]) -> Iterator[Claim]:
    """Questions of the user's that no text of the agent follows."""
    last = max((part.position for part in parts if part.said_by_agent), default=-1)
    for part in parts:
        if part.said_by_user and part.position > last:
            for sentence in sentences(part.item.text):
                if signals.asks(sentence.of(part.item.text)):
                    yield Claim(clean(sentence.of(part.item.text)), part.entry)


def _unique(claims: Iterable[Claim]) -> tuple[Claim, ...]:
    """Each text once, where it was said first."""
    found: dict[str, Claim] = {}
    for claim in claims:
        found.setdefault(" ".join(claim.text.lower().split()), claim)
    return tuple(found.values())
