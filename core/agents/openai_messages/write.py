"""A proposal as a whole new file in the place of the old one, or beside it.

What is not touched keeps its bytes: the new file is a rope of ranges of the old one and of what is new. A summary takes
the place of the first message that it stands for; of a shortened result only the content changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.agents.deciding import Deciding, Decisions
from core.agents.openai_messages.reading import PLACES
from core.agents.openai_messages.records import detail, stored
from core.agents.openai_messages.results import content_of, content_place
from core.agents.openai_messages.scanning import COLON, Scanner
from core.agents.openai_messages.style import LOOKED_AT, Style, style_of
from core.agents.openai_messages.summaries import wrapped
from core.agents.openai_messages.units import options, units
from core.agents.protocol import Stamp
from core.errors import CommitRefused
from core.files import holding
from core.jsonl import decode
from core.patch import Create, Kept, Patch, Piece, Replace
from core.proposal import Proposal, Summary
from core.session import Entry, Session
from core.view import View


@dataclass(frozen=True, slots=True)
class Edit:
    """The bytes from `start` to `stop` are replaced by `data`."""

    start: int
    stop: int
    data: bytes = b""


@dataclass(frozen=True, slots=True)
class _Element:
    """One message of a list or one line, or damage in its place."""

    start: int
    end: int
    entry: str = ""


def encode(session: Session, view: View, proposal: Proposal, stamp: Stamp) -> Patch:
    """The proposal as a replacement of the file. Raises CommitRefused where this file can't carry it."""
    known = detail(session)
    _require_sound(session)
    if known.layout == "log" and known.shown is not known.lines[-1]:
        raise CommitRefused(f"{session.path}: only the last request of a log is sent on: use --as fork for this one")
    if _behind_leaf(session):
        raise CommitRefused(f"{session.path}: the view ends before the file does: use --as fork")
    with holding(session.files, session.path):
        edits = _edits(session, view, proposal)
        if not edits:
            raise CommitRefused(f"{session.path}: nothing in the view would change")
        size = session.files.size(session.path)
        pieces = tuple(_pieces(edits, 0, size, None))
    chosen = None if known.shown is None or known.layout == "log" else f"line-{known.shown.number}"
    return Patch((Replace(session.path, size, pieces),), session.path, "replace", leaf=chosen)


def fork(session: Session, view: View, proposal: Proposal, stamp: Stamp) -> Patch:
    """The conversation up to the leaf in a new file beside the old one, with the proposal carried out.

    Of a file with several conversations or requests it holds the one that is shown. Raises CommitRefused.
    """
    known = detail(session)
    _require_sound(session)
    path = session.path.with_name(f"{session.path.stem}-{stamp.new_id()[:8]}{session.path.suffix}")
    if session.files.exists(path):
        raise CommitRefused(f"{path} exists already: fork again")
    with holding(session.files, session.path):
        edits = _edits(session, view, proposal, frozenset(_behind_leaf(session)))
        start, end = 0, session.files.size(session.path)
        if known.shown is not None:
            start, end = known.shown.start, known.shown.end
        pieces = list(_pieces(edits, start, end, session.path))
    if known.shown is not None:
        pieces.append(b"\n")
    return Patch((Create(path, pieces=tuple(pieces)),), path, "fork")


def _require_sound(session: Session) -> None:
    """Raise CommitRefused where no program could read the file back, or its calls can't be told from each other."""
    known = detail(session)
    broken = [damage for damage in session.damage if damage.kind in (*PLACES, "unclosed")]
    if known.layout == "document" and any(damage.kind != "not-a-message" for damage in broken):
        line = broken[0].line
        raise CommitRefused(f"{session.path}: line {line}: no valid JSON, so nothing would read the result: repair it")
    if known.mixed:
        raise CommitRefused(f"{session.path}: messages of more than one API: which calls belong together is uncertain")


def _behind_leaf(session: Session) -> list[str]:
    """Messages of the file that the view does not reach, because it was asked for up to an earlier one."""
    known = detail(session)
    reached = {entry.id for entry in known.path}
    return [entry for entry in known.facts if entry not in reached]


def _edits(session: Session, view: View, proposal: Proposal, behind: frozenset[str] = frozenset()) -> list[Edit]:
    """What changes, in the order of the file."""
    decisions = Deciding(view, units(view), options).decide(proposal)
    summarised = next(iter(decisions.entries_gone("summarize")), None)
    scanner = Scanner(session.files, session.path, 0, session.files.size(session.path))
    edits = [*_shortened(session, scanner, decisions)]
    gone = behind.union(*(decisions.entries_gone(how) for how in ("summarize", "drop")))
    for entry in gone:
        _require_element(session, scanner, entry)
    left = 0
    for elements in _lists(session, scanner):
        edits += _without(elements, gone, summarised)
        left += sum(one.entry not in gone for one in elements)
    if summarised is not None and decisions.summary is not None:
        edits.append(_summary(session, decisions.summary, summarised, gone))
    elif gone and not left:
        raise CommitRefused(f"{session.path}: no message would be left: keep one, or summarise instead")
    return sorted(edits, key=lambda edit: edit.start)


def _require_element(session: Session, scanner: Scanner, entry_id: str) -> None:
    """Raise CommitRefused for what is no element of a list, and so can't be taken out of it."""
    entry = _entry(session, entry_id)
    before = session.files.read(session.path, max(0, entry.offset - LOOKED_AT), min(LOOKED_AT, entry.offset))
    alone = detail(session).layout == "document" and not before.removeprefix(b"\xef\xbb\xbf").strip()
    if entry_id not in detail(session).facts or alone or before.rstrip()[-1:] == bytes([COLON]):
        raise CommitRefused(
            f"{session.path}: line {entry.line}: stands beside the list of messages, so it can't go: keep it"
        )


def _lists(session: Session, scanner: Scanner) -> Iterator[list[_Element]]:
    """The elements of each list, or all lines of a file of lines, in the order of the file."""
    known = detail(session)
    rows = [entry for entry in session.entries if entry.id in known.facts or _is_row(entry, known.layout)]
    places = [_Element(entry.offset, entry.offset + entry.length, entry.id) for entry in rows]
    places += [_Element(d.offset, d.offset + d.length) for d in session.damage if d.kind in PLACES]
    places.sort(key=lambda one: one.start)
    run: list[_Element] = []
    for one in places:
        if run and scanner.over_separator(run[-1].end) != one.start:
            yield run
            run = []
        run.append(one)
    if run:
        yield run


def _is_row(entry: Entry, layout: str) -> bool:
    """Whether it is a line of its own, though no message."""
    return layout == "lines" and entry.kind != "structure"


def _without(elements: Sequence[_Element], gone: frozenset[str], summarised: str | None) -> Iterator[Edit]:
    """Cut runs of elements out, each with one of the separators beside it; the summary's place is kept."""
    last_kept: _Element | None = None
    first_gone: _Element | None = None
    last_gone: _Element | None = None
    for one in elements:
        if one.entry in gone and one.entry != summarised:
            first_gone, last_gone = first_gone or one, one
            continue
        if first_gone is not None and last_gone is not None:
            if last_kept is None:
                yield Edit(first_gone.start, one.start)
            else:
                yield Edit(last_kept.end, last_gone.end)
        last_kept, first_gone, last_gone = one, None, None
    if first_gone is not None and last_gone is not None:
        yield Edit(last_kept.end if last_kept is not None else first_gone.start, last_gone.end)


def _summary(session: Session, summary: Summary, summarised: str, gone: frozenset[str]) -> Edit:
    """The summary as a message in the place of the first one that it stands for."""
    entry = _entry(session, summarised)
    order = [one.id for one in detail(session).path]
    kept = sum(one not in gone for one in order[order.index(entry.id) :])
    value: dict[str, Any] = {"role": "user", "content": wrapped(summary.text, kept)}
    if detail(session).wire == "openai-responses" and _names_its_messages(session):
        value = {"type": "message", **value}
    return Edit(entry.offset, entry.offset + entry.length, _style(session, entry).dump(value))


def _names_its_messages(session: Session) -> bool:
    """Whether messages among the items of Responses say that they are messages."""
    return any(facts.type == "message" and facts.role == "user" for facts in detail(session).facts.values())


def _style(session: Session, entry: Entry) -> Style:
    start = max(0, entry.offset - LOOKED_AT)
    before = session.files.read(session.path, start, entry.offset - start)
    return style_of(session.files.read(session.path, entry.offset, min(LOOKED_AT, entry.length)), before)


def _shortened(session: Session, scanner: Scanner, decisions: Decisions) -> Iterator[Edit]:
    known = detail(session)
    for source, new in decisions.results.items():
        entry = _entry(session, source.entry)
        value = stored(session, entry)
        begin, end = content_place(scanner, entry.offset, value, entry.role, source.part)
        old = decode(session.files.read(session.path, begin, end - begin))
        yield Edit(begin, end, content_of(old, new, str(value.get("type")), known.wire, _style(session, entry)))


def _entry(session: Session, entry_id: str) -> Entry:
    entry = session.entry(entry_id)
    if entry is None:
        raise CommitRefused(f"{session.path}: no entry {entry_id!r}: make the proposal again")
    return entry


def _pieces(edits: Sequence[Edit], start: int, end: int, path: Path | None) -> Iterator[Piece]:
    """The rope of what stays and what is new between two places of the file."""
    at = start
    for edit in edits:
        if not start <= edit.start <= edit.stop <= end:
            continue  # in another conversation of the file, which a fork leaves out
        if at < edit.start:
            yield Kept(at, edit.start, path)
        if edit.data:
            yield edit.data
        at = edit.stop
    if at < end:
        yield Kept(at, end, path)
