"""What the user said: goal, rules, last request and all other messages, letter for letter."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from core.summary.history import Part, clean, trivial
from core.summary.sentences import Sentence, announced, sentences
from core.summary.signals import (
    ACKNOWLEDGED,
    ASKED_USER,
    CONCEDED,
    DUTY,
    LOGGED,
    NAMES_NOTHING,
    ONE_STEP,
    REMARK,
    RULE,
    UNABLE,
    asks,
    content_words,
    words_only,
)
from core.summary.state import Quote

LONGEST_RULE = 2_000
"""Characters above which a run of text is no rule but something pasted."""

DATA = ('{"', "[{", "[[", "<", "}", "]", "//", "/*", "<?")
"""How a pasted line of data or code begins."""

REQUEST_HINT = 240
"""Characters of the last request where it stands whole elsewhere: in the goal, or in what is kept."""


@dataclass(frozen=True, slots=True)
class Wishes:
    """The user's side of the session."""

    goal: tuple[Quote, ...]
    constraints: tuple[Quote, ...]
    messages: tuple[Quote, ...]
    request: Quote | None


def wishes(parts: Sequence[Part]) -> Wishes:
    """Goal, rules, other messages (oldest first) and last request; repeated ones once.

    Of a message that states rules, only the rest stands among the messages: the rules are quoted as such.
    """
    said = [part for part in parts if part.said_by_user and clean(part.item.text)]
    goal = _goal(said)
    goal_entries = {quote.entry for quote in goal}
    request = _request(said, goal_entries)
    spoken_for = goal_entries | ({request.entry} if request and not request.shortened else set())
    rules: list[Quote] = []
    messages: list[Quote] = []
    before = ""
    for part in parts:
        if part.said_by_agent:
            before = part.item.text
        elif part.said_by_user and (text := clean(part.item.text)):
            spans = list(rules_of(text, before))
            rules += [Quote(text[start:end], part.entry) for start, end in spans]
            if not part.kept and part.entry not in spoken_for:
                messages += [Quote(rest, part.entry) for rest in _rest(text, spans)]
            before = ""
    return Wishes(goal, _unique(rules), _unique(messages), request)


def _goal(said: Sequence[Part]) -> tuple[Quote, ...]:
    """All parts of the first message, and on to the first one that is more than a greeting."""
    goal: list[Quote] = []
    enough = ""
    for part in said:
        if enough and part.entry != enough:
            break
        goal.append(_hint(part) if part.kept else Quote(clean(part.item.text), part.entry))
        if not trivial(part.item.text):
            enough = part.entry
    return tuple(goal)


def _request(said: Sequence[Part], goal_entries: set[str]) -> Quote | None:
    wanted = [part for part in said if not trivial(part.item.text)]
    if not wanted:
        return None
    last = wanted[-1]
    return _hint(last) if last.kept or last.entry in goal_entries else Quote(clean(last.item.text), last.entry)


def _hint(part: Part) -> Quote:
    """The beginning of a message that stands whole elsewhere."""
    text = clean(part.item.text)
    short = text[:REQUEST_HINT].rstrip()
    return Quote(short, part.entry, shortened=short != text)


def rules_of(text: str, before: str = "") -> Iterator[tuple[int, int]]:
    """Where the sentences stand that state a rule, each with the list that it announces.

    `before` is what the agent said right before. An order for one step and an answer that only says the agent's own
    words again are no rules; where in doubt, a sentence is one.
    """
    found = list(sentences(text))
    first, last = 0, -1
    for number, sentence in enumerate(found):
        words = sentence.of(text)
        if number <= last or len(words) > LONGEST_RULE or not RULE.search(words_only(words)):
            continue
        if _pasted(text, sentence.start) or (asks(words) and not ASKED_USER.search(words)):
            continue
        if _passing(words) or (number == 0 and _echoes(words, before)):
            continue
        first, last = _with_subject(text, found, number, last), announced(text, found, number)
        yield found[first].start, found[last].end


def _passing(words: str) -> bool:
    """Whether the sentence is an order for one step, or a remark on how something looks, and states no duty."""
    plain = " ".join(words_only(words).split())
    return not DUTY.search(plain) and (ONE_STEP.search(plain) or REMARK.search(plain))


def _echoes(words: str, before: str) -> bool:
    """Whether an answer only owns up to a fact (*Right, no pictures.*): what the agent said that it can't do.

    What the agent asked about is decided by the answer, and so a rule.
    """
    plain = words_only(words)
    if not ACKNOWLEDGED.search(plain) or DUTY.search(plain):
        return False
    about = content_words(plain) - content_words(" ".join(_ACKNOWLEDGING))
    told = [one for sentence in sentences(before) if about & content_words(one := sentence.of(before))]
    if any(UNABLE.search(one) and not asks(one) and about <= content_words(one) for one in told):
        return True
    return CONCEDED.search(plain) and not any(map(asks, told))


_ACKNOWLEDGING = ("right", "true", "okay", "sure", "fine", "yes", "yeah", "sorry", "understood", "course", "enough")


def _with_subject(text: str, found: Sequence[Sentence], number: int, taken: int) -> int:
    """The sentence with which the quote begins: the one before where the rule only points to what that one names."""
    earlier = number - 1
    points = NAMES_NOTHING.search(words_only(found[number].of(text)))
    near = earlier > taken and found[earlier].block == found[number].block
    return earlier if points and near and found[number].end - found[earlier].start <= LONGEST_RULE else number


def _rest(text: str, spans: Sequence[tuple[int, int]]) -> Iterator[str]:
    """What stands between the spans, without courtesies and mere marks of a list."""
    edges = [0, *(edge for span in spans for edge in span), len(text)]
    for start, end in zip(edges[::2], edges[1::2], strict=True):
        piece = _LAST_MARK.sub("", text[start:end]).strip()
        if piece and not trivial(piece):
            yield piece


_LAST_MARK = re.compile(r"(?:^|\n)\s*(?:[-*+•]|\d{1,3}[.)、])(?:\s+\[[ xX]\])?\s*$")


def _pasted(text: str, position: int) -> bool:
    """Whether the line at `position` is one of a log, a trace or some data."""
    start = text.rfind("\n", 0, position) + 1
    end = text.find("\n", position)
    line = text[start : end if end >= 0 else len(text)].strip()
    return LOGGED.search(line) or line.startswith(DATA) or len(line) > LONGEST_RULE


def _unique(quotes: list[Quote]) -> tuple[Quote, ...]:
    """Each text once, with the place where it was said last, in the order it was said first."""
    last: dict[str, Quote] = {}
    for quote in quotes:
        last[quote.text] = quote
    return tuple(last.values())
