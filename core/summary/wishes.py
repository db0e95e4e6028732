"""What the user said: goal, rules, last request and all other messages, letter for letter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from core.summary.history import Part, clean, trivial
from core.summary.sentences import announced, sentences
from core.summary.signals import ASKED_USER, LOGGED, RULE, asks, words_only
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
    """Goal, rules, other messages (oldest first) and last request; repeated ones once."""
    said = [part for part in parts if part.said_by_user and clean(part.item.text)]
    own = [part for part in said if not part.kept]
    goal = _goal(said)
    goal_entries = {quote.entry for quote in goal}
    rules = _unique([Quote(rule, part.entry) for part in said for rule in rules_of(part.item.text)])
    request = _request(said, goal_entries)
    spoken_for = goal_entries | ({request.entry} if request and not request.shortened else set())
    covered = {rule.text for rule in rules}
    messages = [
        Quote(clean(part.item.text), part.entry)
        for part in own
        if part.entry not in spoken_for and not trivial(part.item.text) and not _covered(part.item.text, covered)
    ]
    return Wishes(goal, rules, _unique(messages), request)


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


def rules_of(text: str) -> Iterator[str]:
    """The sentences that state a rule, each with the list that it announces."""
    found = list(sentences(text))
    skip_to = -1
    for number, sentence in enumerate(found):
        words = sentence.of(text)
        if number <= skip_to or len(words) > LONGEST_RULE or not RULE.search(words_only(words)):
            continue
        if _pasted(text, sentence.start):
            continue
        if asks(words) and not ASKED_USER.search(words):
            continue
        last = announced(text, found, number)
        skip_to = last
        yield clean(text[sentence.start : found[last].end])


def _pasted(text: str, position: int) -> bool:
    """Whether the line at `position` is one of a log, a trace or some data."""
    start = text.rfind("\n", 0, position) + 1
    end = text.find("\n", position)
    line = text[start : end if end >= 0 else len(text)].strip()
    return LOGGED.search(line) or line.startswith(DATA) or len(line) > LONGEST_RULE


def _covered(text: str, rules: set[str]) -> bool:
    return all(sentence.of(text).strip() in rules for sentence in sentences(text)) and "```" not in text


def _unique(quotes: list[Quote]) -> tuple[Quote, ...]:
    """Each text once, with the place where it was said last, in the order it was said first."""
    last: dict[str, Quote] = {}
    for quote in quotes:
        last[quote.text] = quote
    return tuple(last.values())
