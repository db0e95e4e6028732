"""What is true of a sample, for tests: the planted facts and the program's own record, each with its entry."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scripts.samples.story import Fact, Place, Reply, ShellByUser, Story, UserSays

SINGLE = {"goal", "last_request", "last_failure", "lines_that_matter", "plan"}
LISTS = (
    "constraints",
    "decisions",
    "verified_findings",
    "wrong_guesses",
    "hedged_guesses",
    "failed_attempts",
    "courtesies",
)


def truth_of(story: Story, session: str, agent: str, places: Sequence[Place]) -> dict[str, Any]:
    """The truth about one session file; `places` as the writer gave them."""
    truth: dict[str, Any] = {
        "schema": "sample-truth/1",
        "session": session,
        "agent": agent,
        "language": story.language,
        "window": story.window,
        "turns": sum(isinstance(event, UserSays) for event in story.events),
    }
    truth |= {name: [] for name in LISTS}
    for fact in story.facts:
        value = _value(fact, places)
        if fact.kind in SINGLE:
            truth[fact.kind] = value
        elif fact.kind == "disproved":
            truth["wrong_guesses"][-1]["disproved"] = value
        else:
            truth[fact.kind].append(value)
    truth["plan"] = _plan(story, places)
    truth["changed_files"] = _files(story, places, ("edit", "write"))
    truth["read_files"] = _files(story, places, ("read",))
    truth["commands"] = _commands(story, places)
    return truth


def _value(fact: Fact, places: Sequence[Place]) -> dict[str, Any]:
    place = places[fact.event]
    entry = place.results[fact.action] if fact.where == "result" else place.entry
    return {"text": fact.text, "entry": entry, **fact.more}


def _plan(story: Story, places: Sequence[Place]) -> dict[str, Any]:
    """The last state of the plan tool."""
    for event, place in reversed(list(zip(story.events, places, strict=True))):
        if not isinstance(event, Reply):
            continue
        for action, result in zip(event.actions, place.results, strict=True):
            if action.call.kind == "plan":
                steps = action.call.arguments["steps"]
                named = {state: [text for text, is_ in steps if is_ == state] for state in ("done", "doing", "open")}
                return {**named, "entry": result, "call": place.entry}
    return {}


def _files(story: Story, places: Sequence[Place], kinds: tuple[str, ...]) -> list[dict[str, Any]]:
    found: dict[str, list[str]] = {}
    for event, place in zip(story.events, places, strict=True):
        if isinstance(event, Reply):
            for action, result in zip(event.actions, place.results, strict=True):
                if action.call.kind in kinds and not action.result.failed:
                    found.setdefault(action.call.arguments["path"], []).append(result)
    return [{"path": path, "entries": entries} for path, entries in sorted(found.items())]


def _commands(story: Story, places: Sequence[Place]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for event, place in zip(story.events, places, strict=True):
        if isinstance(event, ShellByUser):
            found.append({"command": event.command, "exit_code": event.exit_code, "entry": place.entry, "by": "user"})
        elif isinstance(event, Reply):
            for action, result in zip(event.actions, place.results, strict=True):
                if action.call.kind == "shell":
                    code = action.result.exit_code
                    command = action.call.arguments["command"]
                    found.append({"command": command, "exit_code": code, "entry": result, "by": "agent"})
    return found
