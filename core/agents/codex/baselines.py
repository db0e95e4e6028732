"""What Codex takes for told already: the records behind a checkpoint without which it tells everything again.

A `compacted` clears both; where one is missing, the whole initial context is given anew before the next prompt.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from core.agents.codex import decoding
from core.agents.codex.rebuilding import base_of, path_of
from core.agents.codex.records import detail, payload
from core.jsonl import encode
from core.session import Entry, Session

COUNT = "event_msg/token_count"


@dataclass(frozen=True, slots=True)
class Baselines:
    """The payloads of a full `world_state` and of the last `turn_context`, as JSON."""

    world_state: bytes
    turn_context: bytes


def baselines(session: Session) -> Baselines | None:
    """The baselines that hold now; None where Codex would tell everything again."""
    since = _since_checkpoint(session)
    if any(entry.kind == "event_msg/thread_rolled_back" for entry in since):
        return None  # what a turn told that was taken back, is told again
    turn = next((entry for entry in reversed(since) if entry.kind == "turn_context"), None)
    state = _world_state(session, since)
    if turn is None or state is None:
        return None
    told = bytes(decoding.LINES.decode(session.raw(turn)).payload)
    return Baselines(encode({"full": True, "state": state}), told)


def _since_checkpoint(session: Session) -> Sequence[Entry]:
    """The valid records behind what the history begins with, and behind every later compaction."""
    known, path = detail(session), path_of(session)
    base = base_of(known, path)
    last = next((entry.index for entry in reversed(path) if _is_compaction(session, entry)), -1)
    start = max(last, -1 if base is None else base) + 1
    return [entry for entry in path[start:] if entry.id not in known.skipped]


def _is_compaction(session: Session, entry: Entry) -> bool:
    return entry.kind == "compacted" and entry.id not in detail(session).skipped


def _world_state(session: Session, since: Sequence[Entry]) -> Any:
    """The newest full state with all that changed later; None where there is none."""
    state: Any = None
    for entry in since:
        if entry.kind != "world_state":
            continue
        told = payload(session, entry)
        if told.get("full") is True:
            state = told.get("state")
        elif state is not None:
            state = merged(state, told.get("state"))
    return state


def merged(value: Any, patch: Any) -> Any:
    """A JSON merge patch (RFC 7396) laid over a value."""
    if not isinstance(patch, dict):
        return patch
    old: dict[str, Any] = value if isinstance(value, dict) else {}
    kept = {name: one for name, one in old.items() if name not in patch}
    return kept | {name: merged(old.get(name), one) for name, one in patch.items() if one is not None}


def token_count(session: Session, tokens: int) -> bytes | None:
    """The payload of a token count that says how large the view is now; None where the session has none to follow.

    Without it Codex takes the old figure for the size of the new view, and may compact it away at once.
    """
    for entry in reversed(path_of(session)):
        if entry.kind != COUNT or entry.id in detail(session).skipped:
            continue
        told = payload(session, entry)
        info = told.get("info")
        if isinstance(info, dict):
            last = info.get("last_token_usage")
            zeros = dict.fromkeys(last if isinstance(last, dict) else {}, 0)
            fields = {"last_token_usage": {**zeros, **_ZEROS, "total_tokens": tokens}}
            return encode({**told, "info": {**info, **fields, "last_usage_includes_reasoning": True}})
    return None


_ZEROS = dict.fromkeys(("input_tokens", "cached_input_tokens", "output_tokens", "reasoning_output_tokens"), 0)


@dataclass(frozen=True, slots=True)
class Window:
    """Which window of the thread the last compaction began."""

    number: int
    first: str
    last: str


def window(session: Session) -> Window:
    """The window that the view stands in: number 0 before the first compaction. Ids are empty where none are known."""
    found = detail(session).start.get("context_window")
    own = _text(found.get("window_id")) if isinstance(found, dict) else ""
    compactions = [entry for entry in path_of(session) if _is_compaction(session, entry)]
    if not compactions:
        return Window(0, own, own)
    told = payload(session, compactions[-1])
    numbers = (told.get("window_number"), told.get("window_id"))
    number = next((one for one in numbers if isinstance(one, int) and not isinstance(one, bool)), len(compactions))
    last = _text(told.get("window_id")) or own
    return Window(number, _text(told.get("first_window_id")) or own or last, last)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
