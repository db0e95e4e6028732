"""The view: the request that pi would send on resume, item by item."""

from __future__ import annotations

from core.agents.pi.client import Client, client
from core.agents.pi.context import context
from core.agents.pi.messages import Target
from core.agents.pi.records import detail
from core.agents.pi.repair import repaired
from core.agents.pi.sizing import refuse_what_cannot_be_sized
from core.agents.pi.wires import WIRES
from core.errors import ClientRefuses
from core.files import holding
from core.resume import Resume
from core.session import Session
from core.view import Item, View, pair_up

ASSUMED_WIRE = "openai-completions"
"""For a wire that is not modelled here, and for a session that names no model."""


def view(session: Session, resume: Resume) -> View:
    """What this client would send. Raises ClientRefuses with the client's reason, OSError."""
    known = client(resume.client_version.value)
    warnings = _loadable(session, known)
    if detail(session).header_fault:
        return View("pi", resume, (), warnings=tuple(warnings))
    wire = resume.wire.value if resume.wire is not None else ASSUMED_WIRE
    if resume.wire is not None and resume.wire.source.startswith("assumed"):
        warnings.append(f"the wire {wire} is {resume.wire.source}")
    if wire not in WIRES:
        warnings.append(f"the wire {wire!r} is not modelled: shown as it would be over {ASSUMED_WIRE}")
        wire = ASSUMED_WIRE
    target = Target(
        provider=resume.provider.value if resume.provider is not None else None,
        model=resume.model.value if resume.model is not None else None,
        wire=wire,
        image_input=resume.image_input,
    )
    try:
        with holding(session.files, session.path):
            found = context(session, known)
        if known.modern:
            refuse_what_cannot_be_sized(found.messages)
        messages = repaired(found.messages, known, target, WIRES[wire].rename(known))
        items = tuple(WIRES[wire].items(messages, known, target))
    except ClientRefuses as error:
        raise ClientRefuses(f"{session.path}: {error}") from error
    return View("pi", resume, items, warnings=(*warnings, *found.warnings, *_pairing(items)))


def _loadable(session: Session, known: Client) -> list[str]:
    """Warnings about how this client loads the file. Raises ClientRefuses where it would not."""
    stored = detail(session)
    warnings: list[str] = []
    if not known.modelled:
        nearer = "1.6.0" if known.modern else "0.73.1"
        version = ".".join(map(str, known.version))
        warnings.append(f"pi {version} is not modelled exactly: shown as {nearer} would send it")
    if stored.header_fault:
        if known.refuses:
            raise ClientRefuses(f"{session.path}: {stored.header_fault}: pi refuses it as no valid session")
        warnings.append(f"{stored.header_fault}: this version of pi would write a new session over the file")
    elif stored.byte_order_mark and known.refuses:
        raise ClientRefuses(
            f"{session.path}: a byte order mark stands before the header: pi refuses the file: remove the first 3 bytes"
        )
    if stored.nulls and not known.modern and not stored.header_fault:
        raise ClientRefuses(f"{session.path}: a line that is only null: this version of pi fails at it")
    if stored.refusal:
        raise ClientRefuses(f"{session.path}: {stored.refusal}: pi fails at it")
    if session.leaf is None:
        warnings.extend(_no_leaf(session, known))
    if stored.path and stored.path[0].parent is not None:
        first = stored.path[0]
        warnings.append(f"line {first.line} ({first.id}): its parent is not in the file: all older history is lost")
    return warnings


def _no_leaf(session: Session, known: Client) -> list[str]:
    last = next((entry for entry in reversed(session.entries) if entry.kind != "session"), None)
    if last is None:
        return []
    when = "pi forgets all history" if known.modern else "a later pi would forget all history"
    return [f"line {last.line}: the last record has no id: {when}"]


def _pairing(items: tuple[Item, ...]) -> list[str]:
    """Words about calls and results that do not pair in what is stored."""
    warnings: list[str] = []
    for item in items:
        if item.kind == "tool_result" and item.origin == "repair":
            warnings.append(f"{item.source[0].entry}: no result of call {item.call_id!r}: pi makes one up")
    for position in pair_up(items).orphans:
        item = items[position]
        if item.origin == "stored":
            warnings.append(f"{item.source[0].entry}: this result of {item.call_id!r} answers no call in the view")
    return warnings
