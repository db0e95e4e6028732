"""Content parts of the three APIs: texts, pictures, and what is neither."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Iterator
from typing import Any, NamedTuple, NoReturn

from core.jsonl import MOST_DIGITS, is_one_of
from core.view import Item, Role, Source

TEXTS = {"text": "text", "input_text": "text", "output_text": "text", "summary_text": "text", "reasoning_text": "text"}
"""Type of a part → the member that holds its text."""

PICTURES = frozenset({"image_url", "input_image", "image", "computer_screenshot"})

FILES = frozenset({"file", "input_file", "input_audio", "document", "container_upload", "audio"})
"""Parts whose content is no text and no picture."""


class Picture(NamedTuple):
    """An image as it stands in a part."""

    media_type: str
    data: bytes
    """Empty where only its address or id is stored."""
    address: str


def texts_of(content: Any) -> Iterator[str]:
    """The texts in a content: a plain string, or parts."""
    if isinstance(content, str):
        yield content
        return
    for part in content if isinstance(content, list) else ():
        text = text_of(part)
        if text is not None:
            yield text


def text_of(part: Any) -> str | None:
    """The text of one part; None where it is no text."""
    if isinstance(part, str):
        return part
    if not isinstance(part, dict):
        return None
    kind = part.get("type")
    if kind == "refusal":
        return plain(part.get("refusal"))
    if is_one_of(kind, TEXTS) or (kind is None and "text" in part):
        return plain(part.get("text"))
    if kind == "search_result":
        named = filter(None, (plain(part.get("title")), plain(part.get("source"))))
        return "\n".join([*named, *texts_of(part.get("content"))])
    if kind == "document":
        source = part.get("source")
        if isinstance(source, dict) and source.get("type") == "text":
            return plain(source.get("data"))
        if isinstance(source, dict) and source.get("type") == "content":
            return "\n".join(texts_of(source.get("content")))
    if kind is None and ("stdout" in part or "stderr" in part):
        return "\n".join(filter(None, (plain(part.get("stdout")), plain(part.get("stderr")))))
    return None


def plain(value: Any) -> str:
    """A string as it is; anything else as compact JSON; nothing for null."""
    return value if isinstance(value, str) else "" if value is None else compact(value)


def compact(value: Any) -> str:
    """JSON without spaces, text as it is."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except RecursionError:
        return ""


def arguments_of(value: Any) -> Any:
    """The arguments of a call: parsed where they are valid JSON in a string, else as they are."""
    if not isinstance(value, str):
        return {} if value is None else value
    try:
        return json.loads(value, parse_constant=_reject, parse_int=_integer)
    except (ValueError, RecursionError):
        return value


def _reject(word: str) -> NoReturn:
    raise ValueError(f"{word} is no JSON")


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) <= MOST_DIGITS else float(digits)


def is_picture(part: Any) -> bool:
    """Whether a part is an image."""
    return isinstance(part, dict) and is_one_of(part.get("type"), PICTURES)


def picture_of(part: dict[str, Any]) -> Picture:
    """The image in a part: inline as a data URL or as base64, or only its address."""
    source = part.get("source")
    if isinstance(source, dict):
        if isinstance(source.get("data"), str):
            return Picture(_word(source.get("media_type")), decoded(source["data"]), "")
        return Picture(_word(source.get("media_type")), b"", _word(source.get("url")) or _word(source.get("file_id")))
    if isinstance(part.get("data"), str):
        return Picture(_word(part.get("mimeType")), decoded(part["data"]), "")
    address = part.get("image_url", part.get("file_id"))
    if isinstance(address, dict):
        address = address.get("url")
    return from_address(address) if isinstance(address, str) else Picture("", b"", _word(part.get("file_id")))


def from_address(address: str) -> Picture:
    """An image behind an address, which may be a data URL."""
    head, comma, data = address.partition(",")
    if not comma or not head.startswith("data:"):
        return Picture("", b"", address)
    media_type, *options = head.removeprefix("data:").split(";")
    return Picture(media_type, decoded(data) if "base64" in options else data.encode("utf-8", "replace"), "")


def decoded(data: str) -> bytes:
    """The bytes of base64; empty where it is none."""
    try:
        return base64.b64decode(data + "=" * (-len(data) % 4))
    except (binascii.Error, ValueError):
        return b""


def _word(value: Any) -> str:
    return value if isinstance(value, str) else ""


def picture_item(role: Role, picture: Picture, source: tuple[Source, ...]) -> Item:
    """An image; its bytes are measured and hashed, not kept. Of one that is only named, the address is the text."""
    return Item(
        role,
        "image",
        picture.address,
        media_type=picture.media_type,
        sha256=hashlib.sha256(picture.data).hexdigest() if picture.data else "",
        image_bytes=len(picture.data),
        source=source,
    )


def other_words(part: dict[str, Any]) -> str:
    """What can be said of a part that is neither text nor picture: its name, type and size."""
    holder = next((part[name] for name in ("file", "input_audio", "source") if isinstance(part.get(name), dict)), part)
    data = next((holder[name] for name in ("file_data", "data") if isinstance(holder.get(name), str)), "")
    names = ("title", "filename", "format", "media_type", "url", "file_url", "file_id", "id")
    words = [text for place in (part, holder) for name in names if (text := _word(place.get(name)))]
    if data:
        words.append(f"{len(from_address(data).data or decoded(data)):,} bytes")
    return ", ".join(dict.fromkeys(words))
