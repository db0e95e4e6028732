"""The view: the request that Codex would send on resume, item by item."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from core.agents.codex.pairing import Sent, dropped, paired
from core.agents.codex.rebuilding import Stored, path_of, rebuilt
from core.agents.codex.records import detail
from core.agents.codex.resuming import policy_of
from core.agents.codex.showing import Showing, sorted_json
from core.agents.codex.usage import compacts_at_once
from core.errors import ClientRefuses
from core.files import holding
from core.resume import Resume
from core.session import Session
from core.view import Item, Source, View

MODELLED = "0.171"

BASE_INSTRUCTIONS = ["model.base_instructions"]
"""The label of the system prompt, where it is stored as a message."""


def view(session: Session, resume: Resume) -> View:
    """What Codex would send. Raises ClientRefuses with the client's reason, OSError."""
    refusal = detail(session).refusal
    if refusal:
        raise ClientRefuses(f"{session.path}: {refusal}: Codex does not load it")
    with holding(session.files, session.path):
        sent, left_out = requested(session, resume)
        warnings = (*_about_client(resume), *_about_context(session), *compacts_at_once(session, resume))
    showing = Showing(resume.image_input)
    items = tuple(item for one in sent for item in showing.items(one))
    warnings = (*warnings, *_about_pairs(sent, left_out), *_about_pictures(showing))
    return View("codex", resume, items, warnings=warnings)


def requested(session: Session, resume: Resume) -> tuple[list[Sent], list[Stored]]:
    """The items of the request, without system prompt and tools; and the outputs that are left out."""
    history, _ = divided(rebuilt(session, policy_of(resume)))
    return paired(history), dropped(history)


def divided(history: Sequence[Stored]) -> tuple[list[Stored], list[Stored]]:
    """The history proper, and what in it is system prompt or tool definitions (models that get tools as items)."""
    labelled = {_said(item) for item in history if _is_labelled(item)}
    proper: list[Stored] = []
    system: list[Stored] = []
    behind_tools = False
    for item in history:
        is_prompt = item.role == "developer" and (behind_tools or _said(item) in labelled)
        behind_tools = item.type == "additional_tools"
        (system if is_prompt or behind_tools else proper).append(item)
    return proper, system


def _is_labelled(item: Stored) -> bool:
    label = item.payload.get("internal_chat_message_metadata_passthrough")
    kinds: Any = label.get("content_item_kinds") if isinstance(label, Mapping) else None
    return item.role == "developer" and kinds == BASE_INSTRUCTIONS


def _said(item: Stored) -> tuple[Any, ...]:
    return tuple(part.get("text") for part in item.content if isinstance(part, dict))


def _about_client(resume: Resume) -> Iterator[str]:
    version = resume.client_version.value
    if not version.startswith(f"{MODELLED}."):
        yield f"Codex {version} is not modelled exactly: shown as 0.171.0 would send it"


def _about_context(session: Session) -> Iterator[str]:
    """Whether Codex gives its initial context again: it does where it cannot tell what the model was told."""
    known, path = detail(session), path_of(session)
    last = next((entry.index for entry in reversed(path) if entry.kind == "compacted"), -1)
    base = known.base
    kinds = {entry.kind for entry in path[max(last, -1 if base is None else base) + 1 :]}
    if not {"turn_context", "world_state"} <= kinds:
        yield "Codex gives its whole initial context again before the next prompt: what it was is not recorded"


def _about_pairs(sent: Sequence[Sent], left_out: Sequence[Stored]) -> Iterator[str]:
    for one in sent:
        if one.origin == "repair":
            call_id = one.stored.payload.get("call_id")
            yield f"{one.stored.entry}: no output of call {call_id!r}: Codex makes one up"
    for output in left_out:
        call_id = output.payload.get("call_id")
        yield f"{output.entry}: this output of {call_id!r} answers no call: Codex leaves it out"


def _about_pictures(showing: Showing) -> Iterator[str]:
    for source in showing.shrunk:
        yield f"{source.entry}: Codex sends this picture smaller or in another format: its bytes are shown as stored"


def system_items(session: Session, resume: Resume) -> tuple[Item, ...]:
    """The stored system prompt and tool definitions, role `system`; for metering only."""
    base = detail(session).start.get("base_instructions")
    text = base.get("text") if isinstance(base, dict) else None
    own = session.entries[detail(session).own].id if session.entries[detail(session).own :] else ""
    items: list[Item] = []
    if isinstance(text, str) and text:
        items.append(Item("system", "text", text, source=(Source(own, 0),) if own else ()))
    with holding(session.files, session.path):
        _, stored = divided(rebuilt(session, policy_of(resume)))
    items += [tool for item in stored if item.type == "additional_tools" for tool in _tools(item)]
    return tuple(items)


def _tools(item: Stored) -> Iterator[Item]:
    tools: Any = item.payload.get("tools")
    for tool in tools if isinstance(tools, list) else ():
        name = tool.get("name") if isinstance(tool, dict) else None
        text = sorted_json(tool)
        source = (Source(item.entry, item.first_part),)
        yield Item("system", "text", text, name=name if isinstance(name, str) else "", source=source)
