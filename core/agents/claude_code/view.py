"""The view: the request that Claude Code would send on resume, item by item."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import tee

from core.agents.claude_code.building import TOOL_LOADED, Building, build
from core.agents.claude_code.items import items_of
from core.agents.claude_code.messages import Block, Message
from core.agents.claude_code.records import Detail, Line, detail
from core.agents.claude_code.repair import INTERRUPTED_CALL, NO_RESPONSE, paired
from core.agents.claude_code.sent import sent_lines
from core.errors import ClientRefuses
from core.files import holding
from core.resume import Resume
from core.session import Session
from core.view import Item, View

MODELLED = "2.1"
"""The client version whose rules these are, without its last number."""


def view(session: Session, resume: Resume) -> View:
    """What the client would send. Raises ClientRefuses with the client's reason, OSError.

    What the client makes up for calls and messages is `fresh`, but for the result of a call to which the file holds
    one in another place.
    """
    known = detail(session)
    if not known.path or (known.path[-1].sidechain and not known.subagent):
        words = "No conversation found: the file has no line of a conversation that could be resumed"
        raise ClientRefuses(f"{session.path}: {words}")
    with holding(session.files, session.path):
        built = _built(session, known.path, resume.model.value if resume.model is not None else None)
    pairing = paired(built.messages)
    stored_results = {call for line in known.stored for call in line.results}
    items: list[Item] = []
    fresh: list[Item] = []
    for item in items_of(pairing.out):
        made_up = item.origin == "repair" and item.text != TOOL_LOADED and item.call_id not in stored_results
        (fresh if made_up else items).append(item)
    if any(item.text == INTERRUPTED_CALL for item in (*items, *fresh)) and not _ends_with_user(known.path):
        fresh.append(Item("assistant", "text", NO_RESPONSE, origin="repair"))
    warnings = (*_warnings(known, resume), *built.warnings, *pairing.warnings)
    return View("claude-code", resume, tuple(items), tuple(fresh), warnings)


def _built(session: Session, path: Sequence[Line], model: str | None) -> Building:
    """The messages, with the reply that the client makes up where the session ends with a message of the user."""
    lines = sent_lines(session, path)
    if not _ends_with_user(path):
        return build(lines, model, open_end=True)
    commands = {line.id for line in _trailing_commands(path)}
    first, rest = tee(lines) if commands else (lines, iter(()))
    built = build((sent for sent in first if sent.line.id not in commands), model)
    built.messages.append(Message("assistant", [Block("text", {}, (), "", "repair", NO_RESPONSE)]))
    after = build((sent for sent in rest if sent.line.id in commands), model, open_end=True)
    built.messages.extend(after.messages)
    return built


def _trailing_commands(path: Sequence[Line]) -> Iterator[Line]:
    """The lines of commands at the end: the client does not take them for the user's message there."""
    for line in reversed(path):
        if line.entry.kind != "system":
            return
        yield line


def _ends_with_user(path: Sequence[Line]) -> bool:
    """Whether the last message of the path, context lines aside, is the user's."""
    last = next((line for line in reversed(path) if line.entry.kind in ("user", "assistant")), None)
    return last is not None and last.entry.kind == "user"


def _warnings(known: Detail, resume: Resume) -> Iterator[str]:
    version = resume.client_version.value
    if not version.startswith(f"{MODELLED}."):
        yield f"Claude Code {version} is not modelled exactly: shown as 2.1.332 would send it"
    if known.subagent:
        yield "the conversation of a sub-agent: the client can't resume it by itself"
    yield from known.warnings
