"""dsh's messages as the DeepSeek adapter sends them (dsh 0.1.0-rc.8, chat completions), as items of the view.

Texts of a message are joined with nothing. Pictures of tool results follow the last of a run of results.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from core.agents.dsh.records import COMPACTOR, INSTRUCTIONS, SNAPSHOT
from core.errors import ClientRefuses
from core.jsonl import BrokenLine, decode
from core.view import Item, Mark, Source

NO_OUTPUT = "(no output)"
ONLY_AN_IMAGE = "(see attached image)"

ALGORITHM = "sha256:"
"""How the id of a stored picture begins."""

Block = tuple[int, dict[str, Any]]
"""A block of a message's content, and its place in it."""


@dataclass
class Request:
    """The items of a request in the making."""

    items: list[Item] = field(default_factory=list[Item])
    _names: dict[str, str] = field(default_factory=dict[str, str])
    _images: list[Item] = field(default_factory=list[Item])
    """Pictures of the results of the current run."""

    def add(self, entry: str, kind: str, message: dict[str, Any]) -> None:
        """Add a message. Raises ClientRefuses where the adapter can't send it."""
        blocks = _blocks(message.get("content"))
        if kind == "assistant/message":
            if message.get("content"):
                self._assistant(entry, blocks)
            return
        results = [block for block in blocks if block[1].get("type") == "tool-result"]
        regular = [block for block in blocks if block[1].get("type") != "tool-result"]
        shown = list(_parts(entry, regular, _mark(message.get("source"))))
        if shown or not results:
            self.flush()
            self.items += shown
        for _, result in results:
            self._result(entry, result)

    def answer(self, call_id: str, text: str) -> None:
        """Add a result that dsh makes up."""
        item = Item("tool", "tool_result", text, call_id, self._names.get(call_id, ""), is_error=True, origin="repair")
        self.items.append(item)

    def waiting(self, entry: str, position: int, message: dict[str, Any]) -> None:
        """Add a message from the inbox: all of it comes from one place."""
        self.flush()
        at, source = len(self.items), (Source(entry, position),)
        self.add(entry, "user/message", message)
        self.items[at:] = [replace(item, source=source, mark="waiting") for item in self.items[at:]]

    def flush(self) -> None:
        """Let the pictures of the last results follow."""
        self.items += self._images
        self._images = []

    def _assistant(self, entry: str, blocks: Sequence[Block]) -> None:
        self.flush()
        if any(block.get("type") == "image" for _, block in blocks):
            what = "cannot represent image content in a assistant message"
            raise ClientRefuses(f"entry {entry}: The DeepSeek chat-completions adapter {what}")
        self.items += _joined(entry, blocks, "reasoning")
        self.items += _joined(entry, blocks, "text")
        for part, block in blocks:
            if block.get("type") == "tool-call":
                self.items.append(self._call(entry, part, block))

    def _call(self, entry: str, part: int, block: dict[str, Any]) -> Item:
        call_id, name = _text(block.get("id")), _text(block.get("name"))
        self._names[call_id] = name
        arguments = _parsed(_text(block.get("arguments")))
        source = (Source(entry, part),)
        return Item("assistant", "tool_call", call_id=call_id, name=name, arguments=arguments, source=source)

    def _result(self, entry: str, result: dict[str, Any]) -> None:
        blocks = list(_nested(_blocks(result.get("content"))))
        texts = [(part, _text(block.get("text"))) for part, block in blocks if block.get("type") == "text"]
        images = [_image(entry, part, block) for part, block in blocks if block.get("type") == "image"]
        text = "".join(text for _, text in texts)
        call_id = _text(result.get("toolCallId"))
        self.items.append(
            Item(
                "tool",
                "tool_result",
                text or (ONLY_AN_IMAGE if images else NO_OUTPUT),
                call_id,
                self._names.get(call_id, ""),
                is_error=result.get("isError") is True,
                source=tuple(Source(entry, part) for part, _ in texts) or (Source(entry, 0),),
            )
        )
        self._images += [replace(image, role="tool", mark="bundled_image") for image in images]


def _blocks(content: Any) -> list[Block]:
    if not isinstance(content, list):
        return []
    return [(part, block) for part, block in enumerate(content) if isinstance(block, dict)]


def _nested(blocks: Sequence[Block]) -> Iterator[Block]:
    """The blocks, with those of a result inside in its place. Iterative: nesting may be deep."""
    left = list(reversed(blocks))
    while left:
        part, block = left.pop()
        if block.get("type") == "tool-result":
            left += [(part, inner) for _, inner in reversed(_blocks(block.get("content")))]
        else:
            yield part, block


def _parts(entry: str, blocks: Sequence[Block], mark: Mark) -> Iterator[Item]:
    """The texts and pictures of a user's message; without pictures, all texts as one."""
    if not any(block.get("type") == "image" for _, block in blocks):
        yield from (replace(item, role="user", mark=mark) for item in _joined(entry, blocks, "text"))
        return
    for part, block in blocks:
        if block.get("type") == "image":
            yield _image(entry, part, block)
        elif block.get("type") == "text" and block.get("text"):
            yield Item("user", "text", _text(block.get("text")), source=(Source(entry, part),), mark=mark)


def _joined(entry: str, blocks: Sequence[Block], kind: str) -> Iterator[Item]:
    found = [(part, _text(block.get("text"))) for part, block in blocks if block.get("type") == kind]
    text = "".join(text for _, text in found)
    if text:
        source = tuple(Source(entry, part) for part, _ in found)
        yield Item("assistant", "thinking" if kind == "reasoning" else "text", text, source=source)


def _image(entry: str, part: int, block: dict[str, Any]) -> Item:
    stored = block.get("attachment")
    stored = stored if isinstance(stored, dict) else {}
    size = stored.get("bytes")
    return Item(
        "user",
        "image",
        media_type=_text(stored.get("mediaType")),
        sha256=_text(stored.get("attachmentId")).removeprefix(ALGORITHM),
        image_bytes=size if isinstance(size, int) else 0,
        source=(Source(entry, part),),
    )


def _mark(source: Any) -> Mark:
    """What a user's message stands for, by who wrote it."""
    kind = source.get("kind") if isinstance(source, dict) else None
    if kind == "plugin":
        plugin = source.get("plugin")
        return "summary" if plugin == COMPACTOR else "standing" if plugin == SNAPSHOT else "custom"
    if kind == INSTRUCTIONS:
        return "standing"
    return "" if kind == "user" else "custom"


def _parsed(arguments: str) -> Any:
    try:
        return decode(arguments.encode())
    except UnicodeEncodeError:
        return _parsed_slowly(arguments)
    except BrokenLine:
        return arguments


def _parsed_slowly(arguments: str) -> Any:
    """The value of a text that holds half of a surrogate pair."""
    try:
        return json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
