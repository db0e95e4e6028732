"""What must hold before a summary may be committed. Each finding says what is wrong and what to do about it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from core.proposal import Summary
from core.summary.document import neutral, read_document
from core.summary.offline import TextCounter
from core.summary.signals import content_words
from core.summary.spoken import hedged
from core.summary.state import Facts, Quote, from_state
from core.summary.template import LANGUAGES, template

MARGIN = 0.2
"""A summary must save at least this share of the tokens that it replaces."""

LEAST = 200
"""Characters below which a text is too short to work on from."""

ALIKE = 0.6
"""Share of a guess's words that an unmarked line must hold to count as the guess told as a fact."""

Finding = tuple[str, bool, str]
"""The check's id, whether it holds, and what to do where it does not."""


def check_summary(
    summary: Summary,
    counter: TextCounter,
    replaced_tokens: int,
    facts: Facts | None = None,
    elsewhere: Iterable[str] = (),
    cut_off: bool = False,
) -> list[Finding]:
    """All checks, in the order in which they are worth reading.

    `replaced_tokens` is what the summarised span counts now. `facts` are what the span proves; without them the
    summary's own state is used, and without that only the text's form is checked. `elsewhere` holds the texts that
    stay in the view: a rule that stands there need not stand in the summary. `cut_off`: the writer stopped at its
    output limit.
    """
    text = summary.text
    if not text.strip():
        return [("not-empty", False, "the summary is empty: write one, or take the offline summary")]
    known = facts if facts is not None else from_state(summary.state)
    whole = "\n".join((text, *elsewhere))
    findings = [
        ("not-empty", True, ""),
        _whole(text, cut_off),
        _long_enough(text, replaced_tokens, counter),
        _headings(summary),
        _shorter(text, counter, replaced_tokens),
    ]
    if known is None:
        return findings
    return [
        *findings,
        _constraints(known, whole),
        _changed_paths(known, whole),
        _last_error(known, whole),
        _request(known, whole),
        _guesses(known, text),
    ]


def _whole(text: str, cut_off: bool) -> Finding:
    """H10: half a summary is worse than none."""
    if cut_off:
        return "whole", False, "the summary was cut off at the writer's output limit: allow it more, or summarise less"
    fences = re.findall(r"^(`{3,})(?:code)?$", text, re.MULTILINE)
    if read_document(text) is not None and len(fences) % 2:
        return "whole", False, "the summary ends inside a quote: it was cut off; close the quote or write it anew"
    return "whole", True, ""


def _long_enough(text: str, replaced: int, counter: TextCounter) -> Finding:
    if len(text.strip()) < LEAST and counter.text(text) * 20 < replaced:
        message = (
            f"the summary has only {len(text.strip())} characters: say what is done, what is left and what rules hold"
        )
        return "long-enough", False, message
    return "long-enough", True, ""


def _headings(summary: Summary) -> Finding:
    """The fixed headings; a person's own file that has none of them is left to the person."""
    read = read_document(summary.text)
    if read is not None:
        fixed = template(read[0])
        present = {section.name for section in read[1]}
    else:
        lines = {line.strip() for line in summary.text.split("\n")}
        found = [
            (len(have), fixed, have)
            for fixed in map(template, LANGUAGES)
            if (have := {name for name, heading in fixed.headings.items() if f"## {heading}" in lines})
        ]
        if not found and summary.writer in {"file", "person"}:
            return "headings", True, ""
        _, fixed, present = max(found, key=lambda one: one[0], default=(0, template("en"), set[str]()))
    missing = [words for name, words in fixed.headings.items() if name not in present | fixed.optional]
    if missing:
        return (
            "headings",
            False,
            f"missing headings: {'; '.join(missing)}: put them back, with {fixed.none} where empty",
        )
    return "headings", True, ""


def _shorter(text: str, counter: TextCounter, replaced: int) -> Finding:
    """H11: a summary that saves nothing only loses detail."""
    tokens = counter.text(text)
    most = int(replaced * (1 - MARGIN))
    if tokens > most:
        message = (
            f"the summary has {tokens:,} tokens and replaces {replaced:,}; at most {most:,} make it worth it: "
            "shorten it, or summarise more"
        )
        return "shorter", False, message
    return "shorter", True, ""


def _constraints(facts: Facts, text: str) -> Finding:
    """H41: the user's rules letter for letter."""
    missing = _missing(facts.constraints, text)
    return _finding("constraints", missing, "rules of the user are missing", "put them back word for word")


def _changed_paths(facts: Facts, text: str) -> Finding:
    missing = [change.path for change in facts.changes if neutral(change.path) not in text]
    return _finding("changed-paths", missing, "changed files are not named", "name each path")


def _last_error(facts: Facts, text: str) -> Finding:
    blocks = facts.failures[0].blocks if facts.failures and not facts.failures[0].passed else ()
    missing = [block for block in blocks if neutral(block) not in text]
    return _finding("last-error", missing, "the last error is not quoted", "put its lines back word for word")


def _request(facts: Facts, text: str) -> Finding:
    missing = _missing((facts.request,) if facts.request is not None else (), text)
    return _finding("last-request", missing, "the user's last request is missing", "put it back word for word")


def _guesses(facts: Facts, text: str) -> Finding:
    """A guess that stands in the text must be marked as one, and may not come back as a fact in other words."""
    read = read_document(text)
    if read is None:
        return "guesses", True, ""
    told = _told(facts)
    wrong = [
        row.text
        for section in read[1]
        for row in section.rows
        if section.name in _STATING and row.style != "code" and row.marked("unverified") is None
        if _as_fact(row.text, facts, told)
    ]
    return _finding("guesses", wrong, "guesses stand as facts", "mark them unverified or move them to the guesses")


def _as_fact(text: str, facts: Facts, told: set[str]) -> bool:
    plain = _plain(text)
    if plain in told:
        return False
    if any(_plain(guess.text) in plain for guess in facts.unverified):
        return True
    if hedged(text):
        return False
    return any(_retold(guess.text, text) for guess in facts.unverified)


_STATING = frozenset({"decisions", "done", "verified", "attempts", ""})


def _told(facts: Facts) -> set[str]:
    """The statements that the session itself makes: they may stand where the facts have them."""
    groups = (facts.decisions, facts.reports, facts.verified, facts.attempts)
    steps = facts.plan.steps if facts.plan is not None else ()
    return {_plain(one.text) for group in groups for one in group} | {_plain(step.text) for step in steps}


def _retold(guess: str, line: str) -> bool:
    """Whether the line says what the guess says: most of the guess's words are in it, and no word of doubt."""
    words = content_words(guess)
    return len(words) > 1 and len(words & content_words(line)) >= ALIKE * len(words)


def _missing(quotes: Iterable[Quote], text: str) -> list[str]:
    return [quote.text for quote in quotes if neutral(quote.text) not in text]


def _finding(name: str, missing: Sequence[str], what: str, remedy: str) -> Finding:
    if not missing:
        return name, True, ""
    shown = "; ".join(f"“{' '.join(one.split())[:80]}”" for one in missing[:3])
    more = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
    return name, False, f"{what}: {shown}{more}: {remedy}"


def _plain(text: str) -> str:
    return " ".join(neutral(text).lower().split())
