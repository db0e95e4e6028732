"""Whether a file is a log of dsh, judged by its content from a bounded head."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec

from core.agents.dsh.records import KNOWN, PACKED
from core.compressed import unpacked_head
from core.files import Files
from core.jsonl import BrokenLine, decode

HEAD = 1 << 20
"""Bytes that are looked at; a request's header with system prompt and tools may take some 40 KB."""

HEADER_HEAD = 1 << 16

MOST_LINES = 50

_ROWS = msgspec.json.Decoder(dict[str, msgspec.Raw])

_HEADER = re.compile(
    rb'\s*\{\s*"type"\s*:\s*"session"\s*,\s*"version"\s*:\s*-?\d+\s*,\s*"id"\s*:\s*"[^"]*"\s*,\s*"createdAt"'
)
_EVENT = re.compile(
    rb'\s*\{\s*"type"\s*:\s*"([a-z/-]+)"\s*,\s*"seq0?"\s*:\s*\d+\s*,\s*"time0?"\s*:\s*\d+\s*,\s*"data"\s*:'
)
"""How a record begins that is longer than the head, or torn."""


def is_dsh(files: Files, path: Path) -> bool:
    """True where one of the first lines is dsh's header or one of its events, also in a file that dsh would refuse."""
    head = unpacked_head(files, path, HEAD)
    return any(_is_row(line) for line in head.split(b"\n", MOST_LINES)[:MOST_LINES])


def _is_row(line: bytes) -> bool:
    try:
        row = _ROWS.decode(line)
        kind = decode(bytes(row["type"])) if "type" in row else None
    except (msgspec.MsgspecError, BrokenLine, RecursionError, UnicodeDecodeError):
        found = _EVENT.match(line)
        return bool(_HEADER.match(line)) or (found is not None and found[1].decode() in KNOWN | PACKED)
    if not isinstance(kind, str):
        return False
    if kind == "session":
        return row.keys() >= {"version", "createdAt", "delegationDepth"}
    wanted = {"seq0", "time0", "data"} if kind in PACKED else {"seq", "time", "data"}
    known = kind in PACKED or kind in KNOWN or ("/" in kind and "surfaceOp" in row)
    return known and row.keys() >= wanted


def header_of(files: Files, path: Path) -> dict[str, Any]:
    """The header of a log; empty where it does not begin with one. Raises OSError."""
    line, end, _ = unpacked_head(files, path, HEADER_HEAD).partition(b"\n")
    if not end or not _is_row(line):
        return {}
    try:
        value = decode(line)
    except BrokenLine:
        return {}
    return value if isinstance(value, dict) and value.get("type") == "session" else {}
