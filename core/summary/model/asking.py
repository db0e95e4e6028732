"""What the model is asked: first all of the span, then less and less of it, never what is known to be too long."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from core.policies.policy import Way
from core.summary.document import write_section
from core.summary.model.calling import Call
from core.summary.model.conversation import Spoken, newest, spoken
from core.summary.rows import to_sections
from core.summary.state import Facts
from core.summary.template import Language, Template, template
from core.view import Seen

WRITTEN = ("decisions", "done", "verified", "unverified", "attempts", "todo", "questions")
"""Sections that the model writes; the others are kept by the program."""

CONDENSED_SHARE = 0.7
"""Of the room for input, where even the shortened conversation was too long (grok-build's ladder)."""

PREVIEW = 2_000
"""Characters of each result where the whole conversation does not fit (pi's figure)."""

HALVINGS = 3
"""How often the shortest form is halved where the provider still finds it too long."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One request to try, and what of the session it holds, in words."""

    call: Call
    holds: str
    tokens: int
    """Counted, of both texts."""


@dataclass(frozen=True, slots=True)
class Room:
    """Tokens: what the model can read, and what its answer may have."""

    window: int | None
    answer: int

    @property
    def input(self) -> int | None:
        """None where the model's window is unknown: then the provider has to say that it was too much."""
        return None if self.window is None else max(0, self.window - self.answer)


def requests(
    seen: Sequence[Seen],
    facts: Facts,
    language: Language,
    room: Room,
    count: Callable[[str], int],
    focus: str = "",
    way: Way = "ladder",
    result_characters: int | None = None,
) -> Iterator[Asked]:
    """The requests to try, in order; the next one only where the provider found the last one too long.

    A request that is counted to be too long is never given.
    """
    frame = _Frame(facts, language, room, count, focus)
    if way == "drop":
        yield from _dropping(frame, spoken(seen, result_characters))
        return
    whole = frame.asked(spoken(seen, result_characters), "all of it")
    if frame.fits(whole):
        yield whole
    fitted = frame.fitted(spoken(seen, result_characters or PREVIEW), room.input, "results in short, the newest turns")
    if fitted is not None and fitted.call != whole.call:
        yield fitted
    limit = None if room.input is None else int(room.input * CONDENSED_SHARE)
    short = spoken(seen, 0)
    for _ in range(HALVINGS):
        condensed = frame.fitted(short, limit, "what was said and which tools ran")
        if condensed is None:
            return
        yield condensed
        limit = (condensed.tokens if limit is None else min(limit, condensed.tokens)) // 2


def _dropping(frame: _Frame, turns: tuple[Spoken, ...]) -> Iterator[Asked]:
    while turns:
        asked = frame.asked(turns, f"the newest {len(turns)} turns")
        if frame.fits(asked):
            yield asked
        turns = turns[1:]


class _Frame:
    """The fixed texts around the conversation."""

    def __init__(self, facts: Facts, language: Language, room: Room, count: Callable[[str], int], focus: str) -> None:
        texts = prompts()[language]
        fixed = template(language)
        headings = "\n".join(f"## {fixed.headings[name]}" for name in WRITTEN)
        self._system = texts["system"].strip()
        self._before = texts["before"].strip().format(known=_known(fixed, facts))
        asked = texts["after"].strip().format(headings=headings, title=fixed.title, none=fixed.none)
        self._after = asked + ("\n" + fixed.focus.format(" ".join(focus.split())) if focus.strip() else "")
        self._room = room
        self._count = count
        self._own = count(self._system) + count(self._before) + count(self._after) + 50

    def asked(self, turns: Sequence[Spoken], holds: str) -> Asked:
        text = "\n\n".join(turn.text for turn in turns)
        prompt = f"{self._before}\n\n<conversation>\n{text}\n</conversation>\n\n{self._after}"
        return Asked(Call(self._system, prompt, self._room.answer), holds, self._own + self._count(text))

    def fits(self, asked: Asked) -> bool:
        return self._room.input is None or asked.tokens <= self._room.input

    def fitted(self, turns: Sequence[Spoken], limit: int | None, holds: str) -> Asked | None:
        """The newest turns that fit; of a single turn that does not, its end. None where there is no room at all."""
        if limit is None:
            return self.asked(turns, holds)
        room = limit - self._own
        if room <= 0 or not turns:
            return None
        chosen = newest(turns, [self._count(turn.text) + 2 for turn in turns], room)
        if not chosen:
            chosen = (Spoken((_end(turns[-1].text, room, self._count),)),)
        asked = self.asked(chosen, holds)
        return asked if asked.tokens <= limit else None


def _end(text: str, room: int, count: Callable[[str], int]) -> str:
    """The end of a text within `room` tokens."""
    while text and count(text) > room:
        text = text[len(text) // 4 + 1 :]
    return text


def _known(fixed: Template, facts: Facts) -> str:
    """What the program keeps, for the model to know and not to repeat."""
    return "\n".join(
        write_section(fixed, section) for section in to_sections(facts) if section.name not in WRITTEN and section.rows
    ).strip()


@cache
def prompts() -> dict[str, Any]:
    """The fixed texts by language."""
    return tomllib.loads(files("core.summary").joinpath("templates/model.toml").read_text("utf-8"))
