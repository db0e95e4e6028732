"""What Codex makes of a picture before it sends it (0.171.0): small ones go out as they are, the rest does not.

Pictures are looked at as far as their heads: what a decoder would find wrong behind that is not seen here.
"""

from __future__ import annotations

import base64
import binascii
import re
import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

REMOTE = "image content omitted because remote image URLs are not supported"
LOW_DETAIL = "image content omitted because detail 'low' is not supported; use 'high', 'original', or 'auto'"
UNREADABLE = "image content omitted because it could not be processed"
NO_IMAGES = "image content omitted because you do not support image input"

_REMOTE = re.compile(r"https?://", re.IGNORECASE)
_DATA = re.compile(r"data:", re.IGNORECASE)

LIMITS = {"original": (6000, 10_000)}
USUAL_LIMIT = (2048, 2_500)
"""The longest side in pixels, and how many patches of 32 pixels a picture may take; larger ones are shrunk."""

PATCH = 32


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture as it is stored."""

    media_type: str
    data: bytes
    shrunk: bool = False
    """Whether Codex sends it smaller, or in another format: then its bytes are others than these."""


def seen(part: Mapping[str, Any], image_input: bool) -> Picture | str | None:
    """What the model gets of an image part: the picture, words in its place, or None for one that is elsewhere."""
    address = part.get("image_url")
    if not image_input:
        return NO_IMAGES
    if not isinstance(address, str):
        return None
    if _REMOTE.match(address):
        return REMOTE
    if not _DATA.match(address):
        return None
    if part.get("detail") == "low":
        return LOW_DETAIL
    data = data_of(address)
    found = measured(data) if data is not None else None
    if data is None or found is None:
        return UNREADABLE
    media_type, width, height = found
    longest, patches = LIMITS.get(str(part.get("detail")), USUAL_LIMIT)
    large = max(width, height) > longest or -(-width // PATCH) * -(-height // PATCH) > patches
    return Picture(media_type, data, large or media_type == "image/gif")


def data_of(address: str) -> bytes | None:
    """The bytes behind a data address; None where it is none, or not in base64."""
    head, comma, rest = address.partition(",")
    if not comma or not _DATA.match(head) or not head.lower().endswith(";base64"):
        return None
    try:
        return base64.b64decode(rest, validate=True)
    except (binascii.Error, ValueError):
        return None


def measured(data: bytes) -> tuple[str, int, int] | None:
    """Media type, width and height as the data itself tells; None where it is no picture that Codex reads."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return _png(data)
    if data.startswith(b"\xff\xd8\xff"):
        return _jpeg(data)
    if data[:6] in (b"GIF87a", b"GIF89a") and len(data) >= 10:
        width, height = struct.unpack("<HH", data[6:10])
        return "image/gif", width, height
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return _webp(data)
    return None


def _png(data: bytes) -> tuple[str, int, int] | None:
    if data[12:16] != b"IHDR" or len(data) < 33:
        return None
    width, height = struct.unpack(">II", data[16:24])
    at = data.find(b"IDAT", 33)
    if not width or not height or at < 0:
        return None
    try:
        zlib.decompressobj().decompress(data[at + 4 : at + 260], 64)
    except zlib.error:
        return None
    return "image/png", width, height


def _jpeg(data: bytes) -> tuple[str, int, int] | None:
    at = 2
    while at + 9 < len(data) and data[at] == 0xFF:
        marker = data[at + 1]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", data[at + 5 : at + 9])
            return "image/jpeg", width, height
        at += 1 if marker == 0xFF else 2 + int.from_bytes(data[at + 2 : at + 4], "big")
    return None


def _webp(data: bytes) -> tuple[str, int, int] | None:
    kind = data[12:16]
    if len(data) < 30:
        return None
    if kind == b"VP8 ":
        width, height = (size & 0x3FFF for size in struct.unpack("<HH", data[26:30]))
        return "image/webp", width, height
    if kind == b"VP8L":
        bits = int.from_bytes(data[21:25], "little")
        return "image/webp", (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if kind == b"VP8X":
        return "image/webp", int.from_bytes(data[24:27], "little") + 1, int.from_bytes(data[27:30], "little") + 1
    return None
