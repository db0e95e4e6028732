"""Which lines of the conversation stay, in which order, so that what is kept reaches the model as it did before.

The client (2.1.332) moves context lines about: those of the user's side rise to the reply or result before them and are
folded into that result, those of the system's side are gathered behind the user's message of their gap, and wrapped as
a text where the gap has none. Where what stands around such a line goes, it would come to stand in other words. So a
context line of the user's side then stays as a new line, with the plain text that it is, and one of the system's side
moves on to the next gap with a message of the user.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from msgspec import structs

from core.agents.claude_code.building import rendered
from core.agents.claude_code.models import standing_role
from core.agents.claude_code.records import Detail, Line, detail, record
from core.agents.claude_code.sent import lost_calls
from core.agents.claude_code.siblings import MESSAGES
from core.agents.deciding import Decisions
from core.errors import CommitRefused
from core.session import Session
from core.view import Item, Unit, View


@dataclass(frozen=True)
class Arrangement:
    """The lines that stay, in their new order."""

    lines: tuple[Line, ...]
    as_texts: tuple[tuple[Line, tuple[str, ...]], ...]
    """Those of the lines that stay as plain texts of the user's side, and these texts."""


def arrange(session: Session, view: View, decisions: Decisions) -> Arrangement:
    """The lines that stay when these decisions are carried out with a boundary. Raises CommitRefused."""
    known = detail(session)
    fate = _Fate(known, view, decisions)
    texts = tuple(_texts(session, fate))
    risen = _risen(known.path, {line.id for line, _ in texts}, fate)
    kept = _without_revived(known.path, [line for line in risen if fate.stays(line)], fate)
    return Arrangement(tuple(_gathered(kept, fate)), texts)


def _without_revived(path: Sequence[Line], kept: list[Line], fate: _Fate) -> list[Line]:
    """The lines that stay, without calls that would be sent now, though they were not.

    A call without a result is sent where the conversation ends in its turn, and nowhere else: what ends it may change.
    Raises CommitRefused for one that stays and would not be sent any more.
    """
    before, now = lost_calls(path), lost_calls(kept)
    gone = next((call for call in now - before if fate.calls.get(call)), None)
    if gone is not None:
        words = "has no result yet, and would not be sent any more without what follows: drop or summarise it too"
        raise CommitRefused(f"the call {gone} {words}")
    revived = before - now
    return [line for line in kept if line.id in fate.unit_of or revived.isdisjoint(line.calls)]


@dataclass
class _Fate:
    """What becomes of each line, from what becomes of each unit."""

    known: Detail
    view: View
    decisions: Decisions
    unit_of: dict[str, Unit] = field(default_factory=dict[str, Unit])
    """Line → the unit that it gives items to."""
    replies: dict[str, bool] = field(default_factory=dict[str, bool])
    """Id of a reply → whether it stays."""
    barriers: set[str] = field(default_factory=set[str])
    """Ids of replies that are not sent, though context lines do not rise over them: failed ones, those with calls."""
    calls: dict[str, bool] = field(default_factory=dict[str, bool])
    """Id of a call → whether it stays."""
    following: dict[str, bool] = field(default_factory=dict[str, bool])
    """Context line that the model is sent nothing of → whether the line before it stays."""

    def __post_init__(self) -> None:
        for unit in self.decisions.units:
            self.unit_of.update(dict.fromkeys(unit.entries, unit))
        before = True
        for line in self.known.path:
            if line.entry.kind == "assistant" and (line.calls or line.api_error):
                self.barriers.add(line.message_id or line.id)
            unit = self.unit_of.get(line.id)
            if unit is None:
                if line.entry.kind not in MESSAGES:
                    self.following[line.id] = before
                continue
            before = unit.id not in self.decisions.gone
            if line.entry.kind == "assistant":
                self.replies[line.message_id or line.id] = before
                for call in line.calls:
                    self.calls.setdefault(call, before)

    def divides(self, line: Line) -> bool:
        """Whether no context line rises over the line: a result, or of a reply that is more than thinking."""
        reply = line.message_id or line.id
        replied = line.entry.kind == "assistant" and (reply in self.replies or reply in self.barriers)
        return replied or bool(line.results)

    def stays(self, line: Line) -> bool:
        """Whether the line is listed behind the new boundary.

        A line that the model is sent nothing of is left behind, unless it belongs to a reply or call that stays; and
        also then if it repeats a call that does not stay, which would count again.
        """
        unit = self.unit_of.get(line.id)
        if unit is not None:
            return unit.id not in self.decisions.gone
        if line.boundary:
            return False
        if line.entry.kind == "assistant":
            again = any(self.calls.get(call) is False for call in line.calls)
            return not again and self.replies.get(line.message_id or line.id, False)
        if line.entry.kind == "user":
            return any(self.calls.get(call, False) for call in line.results)
        return self.following.get(line.id, False)

    def items(self, line: Line) -> Iterator[Item]:
        """The items of the view that a line of its own gives."""
        unit = self.unit_of.get(line.id)
        return (self.view.items[at] for at in (unit.items if unit is not None else ()))

    def place(self, line: Line) -> int:
        """Where the line's own text stands in the view; before all others where it has none of its own."""
        unit = self.unit_of.get(line.id)
        items = self.view.items
        positions = unit.items if unit is not None else ()
        return next((at for at in positions if items[at].source and items[at].source[0].entry == line.id), -1)

    def says(self, line: Line) -> bool:
        """Whether the line gives a message of the user's side."""
        unit = self.unit_of.get(line.id)
        return unit is not None and line.entry.kind != "assistant" and unit.kind != "system"


def _texts(session: Session, fate: _Fate) -> Iterator[tuple[Line, tuple[str, ...]]]:
    """The context lines that stay as plain texts, with these.

    They are those behind whose last reply or result something goes that kept them from being folded, or from rising;
    and those of the system's side that stood alone in their gap and were sent as the user's.
    """
    model = fate.view.resume.model
    standing = standing_role(model.value if model is not None else None)
    whole = stood = fate.decisions.summary is None
    reply = ""
    for line in fate.known.path:
        if line.entry.kind == "assistant" and fate.divides(line):
            new, reply = (line.message_id or line.id) != reply, line.message_id or line.id
            whole = stood = fate.stays(line) and (new or whole)
        elif line.results:
            whole = stood = whole and fate.stays(line)
        else:
            whole = whole and (fate.stays(line) or line.id not in fate.unit_of)
            if line.entry.kind == "attachment" and fate.stays(line) and _is_own(line, fate):
                pieces = rendered(record(session, line.entry), line.id, standing)
                if not stood or any(piece.system for piece in pieces):
                    yield line, tuple(item.text for item in fate.items(line))


def _is_own(line: Line, fate: _Fate) -> bool:
    """Whether the model gets the line as a text of the user's side, and not within a result."""
    unit = fate.unit_of.get(line.id)
    return unit is not None and unit.kind == "custom"


def _risen(path: Sequence[Line], texts: set[str], fate: _Fate) -> Iterator[Line]:
    """The path with lines that become plain texts where the client has put them: before what they had risen over."""
    waiting: list[Line] = []

    def flush() -> Iterator[Line]:
        moved = any(line.id in texts for line in waiting)
        yield from sorted(waiting, key=fate.place) if moved else waiting
        waiting.clear()

    for line in path:
        if fate.divides(line):
            yield from flush()
            yield line
        elif line.id in texts:
            waiting.append(structs.replace(line, entry=structs.replace(line.entry, kind="user")))
        else:
            waiting.append(line)
    yield from flush()


def _gathered(kept: Sequence[Line], fate: _Fate) -> Iterator[Line]:
    """The lines that stay, those of the system's side each in a gap with a message of the user, or in the last one."""
    gaps = list(_gaps(kept))
    waiting: list[Line] = []
    for number, gap in enumerate(gaps):
        last = number == len(gaps) - 1
        heard = (number == 0 and fate.decisions.summary is not None) or any(fate.says(line) for line in gap)
        if not heard and not last:
            waiting += [line for line in gap if _is_system(line, fate)]
            yield from (line for line in gap if not _is_system(line, fate))
            continue
        yield from _with_waiting(gap, waiting, fate)
        waiting = []


def _with_waiting(gap: Sequence[Line], waiting: Sequence[Line], fate: _Fate) -> Iterator[Line]:
    """The gap with lines from earlier ones behind its first message of the user, else at its end."""
    place = next((at + 1 for at, line in enumerate(gap) if fate.says(line)), len(gap))
    yield from (*gap[:place], *waiting, *gap[place:])


def _is_system(line: Line, fate: _Fate) -> bool:
    unit = fate.unit_of.get(line.id)
    return unit is not None and unit.kind == "system"


def _gaps(kept: Sequence[Line]) -> Iterator[list[Line]]:
    """The lines that stay, divided before each new reply: each part but the first begins with one."""
    gap: list[Line] = []
    reply = ""
    for line in kept:
        if line.entry.kind == "assistant" and (line.message_id or line.id) != reply:
            yield gap
            gap = []
            reply = line.message_id or line.id
        gap.append(line)
    yield gap
