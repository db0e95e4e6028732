"""A home for one Codex that knows only the mock, and the rollouts that lie in it."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import zstandard

MAGIC = b"\x28\xb5\x2f\xfd"
NO_LIMIT = 900_000_000
"""Tokens that no session reaches: own compaction is off."""

DEFAULT_MODEL = "gpt-5.5"
BUILT_IN, STAND_IN = b'"model_provider":"openai"', b'"model_provider":"mocked"'
"""The provider whose server Codex asks to compact; under another name, of the same length, it compacts by itself."""

NO_THREAD = "00000000-0000-7000-8000-000000000000"

_NAME = re.compile(r"rollout-(\d{4})-(\d\d)-(\d\d)T[\d-]+-[0-9a-f-]{36}.*\.jsonl(\.zst)?")


def content_of(path: Path) -> bytes:
    """The bytes of a rollout, unpacked where they are compressed."""
    data = path.read_bytes()
    return zstandard.ZstdDecompressor().decompressobj().decompress(data) if data.startswith(MAGIC) else data


def rollouts(folder: Path) -> list[Path]:
    """All rollouts below a folder, by name."""
    found = (path for path in folder.rglob("*") if path.is_file() and path.name.endswith((".jsonl", ".jsonl.zst")))
    return sorted(found, key=lambda path: path.name)


def rows(data: bytes) -> Iterator[dict[str, Any]]:
    """The records that can be read."""
    for line in data.split(b"\n"):
        try:
            row = json.loads(line)
        except ValueError:
            continue
        if isinstance(row, dict):
            yield row


def start_of(path: Path) -> dict[str, Any]:
    """The payload of a rollout's first line; empty where it has none."""
    for row in rows(content_of(path).split(b"\n", 1)[0]):
        payload = row.get("payload")
        return payload if isinstance(payload, dict) else {}
    return {}


def thread_of(path: Path) -> str:
    """The id by which Codex is asked to resume a session."""
    return str(start_of(path).get("id") or NO_THREAD)


def place(session: Path, home: Path) -> Path:
    """Copy a session, with its kin, into a home; the copy. A folder's session is the one whose name sorts last."""
    around = session.parents[3]
    if around.name == "sessions" and session.is_file():
        shutil.copytree(around, home / "sessions")
        return home / "sessions" / session.relative_to(around)
    copies = [_placed(path, home) for path in (rollouts(session) if session.is_dir() else [session])]
    return copies[-1]


def _placed(path: Path, home: Path) -> Path:
    named = _NAME.fullmatch(path.name)
    if named is not None:
        day, name = named.groups()[:3], path.name
    else:
        start = start_of(path)
        told = start.get("timestamp")
        found = re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", told) if isinstance(told, str) else None
        time = found[0] if found else "2026-01-01T00:00:00"
        day = (time[:4], time[5:7], time[8:10])
        name = f"rollout-{time.replace(':', '-')}-{start.get('id') or NO_THREAD}.jsonl" + ".zst" * path.name.endswith(
            ".zst"
        )
    folder = home.joinpath("sessions", *day)
    folder.mkdir(parents=True, exist_ok=True)
    data = path.read_bytes()
    head, end, rest = data.partition(b"\n")
    (folder / name).write_bytes(head.replace(BUILT_IN, STAND_IN) + end + rest)
    return folder / name


def furnish(home: Path, session: Path, port: int, window: int, limit: int) -> None:
    """Write the settings. `window` and `limit` (tokens) are the model's window and where Codex compacts; 0: never."""
    provider = start_of(session).get("model_provider") or "mock"
    settings: dict[str, Any] = {
        "approval_policy": "never",
        "sandbox_mode": "danger-full-access",
        "check_for_update_on_startup": False,
        "model_provider": provider,
        "model": model_of(session),
        "model_context_window": window or 1_000_000_000,
    }
    if not window:
        settings["model_auto_compact_token_limit"] = limit or NO_LIMIT
    lines = [f"{name} = {json.dumps(value)}" for name, value in settings.items()]
    lines += [
        f"[model_providers.{json.dumps(provider)}]",
        'name = "mock"',
        f'base_url = "http://127.0.0.1:{port}/v1"',
        'wire_api = "responses"',
        "requires_openai_auth = false",
        'env_key = "MOCK_KEY"',
        "request_max_retries = 0",
        "stream_max_retries = 0",
        "supports_websockets = false",
        "[analytics]",
        "enabled = false",
        "[otel]",
        'exporter = "none"',
    ]
    (home / "config.toml").write_text("\n".join(lines) + "\n")


def model_of(session: Path) -> str:
    """The model of the last turn, of which Codex asks the catalogue for its rules."""
    model = DEFAULT_MODEL
    for row in rows(content_of(session)):
        payload = row.get("payload")
        if row.get("type") == "turn_context" and isinstance(payload, dict):
            model = payload.get("model") or model
    return model
