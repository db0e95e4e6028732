"""The English sample: an old storage interface is replaced over many files, and one cent goes missing on the way."""

from __future__ import annotations

from scripts.samples.english import beginning, ending, guesses, moving
from scripts.samples.story import Story
from scripts.samples.telling import Telling, project

START = 1_792_397_523
"""2026-10-19 08:12:03 UTC."""


def story() -> Story:
    """The story, told anew; always the same."""
    telling = Telling(project("ledger"))
    for chapter in (beginning, guesses, moving, ending):
        chapter.tell(telling)
    return Story(
        name="interface-migration",
        language="en",
        cwd="/home/dana/work/ledger",
        start=START,
        provider="deepseek",
        model="deepseek-reasoner",
        window=128_000,
        reasons=True,
        events=tuple(telling.events),
        facts=tuple(telling.facts),
    )
