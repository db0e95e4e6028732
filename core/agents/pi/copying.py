"""The route for clients without `context_edit` (before 0.87): a new beginning, followed by copies of what is kept.

With a summary the beginning is a compaction that keeps nothing (its first kept entry is its own id); without one, a
new root. Copies have new ids and no usage: their old figures tell the size of another context, and pi would compact
because of them. They keep provider, api and model, without which pi drops their thinking, and their own times.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from core.agents.deciding import Decisions
from core.agents.pi.chain import Chain, stored_id
from core.agents.pi.context import selected
from core.agents.pi.editing import is_cut_point, result_content
from core.agents.pi.records import detail, record
from core.session import Entry, Session

NO_USAGE = {
    "input": 0,
    "output": 0,
    "cacheRead": 0,
    "cacheWrite": 0,
    "totalTokens": 0,
    "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0},
}


@dataclass(frozen=True, slots=True)
class Copies:
    """What the compaction notes about the copies behind it: stored entry → its copy."""

    copied: dict[str, str] = field(default_factory=dict[str, str])
    shortened: dict[str, str] = field(default_factory=dict[str, str])


def copy(chain: Chain, decisions: Decisions, compaction: dict[str, Any] | None, prompt: dict[str, Any] | None) -> None:
    """Add the records that make the view as decided; `compaction` holds the fields that the cut does not change.

    Without `compaction` nothing is summarised; an earlier summary that stays is then carried on. `prompt` is the
    session's system message, for newer clients that open the file later.
    """
    session = chain.session
    first = _plain_cut(session, decisions) if compaction is not None else None
    if compaction is not None and first is not None:
        chain.add("compaction", firstKeptEntryId=stored_id(session, first.id), **compaction)
        return
    earlier = next((unit for unit in decisions.kept if unit.kind == "summary"), None)
    if compaction is None and earlier is not None:
        compaction = _carried_on(session, earlier.id, decisions, prompt)
    copies = Copies()
    if compaction is not None:
        own = chain.new_id()
        if earlier is not None:
            copies.copied[earlier.id] = own
        details = compaction["details"]
        # The two maps are filled while the copies are made, before anything is written out.
        noted = {"copied": copies.copied, "shortened": copies.shortened}
        details = details | {"seamline": details["seamline"] | noted}
        chain.add("compaction", own, **{**compaction, "firstKeptEntryId": own, "details": details})
    else:
        chain.parent = None
        if prompt is not None:
            chain.add("message", message=prompt)
    last_reply = _copy_kept(chain, decisions, copies)
    _restore_state(chain, last_reply, new_root=compaction is None)


def _plain_cut(session: Session, decisions: Decisions) -> Entry | None:
    """The first kept entry, where a compaction alone does it: all that is kept stands unaltered behind all that goes.

    An earlier compaction must not stand in between either: some clients (0.85) would send its summary again.
    """
    if not decisions.kept or decisions.shortened:
        return None
    places = {entry.id: place for place, entry in enumerate(detail(session).path)}
    first = min((entry for unit in decisions.kept for entry in unit.entries), key=places.__getitem__)
    gone = [places[entry] for unit in decisions.units if unit.id in decisions.gone for entry in unit.entries]
    entry = session.entry(first)
    if entry is None or not is_cut_point(entry) or max(gone, default=-1) > places[first]:
        return None
    return entry


def _carried_on(session: Session, entry_id: str, decisions: Decisions, prompt: dict[str, Any] | None) -> dict[str, Any]:
    """The fields of an earlier compaction whose summary stays."""
    entry = session.entry(entry_id)
    assert entry is not None
    fields = record(session, entry)
    kept = {name: fields[name] for name in ("summary", "tokensBefore", "fromHook") if name in fields}
    details = fields.get("details")
    details = details if isinstance(details, dict) else {}
    before = details.get("seamline")
    ours = before if isinstance(before, dict) else {}
    dropped = list(decisions.entries_gone("drop"))
    kept["details"] = details | {"seamline": ours | {"dropped": dropped, "summarized": []}}
    return kept | ({"systemMessage": prompt} if prompt is not None else {})


def _copy_kept(chain: Chain, decisions: Decisions, copies: Copies) -> tuple[Any, Any] | None:
    """Copies of the kept entries in file order; gives provider and model of the last reply among them."""
    session = chain.session
    kept = {entry for unit in decisions.kept for entry in unit.entries}
    last_reply = None
    for entry in selected(session):
        if entry.id not in kept or entry.kind == "compaction":
            continue
        value = record(session, entry)
        message = value.get("message")
        shortened = decisions.shortened.get(entry.id)
        if entry.kind == "message" and isinstance(message, dict):
            if shortened is not None:
                message["content"] = result_content(message.get("content"), shortened)
            if message.get("role") == "assistant":
                message["usage"] = NO_USAGE
                last_reply = (message.get("provider"), message.get("model"))
        made = copies.copied if shortened is None else copies.shortened
        made[entry.id] = chain.copy(value)
    return last_reply


def _restore_state(chain: Chain, last_reply: tuple[Any, Any] | None, new_root: bool) -> None:
    """Leave model and thinking level as they were: both follow from the last records of the path that name them."""
    model = _last_model(chain.session)
    level = _last_level(chain.session)
    if new_root and level is not None:
        chain.add("thinking_level_change", thinkingLevel=level)
    now = last_reply if new_root else last_reply or model
    if model is not None and model != now:
        chain.add("model_change", provider=model[0], modelId=model[1])


def _last_model(session: Session) -> tuple[Any, Any] | None:
    for entry in reversed(detail(session).path):
        if entry.kind == "model_change":
            value = record(session, entry)
            return value.get("provider"), value.get("modelId")
        if entry.role == "assistant":
            value = record(session, entry)["message"]
            return value.get("provider"), value.get("model")
    return None


def _last_level(session: Session) -> Any:
    for entry in reversed(detail(session).path):
        if entry.kind == "thinking_level_change":
            return record(session, entry).get("thinkingLevel")
    return None
