"""A home for one pi that knows only the mock: every model that a session names, with the wire it was spoken to over."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

WIRES = ("anthropic-messages", "openai-completions", "openai-responses")
USUAL_WIRE = {"anthropic": "anthropic-messages", "openai": "openai-responses"}
ROOMY = 100_000_000
"""A window (tokens) that no session fills."""

_CWD = re.compile(rb'("cwd"\s*:\s*)"((?:[^"\\]|\\.)*)"')


def models_of(data: bytes) -> dict[tuple[str, str], str]:
    """Every (provider, model) that the session names, in order, with its wire.

    pi itself picks the model on resume: the last `model_change` or assistant on the path. A model without a reply in
    the file gets the wire of another model of its provider.
    """
    wires: dict[tuple[str, str], str] = {}
    named: dict[tuple[str, str], None] = {}
    for entry in _objects(data):
        message = entry.get("message")
        if isinstance(message, dict) and message.get("role") == "assistant":
            pair = (message.get("provider"), message.get("model"))
            wire = message.get("api")
        else:
            pair, wire = (entry.get("provider"), entry.get("modelId")), None
        provider, model = pair
        if isinstance(provider, str) and isinstance(model, str) and provider and model:
            named[provider, model] = None
            if wire in WIRES:
                wires[provider, model] = wire
    by_provider = {provider: wire for (provider, _), wire in wires.items()}
    return {
        pair: wires.get(pair) or by_provider.get(pair[0]) or USUAL_WIRE.get(pair[0], "openai-completions")
        for pair in named
    } or {("mock", "mock-1"): "openai-completions"}


def _objects(data: bytes) -> Iterator[dict[str, Any]]:
    for line in data.decode("utf-8-sig", "replace").split("\n"):
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if isinstance(entry, dict):
            yield entry


def furnish(home: Path, data: bytes, port: int, window: int, keep_recent: int) -> None:
    """Write pi's settings and models. A `window` in tokens turns pi's own compaction on; 0 leaves it off."""
    folder = home / ".pi" / "agent"
    folder.mkdir(parents=True, exist_ok=True)
    models = models_of(data)
    providers: dict[str, dict[str, Any]] = {}
    for (provider, model), wire in models.items():
        address = f"http://127.0.0.1:{port}" + ("" if wire == "anthropic-messages" else "/v1")
        where = {"api": wire, "baseUrl": address}
        entry = providers.setdefault(provider, where | {"apiKey": "not-a-key", "models": []})
        cost = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}
        size = {"contextWindow": window or ROOMY, "maxTokens": 4096, "cost": cost}
        entry["models"].append(
            {"id": model, "name": model, "reasoning": True, "input": ["text", "image"]} | where | size
        )
    provider, model = list(models)[-1]
    settings = {
        "defaultProvider": provider,
        "defaultModel": model,
        "quietStartup": True,
        "enableInstallTelemetry": False,
        "compaction": {"enabled": bool(window), "keepRecentTokens": keep_recent},
        "retry": {"enabled": False},
    }
    (folder / "models.json").write_text(json.dumps({"providers": providers}))
    (folder / "settings.json").write_text(json.dumps(settings))


def moved(data: bytes, project: Path) -> bytes:
    """The session with another working folder in its header, since pi refuses one that does not exist."""
    for line in data.split(b"\n"):
        try:
            entry = json.loads(line.decode("utf-8-sig", "replace"))
        except ValueError:
            continue
        if isinstance(entry, dict) and entry.get("type") == "session" and isinstance(entry.get("cwd"), str):
            found = _CWD.search(line)
            assert found is not None  # the header just parsed has one
            named = json.dumps(str(project)).encode()
            return data.replace(line, line[: found.start()] + found[1] + named + line[found.end() :], 1)
        if entry:
            break
    return data
