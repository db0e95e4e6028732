"""A value of a type that nobody expects, anywhere in a record of any agent: never a crash."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core.errors import SeamlineError
from core.files import Disk, Overlay
from core.opening import open_session
from core.patch import Create, Patch

DATA = Path(__file__).resolve().parents[1] / "data" / "conformance"
NAMES = ("session.jsonl", "session.json", "chat_history.jsonl")
AGENTS = ("pi", "codex", "claude-code", "grok-build", "openai-messages")
LARGEST = 60_000
"""Bytes of a session that is tried."""

ODD: tuple[Any, ...] = ([], {}, [1], {"a": []}, 1, None, True)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where a decoded record could hold another value."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield (*path, key)
            yield from places(part, (*path, key))
    elif isinstance(value, list):
        for number, part in enumerate(value[:6]):
            yield from places(part, (*path, number))


def changed(line: bytes, draw: random.Random) -> bytes:
    """One record with one odd value; the same line where it is no record."""
    try:
        value: Any = json.loads(line)
    except ValueError:
        return line
    found = list(places(value))
    if not found:
        return line
    *way, last = draw.choice(found)
    at = value
    for step in way:
        at = at[step]
    at[last] = draw.choice(ODD)
    return json.dumps(value).encode()


def read_all(path: Path, data: bytes) -> None:
    """Everything that is done with a session before anything is written."""
    files = Overlay(Disk(), Patch((Create(path, data),), path, "fork"))
    opened = open_session(path, None, files)
    assert opened.usage is not None
    list(opened.agent.history(opened.session, opened.resume))
    opened.agent.system(opened.session, opened.resume)
    for unit in opened.units:
        opened.options(unit)


@pytest.mark.parametrize("agent", AGENTS)
def test_an_odd_value_is_refused_or_passed_over(agent: str) -> None:
    draw = random.Random(agent)
    tried = 0
    for path in sorted(path for name in NAMES for path in (DATA / agent).rglob(name)):
        if path.stat().st_size > LARGEST:
            continue
        lines = path.read_bytes().split(b"\n")
        for _ in range(30):
            number = draw.randrange(len(lines))
            odd = changed(lines[number], draw)
            data = b"\n".join([*lines[:number], odd, *lines[number + 1 :]])
            tried += 1
            try:
                read_all(path, data)
            except SeamlineError as refusal:
                assert str(refusal)
    assert tried > 100
