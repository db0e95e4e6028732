"""A pi session's whole past, as far as it leads to the leaf: every item once sent or never, and what became of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from core.agents.pi.client import Client, client
from core.agents.pi.context import messages_of, selected, shell_text
from core.agents.pi.editing import last_edits
from core.agents.pi.messages import Message, Target
from core.agents.pi.reading import identity
from core.agents.pi.records import detail, record
from core.agents.pi.repair import call_id, repaired, result_id
from core.agents.pi.view import ASSUMED_WIRE
from core.agents.pi.wires import WIRES
from core.errors import ClientRefuses
from core.files import holding
from core.resume import Resume
from core.session import Entry, Session
from core.view import Item, Seen, Sight, Source

TELLING = frozenset({"message", "custom_message", "branch_summary", "compaction"})


@dataclass
class _Compaction:
    """A compaction of the path, as far as it decides what stays in the view."""

    entry: str
    place: int
    kept_from: int
    """Place of the first entry that it keeps; its own where it keeps none."""
    dropped: frozenset[str]
    """Entries of which the commit that made it says that they were dropped, not summarised."""
    summarized: frozenset[str]
    """Entries behind the first kept one that the summary stands for; edits leave them out."""
    copied: frozenset[str]
    """Entries that stand behind it again, as copies."""
    shortened: frozenset[str]
    """Entries of which a shortened copy stands behind it."""


@dataclass
class _Fate:
    """What became of the entries of a path."""

    places: dict[str, int]
    compactions: list[_Compaction]
    edits: Mapping[str, Entry]
    omitted: frozenset[str] = field(default=frozenset())
    """Targets of edits that leave the whole entry out."""

    def of(self, entry: Entry) -> tuple[Sight, str | None]:
        """Whether what the entry holds is still sent, and with which entry it left."""
        place = self.places[entry.id]
        left = self._left(entry, place)
        edit = self.edits.get(entry.id)
        if edit is not None and (left is None or self.places[edit.id] < left.place):
            return self._edited(entry, edit)
        if left is None:
            return "visible", None
        if entry.id in left.shortened:
            return "pruned", left.entry
        return ("dropped" if entry.id in left.dropped else "summarized"), left.entry

    def _left(self, entry: Entry, place: int) -> _Compaction | None:
        """The compaction with which the entry left for good; one may bring back what an earlier one took out."""
        left = None
        for compaction in reversed(self.compactions):
            if compaction.place <= place or (compaction.kept_from <= place and entry.kind != "compaction"):
                break
            left = compaction
        return left

    def _edited(self, entry: Entry, edit: Entry) -> tuple[Sight, str]:
        if entry.id not in self.omitted:
            return "pruned", edit.id
        newest = self.compactions[-1] if self.compactions else None
        if newest is not None and entry.id in newest.summarized:
            return "summarized", newest.entry
        return "dropped", edit.id


def history(session: Session, resume: Resume) -> Iterator[Seen]:
    """The path to the leaf, oldest first: what each entry would send by itself, and whether the model still sees it.

    At most one record is held at a time. An entry of which a commit has left an unaltered copy is told once, as its
    copy. `left_at` names the compaction or the edit.
    """
    known = client(resume.client_version.value)
    telling = _Telling(session, known, _target(resume))
    with holding(session.files, session.path):
        fate = _fate(session, known)
        copied = {entry for compaction in fate.compactions for entry in compaction.copied}
        for entry in detail(session).path:
            if entry.kind not in TELLING or entry.role == "system" or entry.id in copied:
                continue
            sight, left_at = fate.of(entry)
            for item, sent in telling.items(entry):
                yield Seen(item, sight, left_at) if sent else Seen(item, "never")


def _target(resume: Resume) -> Target:
    wire = resume.wire.value if resume.wire is not None else ASSUMED_WIRE
    return Target(
        provider=resume.provider.value if resume.provider is not None else None,
        model=resume.model.value if resume.model is not None else None,
        wire=wire if wire in WIRES else ASSUMED_WIRE,
        image_input=resume.image_input,
    )


def _fate(session: Session, known: Client) -> _Fate:
    path = detail(session).path
    places = {entry.id: place for place, entry in enumerate(path)}
    compactions = [_compaction(session, entry, places) for entry in path if entry.kind == "compaction"]
    if not known.edits:
        return _Fate(places, compactions, {})
    counting = selected(session)
    in_view = {entry.id for entry in counting}
    # Of an entry that has left, the edits that counted until then; of one in the view, those that count now.
    before = {target: edit for target, edit in last_edits(session, path).items() if target not in in_view}
    edits = before | {target: edit for target, edit in last_edits(session, counting).items() if target in in_view}
    omitted = frozenset(
        target for target, edit in edits.items() if record(session, edit).get("replacement", "") is None
    )
    return _Fate(places, compactions, edits, omitted)


def _compaction(session: Session, entry: Entry, places: Mapping[str, int]) -> _Compaction:
    fields = record(session, entry)
    place = places[entry.id]
    first = identity(fields.get("firstKeptEntryId"), 0)
    kept_from = places.get(first, place) if first is not None else place
    details = fields.get("details")
    ours = details.get("seamline") if isinstance(details, dict) else None
    known: dict[str, Any] = ours if isinstance(ours, dict) else {}
    return _Compaction(
        entry.id,
        place,
        min(kept_from, place),
        dropped=frozenset(_texts(known.get("dropped"))),
        summarized=frozenset(_texts(known.get("summarized"))),
        copied=_copied(known.get("copied"), places),
        shortened=_copied(known.get("shortened"), places),
    )


def _texts(value: Any) -> Iterator[str]:
    for text in value if isinstance(value, list) else ():
        if isinstance(text, str):
            yield text


def _copied(value: Any, places: Mapping[str, int]) -> frozenset[str]:
    """The entries whose copy is there: an append may have been cut short."""
    pairs = value.items() if isinstance(value, dict) else ()
    return frozenset(old for old, new in pairs if isinstance(new, str) and new in places)


@dataclass
class _Telling:
    """Turns one entry after another into items."""

    session: Session
    client: Client
    target: Target
    renamed: dict[str, str] = field(default_factory=dict[str, str])
    """Call ids as stored → as sent, so that results name the call as the view does."""

    def items(self, entry: Entry) -> Iterator[tuple[Item, bool]]:
        """The entry's items; with False those that this client and model would never be sent."""
        try:
            messages = messages_of(self.session, self.client, entry)
            if not messages and entry.role == "bashExecution":
                text = shell_text(record(self.session, entry)["message"])
                yield Item("user", "text", text, source=(Source(entry.id, 0),), mark="shell"), False
            for message in messages:
                yield from self._of_message(message)
        except ClientRefuses:
            return

    def _of_message(self, message: Message) -> Iterator[tuple[Item, bool]]:
        wire = WIRES[self.target.wire]
        sent = repaired([message], self.client, self.target, wire.rename(self.client))
        told: set[int] = set()
        for item in wire.items(sent, self.client, self.target):
            if item.origin != "stored":
                continue
            told.update(source.part for source in item.source)
            yield self._named(message, item), True
        for part in message.parts if message.role == "assistant" else ():
            if part.number not in told:
                yield from ((item, False) for item in _unsent(message, part.number, part.value))

    def _named(self, message: Message, item: Item) -> Item:
        """The item with the call id that the view gives it: a result is renamed like its call."""
        if item.kind == "tool_call":
            part = next(part for part in message.parts if part.number == item.source[0].part)
            self.renamed[call_id(part)] = item.call_id
        elif item.kind == "tool_result":
            return replace(item, call_id=self.renamed.get(result_id(message), item.call_id))
        return item


def _unsent(message: Message, number: int, part: Mapping[str, Any]) -> Iterator[Item]:
    """A part of a reply that is left out: a failed reply, or another model's thinking."""
    source = (Source(message.entry, number),)
    kind = part.get("type")
    if kind == "text" and isinstance(part.get("text"), str):
        yield Item("assistant", "text", part["text"], source=source)
    elif kind == "thinking" and isinstance(part.get("thinking"), str):
        signed = bool(part.get("thinkingSignature"))
        yield Item("assistant", "thinking", part["thinking"], signed=signed, source=source)
    elif kind == "toolCall" and isinstance(part.get("id"), str):
        name, arguments = part.get("name"), part.get("arguments")
        name = name if isinstance(name, str) else ""
        yield Item("assistant", "tool_call", call_id=part["id"], name=name, arguments=arguments, source=source)
