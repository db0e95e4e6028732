"""The offline summary: a handoff document written by fixed rules, without a model, for every format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from core.agents.protocol import Profile
from core.proposal import Summary
from core.summary.facts import collect
from core.summary.history import USED
from core.summary.rows import to_sections
from core.summary.shortening import shorten
from core.summary.state import Facts, to_state
from core.summary.template import Language, language_of, template
from core.view import Item, Seen


class TextCounter(Protocol):
    """What the writer needs of `core.tokens.counting.Counter`."""

    def text(self, text: str) -> int:
        """Tokens of a text."""
        ...


def write_offline(
    seen: Sequence[Seen],
    kept: Sequence[Item],
    profile: Profile,
    counter: TextCounter,
    budget_tokens: int,
    language: Language | None = None,
    focus: str = "",
    states: Mapping[str, Mapping[str, Any]] | None = None,
    order: Sequence[str] = (),
) -> Summary:
    """The summary of the span before what is kept. Same inputs, same text.

    `seen` is the whole path up to the first kept unit, with what earlier compactions hid; `states` are the stored
    states of earlier summaries of ours by entry id and `order` the ids of the session's entries, oldest first (see
    `core.summary.facts.collect`). The text stays within
    `budget_tokens` as far as `core.summary.shortening.ORDER` goes: goal, constraints, changed paths, the last
    error, the plan and the last request are never shortened. The state holds all facts, also the ones left out.
    """
    facts = collect(seen, kept, profile, states, order)
    if language is None:
        language = language_of([*(one.item for one in seen if one.sight in USED), *kept])
    return Summary("offline", write_facts(facts, counter, budget_tokens, language, focus), to_state(facts, language))


def write_facts(facts: Facts, counter: TextCounter, budget_tokens: int, language: Language, focus: str = "") -> str:
    """The facts as a handoff document within the budget."""
    return shorten(template(language), to_sections(facts), counter.text, budget_tokens, focus)
