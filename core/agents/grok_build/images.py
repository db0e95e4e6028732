"""Images in a history: which of them grok takes out when it loads a session, and the bytes of one."""

from __future__ import annotations

import base64
import binascii
import hashlib
import struct
import zlib
from collections.abc import Iterator, Sequence

from core.agents.grok_build.messages import Message, Part, Picture
from core.session import Session
from core.view import Source

REMOVED = "[image removed — invalid data]"

LARGEST = 20 << 20
"""Bytes of an image that grok still sends (1.0.41)."""

LEAST_SIDE, LEAST_PIXELS, MOST_PIXELS = 8, 512, 178_956_970

BODY_LIMIT, BODY_AIM = 47 << 20, 25 << 20
"""Bytes of a request from which on old images are left out of it, and down to which."""

EVICTED = (
    "[An earlier image was removed to keep the request within its size limit and is no longer visible. Do not "
    "describe or reason about its contents from memory; ask the user to re-share it if you need to see it again.]"
)
EVICTED_FROM_RESULT = (
    "[One or more images from this tool result were removed to keep the request within its size limit and are no "
    "longer visible. Do not describe or reason about their contents from memory.]"
)

FRAME = 26
"""Bytes of JSON around an image's address."""


def picture(url: str) -> Picture:
    """What is known of an image by its address, which for most holds the image itself."""
    length = len(url.encode())
    if not url.startswith("data:"):
        return Picture(url_length=length)
    header, comma, payload = url[5:].partition(",")
    if not comma or ";base64" not in header.lower():
        return Picture(url_length=length, fault="it is no base64 data")
    if len(payload) * 3 // 4 > LARGEST:
        return Picture(url_length=length, fault="it is larger than 20 MB")
    try:
        data = base64.b64decode(payload, validate=True)
    except (binascii.Error, ValueError):
        return Picture(url_length=length, fault="its base64 is broken")
    digest = hashlib.sha256(data).hexdigest()
    return Picture(header.partition(";")[0], digest, len(data), length, fault_of(data))


def fault_of(data: bytes) -> str:
    """Why grok would not send an image; empty where it would."""
    try:
        if data.startswith(b"\x89PNG\r\n\x1a\n"):
            size = _png(data)
        elif data.startswith(b"\xff\xd8\xff"):
            size = _jpeg(data)
        elif data[:4] == b"RIFF" and data[8:12] == b"WEBP":
            size = _webp(data)
        elif data.startswith(b"\x00\x00\x01\x00"):
            return "" if _is_icon(data) else "it is incomplete or damaged"
        else:
            return "it is no PNG, JPEG or WebP"
    except (struct.error, IndexError):
        size = None
    if size is None:
        return "it is incomplete or damaged"
    width, height = size
    if min(width, height) < LEAST_SIDE or width * height < LEAST_PIXELS:
        return f"it is too small ({width}x{height})"
    return f"it is too large ({width}x{height})" if width * height > MOST_PIXELS else ""


def _png(data: bytes) -> tuple[int, int] | None:
    """Width and height; None unless every chunk up to the last one is whole."""
    at, size = 8, None
    while at + 12 <= len(data):
        (length,) = struct.unpack_from(">I", data, at)
        kind, end = data[at + 4 : at + 8], at + 8 + length
        if end + 4 > len(data) or zlib.crc32(data[at + 4 : end]) != struct.unpack_from(">I", data, end)[0]:
            return None
        if kind == b"IHDR" and length >= 8:
            size = struct.unpack_from(">II", data, at + 8)
        if kind == b"IEND":
            return size
        at = end + 4
    return None


_SIZES = frozenset({*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC})
"""JPEG markers that tell the size."""


def _jpeg(data: bytes) -> tuple[int, int] | None:
    """Width and height; None unless the markers lead to the end of the image."""
    at, size = 2, None
    while True:
        at = data.find(b"\xff", at)
        while 0 <= at < len(data) and data[at] == 0xFF:
            at += 1
        if not 0 <= at < len(data):
            return None
        marker, at = data[at], at + 1
        if marker == 0xD9:
            return size
        if marker in (0x00, 0x01) or 0xD0 <= marker <= 0xD7:
            continue
        (length,) = struct.unpack_from(">H", data, at)
        if length < 2 or at + length > len(data):
            return None
        if marker in _SIZES:
            height, width = struct.unpack_from(">HH", data, at + 3)
            size = width, height
        at += length


def _webp(data: bytes) -> tuple[int, int] | None:
    (length,) = struct.unpack_from("<I", data, 4)
    if length + 8 > len(data):
        return None
    kind = data[12:16]
    if kind == b"VP8X":
        if not any(name in data[30:] for name in (b"VP8 ", b"VP8L", b"ANMF")):
            return None
        return int.from_bytes(data[24:27], "little") + 1, int.from_bytes(data[27:30], "little") + 1
    if kind == b"VP8L":
        (bits,) = struct.unpack_from("<I", data, 21)
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if kind == b"VP8 ":
        width, height = struct.unpack_from("<HH", data, 26)
        return width & 0x3FFF, height & 0x3FFF
    return None


def _is_icon(data: bytes) -> bool:
    """Whether each picture in an icon lies inside it and begins as one does."""
    (count,) = struct.unpack_from("<H", data, 4)
    for at in range(6, 6 + 16 * count, 16):
        size, start = struct.unpack_from("<II", data, at + 8)
        if start + size > len(data) or not data.startswith((b"\x89PNG", b"\x28\0\0\0"), start):
            return False
    return count > 0


def without_invalid(message: Message) -> Message:
    """A message as loading leaves it: invalid images become a text, or vanish from a tool result."""
    if message.kind == "user":
        message.parts = [_replaced(part) for part in message.parts]
    elif message.kind == "tool_result":
        message.parts = [part for part in message.parts if part.picture is None or not part.picture.fault]
    return message


def _replaced(part: Part) -> Part:
    if part.picture is None or not part.picture.fault:
        return part
    return Part(part.source, REMOVED, origin="repair")


def evict(messages: list[Message]) -> int:
    """Leave the oldest images out of a request that would be too large; how many were."""
    body = sum(_body_bytes(message) for message in messages)
    if body < BODY_LIMIT:
        return 0
    evicted = 0
    for message in messages:
        for part in [part for part in message.parts if part.picture is not None]:
            if body <= BODY_AIM:
                return evicted
            assert part.picture is not None
            body -= FRAME + part.picture.url_length
            evicted += 1
            _leave_out(message, part)
    return evicted


def _leave_out(message: Message, part: Part) -> None:
    at = message.parts.index(part)
    if message.kind == "user":
        message.parts[at] = Part(part.source, EVICTED, origin="repair")
        return
    del message.parts[at]
    if EVICTED_FROM_RESULT not in message.text:
        message.text, message.trimmed = f"{message.text}\n\n{EVICTED_FROM_RESULT}", True


def _body_bytes(message: Message) -> int:
    """About what a message takes in a request."""
    texts = [message.text, message.encrypted, *(part.text for part in message.parts)]
    texts += [call.name + call.arguments for call in message.calls]
    images = sum(FRAME + part.picture.url_length for part in message.parts if part.picture is not None)
    return sum(len(text.encode()) for text in texts) + images


def image(session: Session, source: Sequence[Source]) -> bytes | None:
    """The bytes of the image at the last of these places; None where there is none, or only its address is stored."""
    from core.agents.grok_build.records import value

    entry = session.entry(source[-1].entry) if source else None
    if entry is None:
        return None
    for url in _addresses(value(session, entry), source[-1].part):
        header, _, payload = url.partition(",")
        if header.startswith("data:"):
            try:
                return base64.b64decode(payload, validate=True)
            except (binascii.Error, ValueError):
                return None
    return None


def _addresses(stored: object, part: int) -> Iterator[str]:
    """The address of the image that is this part of a stored message."""
    if not isinstance(stored, dict):
        return
    parts, at = (
        (stored.get("images"), part - 1) if stored.get("type") == "tool_result" else (stored.get("content"), part)
    )
    found = parts[at] if isinstance(parts, list) and 0 <= at < len(parts) else None
    url = found.get("url") or found.get("image_url") if isinstance(found, dict) else None
    url = url.get("url") if isinstance(url, dict) else url
    if isinstance(url, str):
        yield url
