"""Half characters in stored texts: a reader that writes UTF-8 fails at them, and a provider may refuse the request."""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.broken import half_characters
from core.files import stream
from core.session import Damage, Entry, Session
from core.view import View

_ESCAPE = re.compile(rb"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")
LONGEST_ESCAPE = 6
"""Bytes."""

_HALF = re.compile("[\ud800-\udfff]")


def half_character_findings(session: Session, view: View | None) -> Iterator[Damage]:
    """The entries of the session's own file with half a surrogate pair in a text or a name, in file order."""
    sent = _sent(view)
    for entry in _with_escapes(session):
        halves = half_characters(session.raw(entry))
        if not halves:
            continue
        more = f" and {len(halves) - 1} more" if len(halves) > 1 else ""
        words = f"entry {entry.id}: half of a surrogate pair in a text: {halves[0]}{more}"
        client = "does not send this record"
        if entry.id in sent:
            client = "sends it as it is: the provider may refuse the request"
            client = client if sent[entry.id] else "takes it out, or puts a mark in its place"
        yield Damage(entry.line, entry.offset, entry.length, "lone-surrogate", words, client)


def _sent(view: View | None) -> dict[str, bool]:
    """Entry → whether something that it gives to the view still holds half a character."""
    found: dict[str, bool] = {}
    for item in view.items if view is not None else ():
        half = _HALF.search(item.text) is not None or _HALF.search(_texts_of(item.arguments)) is not None
        for source in item.source:
            found[source.entry] = found.get(source.entry, False) or half
    return found


def _texts_of(value: object) -> str:
    """The texts in a decoded value, one after the other."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return "".join(map(_texts_of, [*value.keys(), *value.values()]))
    return "".join(map(_texts_of, value)) if isinstance(value, list) else ""


def _with_escapes(session: Session) -> Iterator[Entry]:
    """The entries of the own file in which an escaped surrogate stands, whole pairs among them."""
    entries = [entry for entry in session.entries if entry.path is None]
    at, place, before = 0, 0, b""
    found = -1
    for block in stream(session.files, session.path):
        held = before + block
        base = place - len(before)
        for escape in _ESCAPE.finditer(held):
            offset = base + escape.start()
            while at < len(entries) and entries[at].offset + entries[at].length <= offset:
                at += 1
            if at == len(entries):
                return
            if entries[at].offset <= offset and at != found:
                found = at
                yield entries[at]
        place += len(block)
        before = held[-(LONGEST_ESCAPE - 1) :]
