"""The sessions that the harness commits to: the samples, generated ones, and captured ones of older formats."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.generated import VARIANTS

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Subject:
    """One session by name."""

    name: str
    data: Callable[[], bytes]
    sample: bool = False


def subjects(agent: str) -> list[Subject]:
    """The sessions of an agent that are large enough for a policy to act, samples first."""
    samples = sorted((ROOT / "sample_sessions" / agent).glob("*.jsonl"))
    found = [Subject(path.stem, path.read_bytes, sample=True) for path in samples]
    return found + [Subject(variant.name, variant.data) for variant in VARIANTS]


def captured(agent: str) -> list[Subject]:
    """Small sessions of every kind the client writes or stumbles over, with what it sent for them."""
    folder = ROOT / "tests" / "data" / "conformance" / agent
    return [Subject(path.parent.name, path.read_bytes) for path in sorted(folder.glob("*/session.jsonl"))]


def as_version_1(data: bytes) -> bytes:
    """A linear session of pi as the first version of the format would hold it: no ids, no version."""
    lines: list[str] = []
    for line in data.decode("utf-8").split("\n"):
        if not line.strip():
            continue
        entry: dict[str, Any] = json.loads(line)
        for name in ("version", "parentId"):
            entry.pop(name, None)
        if entry.get("type") != "session":
            entry.pop("id", None)
        lines.append(json.dumps(entry, ensure_ascii=False))
    return "".join(f"{line}\n" for line in lines).encode("utf-8")
