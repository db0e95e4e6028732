"""A session's whole past, as far as it leads to the leaf: every item once sent or never, and what became of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from core.agents.claude_code.building import build
from core.agents.claude_code.items import items_of
from core.agents.claude_code.messages import Message, blocks_of
from core.agents.claude_code.models import is_foreign
from core.agents.claude_code.past import Cut, cuts, past
from core.agents.claude_code.records import Line, detail, record
from core.agents.claude_code.sent import Sent, reply_blocks
from core.files import holding
from core.resume import Resume
from core.session import Session
from core.view import Item, Seen, Sight


def history(session: Session, resume: Resume) -> Iterator[Seen]:
    """The past in file order: what each line would send by itself, and whether the model still sees it.

    Of lines with one uuid the first is told, as it was before a later one replaced it. At most one line is held at a
    time. `left_at` names the boundary, or the line itself where it was written again.
    """
    known = detail(session)
    in_view = {line.id for line in known.path}
    model = resume.model.value if resume.model is not None else None
    telling = _Telling(session, model)
    with holding(session.files, session.path):
        lines = past(session)
        boundaries = cuts(session, lines)
        for line in lines:
            sight, left_at = _fate(session, line, in_view, boundaries)
            for item, sent in telling.items(line):
                yield Seen(item, sight, left_at) if sent else Seen(item, "never")


def _fate(session: Session, line: Line, in_view: set[str], boundaries: tuple[Cut, ...]) -> tuple[Sight, str | None]:
    now = detail(session).lines[line.id]
    if line.id in in_view:
        replaced = now is not line and session.raw(now.entry) != session.raw(line.entry)
        return ("pruned", line.id) if replaced else ("visible", None)
    for cut in boundaries:
        if cut.line.entry.index > line.entry.index and line.id not in cut.kept:
            gone = line.id in cut.dropped or not cut.summarised
            return ("dropped" if gone else "summarized"), cut.line.id
    return "dropped", None


@dataclass
class _Telling:
    """Turns one line after another into items."""

    session: Session
    model: str | None
    names: dict[str, str] = field(default_factory=dict[str, str])

    def items(self, line: Line) -> Iterator[tuple[Item, bool]]:
        """The line's items; with False those that this model would never be sent."""
        kind = line.entry.kind
        if kind == "progress" or (kind == "system" and line.subtype != "local_command"):
            return
        stored = record(self.session, line.entry)
        if kind != "assistant":
            for item in items_of(build([Sent(line, stored, [])], self.model).messages):
                yield self._named(item), True
            return
        sent = [] if line.api_error else reply_blocks(stored, line, frozenset())
        places = {place for block in sent if not is_foreign(block, line.model, self.model) for place in block.source}
        message = stored.get("message")
        blocks = blocks_of(message.get("content") if isinstance(message, dict) else None, line.id)
        for item in items_of([Message("assistant", blocks)]):
            yield self._named(item), not places.isdisjoint(item.source)

    def _named(self, item: Item) -> Item:
        """A result with the name of the tool that it comes from."""
        if item.kind == "tool_call":
            self.names[item.call_id] = item.name
        elif item.kind == "tool_result":
            return replace(item, name=self.names.get(item.call_id, ""))
        return item
