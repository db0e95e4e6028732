"""A small valid PNG, written with stored blocks only: the same bytes on every machine, whatever its zlib."""

from __future__ import annotations

import struct
import zlib


def png(rows: list[bytes]) -> bytes:
    """A grey picture; each row holds one byte for each pixel."""
    raw = b"".join(b"\0" + row for row in rows)
    blocks = [raw[at : at + 0xFFFF] for at in range(0, len(raw), 0xFFFF)]
    body = b"\x78\x01"
    for number, block in enumerate(blocks, start=1):
        body += struct.pack("<BHH", number == len(blocks), len(block), len(block) ^ 0xFFFF) + block
    body += struct.pack(">I", zlib.adler32(raw))
    head = struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", head) + _chunk(b"IDAT", body) + _chunk(b"IEND", b"")


def statement_picture() -> bytes:
    """Something like a printed page: dark bars of text on white."""
    width, height = 64, 48
    rows: list[bytes] = []
    for y in range(height):
        inked = y % 4 in (1, 2)
        length = 20 + (y * 7) % 37
        rows.append(bytes(40 if inked and 4 <= x < length else 250 for x in range(width)))
    return png(rows)


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
