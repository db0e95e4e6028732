"""A grok session's whole past: also what compactions took out of the history, as updates.jsonl still tells it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from core.agents.grok_build import shapes
from core.agents.grok_build.messages import Message
from core.agents.grok_build.rebuilding import OWN_METHOD, is_checkpoint, reduced
from core.agents.grok_build.records import UPDATES, detail
from core.agents.grok_build.repair import copied, dropped, paired
from core.agents.grok_build.showing import items_of
from core.agents.grok_build.view import loaded, requested
from core.files import holding
from core.jsonl import lines
from core.resume import Resume
from core.session import Session
from core.view import Seen


def history(session: Session, resume: Resume) -> Iterator[Seen]:
    """All that was once said, oldest first; what a compaction took out is told as updates.jsonl displayed it.

    `left_at` names the entry of the summary. A result that is trimmed for this request only counts as pruned,
    and is given whole.
    """
    stored = loaded(session)
    wire = resume.wire.value if resume.wire is not None else ""
    summary = next((message for message in reversed(stored) if message.is_summary), None)
    if summary is not None and not detail(session).is_rebuilt:
        for item in items_of(_taken_out(session), wire):
            yield Seen(item, "summarized", summary.source.entry)
    sent, _ = requested(session, resume, stored)
    trimmed = {message.source for message in sent if message.trimmed}
    lost = dropped(stored)
    for message in copied([one for one in stored if one.source in lost]):
        for item in items_of([message], wire):
            yield Seen(item, "never")
    whole = paired(stored)
    if whole and whole[0].kind == "system":
        whole = whole[1:]
    for item in items_of(whole, wire):
        sight = "pruned" if item.kind == "tool_result" and item.source[0] in trimmed else "visible"
        yield Seen(item, sight)


def _taken_out(session: Session) -> list[Message]:
    """What was said before the newest compaction, in the words of updates.jsonl."""
    path = session.path.parent / UPDATES
    if not session.files.exists(path):
        return []
    told, last = [], 0
    for entry, stored in updates(session, path):
        told.append((entry, stored))
        if stored.get("method") == OWN_METHOD and is_checkpoint(stored["params"]["update"]):
            told.pop()
            last = len(told)
    return reduced(told[:last])


def updates(session: Session, path: Path) -> Iterator[tuple[str, Any]]:
    """The updates beside a history, each with a name for its place. Broken lines are left out. Raises OSError."""
    with holding(session.files, path):
        for line in lines(session.files, path):
            try:
                stored = shapes.value_of(line.data)
            except shapes.FAILURES:
                continue
            params = stored.get("params") if isinstance(stored, dict) else None
            update = params.get("update") if isinstance(params, dict) else None
            if isinstance(update, dict) and isinstance(update.get("sessionUpdate"), str):
                yield f"{UPDATES}:{line.number}", stored
