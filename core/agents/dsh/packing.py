"""Frames as dsh writes them: one for each append, with a checksum and the size of its content."""

from __future__ import annotations

LAST_BLOCK = 1


def frame(content: bytes) -> bytes:
    """One frame of whole lines."""
    import zstandard

    return zstandard.ZstdCompressor(write_checksum=True).compress(content)


def is_one_block(packed: bytes) -> bool:
    """Whether a beginning of the frame gives nothing at all, so that an append of it is there whole or not."""
    import zstandard

    start = zstandard.frame_header_size(packed)
    return bool(packed[start] & LAST_BLOCK)
