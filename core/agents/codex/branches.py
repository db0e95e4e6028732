"""What of a Codex session can be seen again: the turns that were taken back."""

from __future__ import annotations

from collections.abc import Iterator

from core.agents.codex.rebuilding import NO_FACT, path_of
from core.agents.codex.records import detail
from core.agents.protocol import Leaf
from core.leaves import words_of
from core.session import Session


def leaves(session: Session) -> Iterator[Leaf]:
    """The last entry before each roll-back; a rollout has no branches beside them."""
    known, path = detail(session), path_of(session)
    for at, entry in enumerate(path):
        taken = known.facts.get(entry.id, NO_FACT).rolled_back
        if entry.kind != "event_msg/thread_rolled_back" or entry.id in known.skipped or not taken or not at:
            continue
        turns = [one for one in path[:at] if one.id in known.user_turns][-taken:]
        first = turns[0] if turns else path[at - 1]
        lost = [one for one in path[:at] if one.index >= first.index and one.role in ("user", "assistant")]
        last = path[at - 1]
        words = words_of(session, first)
        yield Leaf(last.id, "taken-back", len(lost), entry.id, last.line, last.time, words)
