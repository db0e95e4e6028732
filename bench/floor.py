"""The least that a reader must do: every line of a file decoded once into the few fields that it needs.

`python bench/floor.py claude-code FILE` reads in blocks, splits lines, decodes each and keeps nothing. What a command
costs is given as a multiple of this.
"""

from __future__ import annotations

import sys
from typing import Any

import msgspec

BLOCK = 1 << 20
"""Bytes read at a time."""


class Block(msgspec.Struct, gc=False):
    """A part of a message, with what ties a call to its result."""

    type: str | None = None
    id: str | None = None
    tool_use_id: str | None = None


class Usage(msgspec.Struct, gc=False):
    """The provider's figures, in tokens."""

    input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    output_tokens: int | None = None


class Message(msgspec.Struct, gc=False):
    """A message without its texts."""

    role: str | None = None
    id: str | None = None
    model: str | None = None
    content: list[Block] | str | None = None
    usage: Usage | None = None


class ClaudeCode(msgspec.Struct, gc=False):
    """A line of a Claude Code session."""

    type: str | None = None
    uuid: str | None = None
    parentUuid: str | None = None  # noqa: N815
    timestamp: str | None = None
    sessionId: str | None = None  # noqa: N815
    isSidechain: bool | None = None  # noqa: N815
    message: Message | None = None


class Payload(msgspec.Struct, gc=False):
    """What a record of Codex holds, without its texts."""

    type: str | None = None
    role: str | None = None
    call_id: str | None = None
    turn_id: str | None = None


class Codex(msgspec.Struct, gc=False):
    """A line of a rollout."""

    timestamp: str
    type: str
    payload: Payload


SHAPES: dict[str, Any] = {"claude-code": ClaudeCode, "codex": Codex}


def main(agent: str, path: str) -> int:
    """Decode every line of `path`."""
    decode = msgspec.json.Decoder(SHAPES[agent]).decode
    held = b""
    with open(path, "rb", buffering=0) as file:
        while block := file.read(BLOCK):
            pieces = (held + block).split(b"\n")
            held = pieces.pop()
            for piece in pieces:
                decode(piece)
    if held:
        decode(held)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
