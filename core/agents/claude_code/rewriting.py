"""Results written anew, shorter, under the uuids of their lines: of two with one uuid the client takes the later."""

from __future__ import annotations

from typing import Any

from core.agents.claude_code.items import PICTURES
from core.agents.claude_code.records import detail, record
from core.agents.deciding import Decisions, Shortened
from core.jsonl import is_one_of
from core.session import Session
from core.view import Source, View


def shortened(session: Session, view: View, decisions: Decisions) -> list[dict[str, Any]]:
    """The lines of the results that change, and those of reminders that were folded into them, under their uuids.

    The text of a result as the model sees it ends with those reminders, and it is this text that was shortened.
    """
    changes: dict[str, dict[int, Shortened]] = {}
    silent: dict[str, None] = {}
    for item in view.items:
        change = decisions.results.get(item.source[0]) if item.kind == "tool_result" and item.source else None
        if change is not None:
            place: Source = item.source[0]
            changes.setdefault(place.entry, {})[place.part] = change
            silent.update(dict.fromkeys(source.entry for source in item.source[1:]))
    lines = detail(session).lines
    again = [_shortened(record(session, lines[own].entry), parts) for own, parts in changes.items()]
    return again + [record(session, lines[own].entry) | {"rendered": []} for own in silent]


def _shortened(stored: dict[str, Any], changes: dict[int, Shortened]) -> dict[str, Any]:
    """A line of results with other texts; what the client keeps of them for its screen goes too."""
    content = [
        _result(block, changes[number]) if number in changes else block
        for number, block in enumerate(stored["message"]["content"])
    ]
    again = stored | {"message": stored["message"] | {"content": content}}
    if "toolUseResult" in stored:
        again["toolUseResult"] = "\n".join(change.text for change in changes.values())
    return again


def _result(block: dict[str, Any], change: Shortened) -> dict[str, Any]:
    """The block with the new text; pictures stay where the text is only limited, all other parts always."""
    content = block.get("content")
    if not isinstance(content, list):
        return block | {"content": change.text}
    gone = {"text"} if change.what == "limit" else {"text", *PICTURES}
    rest = [part for part in content if not (isinstance(part, dict) and is_one_of(part.get("type"), gone))]
    return block | {"content": [{"type": "text", "text": change.text}, *rest]}
