"""The history that a checkpoint shall hold, item by item: what stays as its stored bytes, what changes, the summary."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from core.agents.codex import decoding
from core.agents.codex.context import is_initial
from core.agents.codex.pairing import dropped
from core.agents.codex.pictures import seen
from core.agents.codex.rebuilding import BYTES_PER_TOKEN, PARTS_OF_AN_ITEM, Stored, rebuilt, tokens_of
from core.agents.codex.records import SUMMARY_PREFIX
from core.agents.codex.resuming import policy_of
from core.agents.codex.view import divided
from core.agents.deciding import Decisions, Shortened
from core.jsonl import decode, encode
from core.session import Session
from core.view import View

Key = tuple[str, int]
"""A stored item: its entry, and its number in the history of a checkpoint."""

IMAGE_BYTES = 7_373
"""What Codex counts for an inline picture; see `image_tokens` in agent.toml."""

HIDDEN_BYTES = 650
"""Bytes that Codex takes off an encrypted text, which it counts as base64."""


@dataclass(frozen=True)
class Contents:
    """A checkpoint's history as JSON, one text an item."""

    items: tuple[bytes, ...]
    units: tuple[str, ...]
    """The unit that each item was a part of; empty for one that is none, and for the summary."""
    tokens: int
    """By Codex's own estimate."""
    loses_context: bool
    """Whether a message goes with which Codex told the model its circumstances: it then tells them all again."""


def contents(session: Session, view: View, decided: Decisions, with_system: bool) -> Contents:
    """What the view becomes. `with_system`: whether stored tool definitions and system prompts stay among the items.

    Outputs that Codex leaves out of its requests are left out here too. Raises SeamlineError, OSError.
    """
    history = rebuilt(session, policy_of(view.resume))
    fates = _Fates(view, decided)
    left_out = {id(item) for item in dropped(history)} | {id(item) for item in _unsent(history, with_system)}
    raw = _Raw(session)
    items: list[bytes] = []
    owners: list[str] = []
    tokens, loses_context = 0, False
    for item in history:
        if id(item) in left_out:
            continue
        gone, first = fates.of(item)
        loses_context = loses_context or (gone and is_initial(item.role, item.content))
        if first and decided.summary is not None:
            text = summary_text(decided.summary.text)
            items.append(encode(message_of(text)))
            owners.append("")
            tokens += tokens_of(text)
        if gone:
            continue
        change = fates.changes.get(key_of(item))
        payload = item.payload if change is None else _changed(item.payload, change, view.resume.image_input)
        items.append(encode(payload) if change is not None else raw.of(item))
        owners.append(fates.unit_of.get(key_of(item), ""))
        tokens += estimate(payload)
    return Contents(tuple(items), tuple(owners), tokens, loses_context)


def key_of(item: Stored) -> Key:
    """By which an item of the view is known to be a part of this one."""
    return item.entry, item.first_part // PARTS_OF_AN_ITEM


def summary_text(text: str) -> str:
    """The summary as Codex writes and recognises it: its next compaction takes it for an older summary."""
    return f"{SUMMARY_PREFIX}\n{sound(text)}"


def message_of(text: str) -> dict[str, Any]:
    """A message of role user, as Codex stores its summary."""
    return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}


def sound(text: str) -> str:
    """Without half characters: Codex skips a line that holds one, and with it the whole checkpoint."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


class _Fates:
    """What becomes of each stored item, told by the unit that it shows in."""

    def __init__(self, view: View, decided: Decisions) -> None:
        self.gone = decided.gone
        self.unit_of: dict[Key, str] = {}
        for unit in decided.units:
            for position in unit.items:
                item = view.items[position]
                if item.source and item.origin == "stored":
                    source = item.source[0]
                    self.unit_of[source.entry, source.part // PARTS_OF_AN_ITEM] = unit.id
        self.changes: dict[Key, Shortened] = {
            (source.entry, source.part // PARTS_OF_AN_ITEM): change for source, change in decided.results.items()
        }
        self._last = ""
        self._summarised = False

    def of(self, item: Stored) -> tuple[bool, bool]:
        """Whether an item goes, and whether the summary takes its place. One that shows nothing goes with the last."""
        unit = self.unit_of.get(key_of(item), self._last)
        self._last = unit
        fate = self.gone.get(unit)
        first = fate == "summarize" and not self._summarised
        self._summarised = self._summarised or first
        return fate is not None, first


def _unsent(history: list[Stored], with_system: bool) -> list[Stored]:
    _, system = divided(history)
    return [] if with_system else system


class _Raw:
    """The stored bytes of items: what is signed or encrypted must come back as it was."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._checkpoint: tuple[str, list[bytes]] = ("", [])

    def of(self, item: Stored) -> bytes:
        """An item's JSON: as it is stored where Codex takes it so into the history, else written anew."""
        stored = self._stored(item)
        return stored if stored is not None and _same(stored, item.payload) else encode(item.payload)

    def _stored(self, item: Stored) -> bytes | None:
        entry = self._session.entry(item.entry)
        if entry is None:
            return None
        if item.checkpoint:
            if self._checkpoint[0] != item.entry:
                whole = decoding.compacted(decoding.LINES.decode(self._session.raw(entry)).payload)
                self._checkpoint = item.entry, [bytes(one) for one in whole.replacement_history or ()]
            return self._checkpoint[1][item.first_part // PARTS_OF_AN_ITEM]
        if not entry.kind.startswith("response_item/"):
            return None
        return bytes(decoding.LINES.decode(self._session.raw(entry)).payload)


def _same(stored: bytes, payload: Mapping[str, Any]) -> bool:
    return bool(decode(stored) == payload)


def _changed(payload: Mapping[str, Any], change: Shortened, image_input: bool) -> dict[str, Any]:
    """A tool's output with another text. What is no text stays with a shortened one and goes with a pointer."""
    output = payload.get("output")
    text = sound(change.text)
    if not isinstance(output, list) or change.what == "point":
        return {**payload, "output": text}
    others = [part for part in output if isinstance(part, dict) and not _is_text(part, image_input)]
    return {**payload, "output": [{"type": "input_text", "text": text}, *others]}


def _is_text(part: Mapping[str, Any], image_input: bool) -> bool:
    """Whether the model gets a part of an output as text, be it words in the place of a picture or sound."""
    if part.get("type") == "input_image":
        return isinstance(seen(part, image_input), str)
    return part.get("type") != "encrypted_content"


def estimate(payload: Mapping[str, Any]) -> int:
    """Tokens of an item, by Codex's rule: four bytes of text each, and figures of its own for what is no text."""
    return sum(-(-size // BYTES_PER_TOKEN) for size in _sizes(payload))


def _sizes(payload: Mapping[str, Any]) -> Iterator[int]:
    for name in ("content", "output", "summary", "arguments", "input", "tools", "action"):
        yield _size(payload.get(name))
    hidden = payload.get("encrypted_content")
    if isinstance(hidden, str):
        yield max(0, len(hidden) * 3 // 4 - HIDDEN_BYTES)


def _size(value: Any) -> int:
    if isinstance(value, str):
        return len(value.encode("utf-8", "surrogatepass"))
    if isinstance(value, list):
        return sum(_size(one) for one in value)
    if isinstance(value, dict):
        if value.get("type") == "input_image":
            return IMAGE_BYTES
        return sum(_size(one) for name, one in value.items() if name != "type")
    return 0
