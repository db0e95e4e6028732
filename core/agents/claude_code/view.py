"""The view: the request that Claude Code would send on resume, item by item."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from core.agents.claude_code.building import TOOL_LOADED, build
from core.agents.claude_code.items import items_of
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
        raise ClientRefuses(
            f"{session.path}: No conversation found: the file has no line of a conversation that could be resumed"
        )
    with holding(session.files, session.path):
        items, fresh, pairing_words = _items(session, known.path, _model(resume))
    interrupted = any(item.text == INTERRUPTED_CALL for item in (*items, *fresh))
    if interrupted or _ends_with_user(known.path):
        fresh.append(Item("assistant", "text", NO_RESPONSE, origin="repair"))
    return View("claude-code", resume, tuple(items), tuple(fresh), (*_warnings(known, resume), *pairing_words))


def _model(resume: Resume) -> str | None:
    return resume.model.value if resume.model is not None else None


def _items(session: Session, path: Sequence[Line], model: str | None) -> tuple[list[Item], list[Item], list[str]]:
    """The items of the session, those that the client makes up, and words about what it leaves out."""
    stored_results = {call for line in detail(session).stored for call in line.results}
    open_end = not _ends_with_user(path)
    built = build(sent_lines(session, path), model, open_end)
    pairing = paired(built.messages)
    items: list[Item] = []
    fresh: list[Item] = []
    for item in items_of(pairing.out):
        made_up = item.origin == "repair" and item.text != TOOL_LOADED and item.call_id not in stored_results
        (fresh if made_up else items).append(item)
    return items, fresh, [*built.warnings, *pairing.warnings]


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
