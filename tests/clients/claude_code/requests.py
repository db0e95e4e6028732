"""Claude Code's requests, read into items of the form `model-view/1`: what the session gave, without what is made anew.

What is made anew with each start is told by comparing the session's lines before and after: texts of new context lines,
the prompt, and what the client makes up to repair the history.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from tests.clients.client import Request

Items = list[dict[str, Any]]
Lines = list[dict[str, Any]]

MADE_UP = ("No response requested.", "(no content)", "[Tool use interrupted]")
"""Texts that the client puts in to repair a history."""

_REMINDER = re.compile(r"<system-reminder>\n?(.*?)\n?</system-reminder>", re.DOTALL)


def lines_of(session: Path) -> Lines:
    """The lines of a session that are JSON objects."""
    found: Lines = []
    for line in session.read_bytes().split(b"\n"):
        try:
            value = json.loads(line.decode("utf-8", "replace"))
        except ValueError:
            continue
        if isinstance(value, dict):
            found.append(value)
    return found


def texts_of(request: Request) -> str:
    """Every text of a request outside the system prompt, one after the other."""
    return "\n".join(item.get("text", "") for message in request.body["messages"] for item in _message(message))


def items_of(request: Request, before: Lines, after: Lines) -> tuple[dict[str, Any], ...]:
    """The session's own part of a request."""
    fresh, stored_texts, stored_results = _fresh(before, after), _stored_texts(before), _stored_results(before)
    pieces = [text for line in after for text in _rendered(line)]
    parts = [part for message in request.body["messages"] for part in _parts(message, pieces)]
    own: Items = []
    # The same text may be stored and made anew: the later ones are the new ones.
    for part in reversed(parts):
        text = _bare(part["text"]) if part["type"] == "text" else ""
        if part["type"] == "text" and fresh[text] > 0:
            fresh[text] -= 1
        elif part["type"] == "text":
            own += [part] if text and (text not in MADE_UP or text in stored_texts) else []
        elif part["type"] != "tool_result" or part["call_id"] in stored_results:
            own.append(part)
    return tuple(reversed(own))


def _fresh(before: Lines, after: Lines) -> Counter[str]:
    """Texts of the lines that the client has added."""
    known = {line.get("uuid") for line in before}
    texts: Counter[str] = Counter()
    for line in after:
        if not line.get("uuid") or line["uuid"] in known:
            continue
        if line.get("type") == "attachment":
            texts.update(map(_bare, _rendered(line)))
        elif line.get("type") == "user" or _is_synthetic(line):
            texts.update(_bare(block["text"]) for block in _blocks(line) if block.get("type") == "text")
    return texts


def _stored_texts(lines: Lines) -> set[str]:
    blocks = (block for line in lines for block in _blocks(line) if block.get("type") == "text")
    return {str(block.get("text")).strip() for block in blocks}


def _stored_results(lines: Lines) -> set[Any]:
    blocks = (block for line in lines for block in _blocks(line) if block.get("type") == "tool_result")
    return {block.get("tool_use_id") for block in blocks}


def _is_synthetic(line: dict[str, Any]) -> bool:
    message = line.get("message")
    return line.get("type") == "assistant" and isinstance(message, dict) and message.get("model") == "<synthetic>"


def _rendered(line: dict[str, Any]) -> list[str]:
    pieces = line.get("rendered")
    listed = pieces if isinstance(pieces, list) else []
    return [piece["content"] for piece in listed if isinstance(piece, dict) and isinstance(piece.get("content"), str)]


def _blocks(line: dict[str, Any]) -> Items:
    message = line.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def _bare(text: str) -> str:
    """A text without the reminder tags around it, and without white space at its ends."""
    found = _REMINDER.fullmatch(text.strip())
    return (found[1] if found else text).strip()


def _parts(message: dict[str, Any], pieces: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The items of a message; standing context, which arrives joined, one for each stored piece again."""
    for item in _message(message):
        if item["role"] == "system" and item["type"] == "text":
            yield from (item | {"text": text} for text in _divided(item["text"], pieces))
        else:
            yield item


def _divided(text: str, pieces: Iterable[str]) -> Iterator[str]:
    wanted = sorted({_bare(piece) for piece in pieces} - {""}, key=len, reverse=True)
    while text := text.lstrip("\n"):
        whole = (
            piece for piece in wanted if text.startswith(piece) and text[len(piece) : len(piece) + 1] in ("", "\n")
        )
        found = next(whole, None)
        if found is None:  # up to the next known piece
            ends = [text.find(f"\n\n{piece}") for piece in wanted]
            found = text[: min((end for end in ends if end > 0), default=len(text))]
        yield found
        text = text[len(found) :]


def _message(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    role, content = message["role"], message["content"]
    for block in [{"type": "text", "text": content}] if isinstance(content, str) else content:
        yield from _block(role, block)


def _block(role: str, block: dict[str, Any]) -> Iterator[dict[str, Any]]:
    match block.get("type"):
        case "text":
            yield {"role": role, "type": "text", "text": block["text"]}
        case "thinking" if block.get("thinking"):
            yield {"role": role, "type": "thinking", "text": block["thinking"]}
        case "thinking" | "redacted_thinking":
            yield {"role": role, "type": "thinking", "opaque": True}
        case "tool_use":
            call = {"role": role, "type": "tool_call", "call_id": block["id"], "name": block["name"]}
            yield call | {"arguments": block["input"]}
        case "tool_result":
            yield from _result(block)
        case "image" | "document":
            yield _image(role, block)
        case kind:
            yield {"role": role, "type": kind, "value": block}


def _result(block: dict[str, Any]) -> Iterator[dict[str, Any]]:
    inner = block.get("content") or []
    parts = [{"type": "text", "text": inner}] if isinstance(inner, str) else inner
    text = "\n".join(part["text"] for part in parts if part.get("type") == "text")
    yield {"role": "tool", "type": "tool_result", "call_id": block["tool_use_id"], "text": text}
    for part in parts:
        if part.get("type") != "text":
            yield from _block("tool", part)


def _image(role: str, block: dict[str, Any]) -> dict[str, Any]:
    source = block.get("source", {})
    data = source.get("data") or source.get("url") or ""
    raw = base64.b64decode(data) if source.get("type") == "base64" else data.encode()
    digest = hashlib.sha256(raw).hexdigest()
    return {"role": role, "type": block["type"], "media_type": source.get("media_type", ""), "sha256": digest}
