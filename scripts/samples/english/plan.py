"""The plan of the English story and its states."""

from __future__ import annotations

from scripts.samples.story import Action
from scripts.samples.telling import Telling

STEPS = (
    "accounts.py on RecordStore",
    "rates.py on RecordStore",
    "postings.py on RecordStore, replay agrees to the cent",
    "importer.py on RecordStore",
    "Backfill the local database and verify it",
    "statements.py on RecordStore, golden statements pass",
    "Remove the last LegacyStore imports and ledger/legacy/",
    "Update docs/records.md and the changelog",
)


def plan(t: Telling, doing: int) -> Action:
    """The plan with all steps before `doing` done."""
    states = ["done" if at < doing else "doing" if at == doing else "open" for at in range(len(STEPS))]
    return t.plan(*zip(STEPS, states, strict=True))
