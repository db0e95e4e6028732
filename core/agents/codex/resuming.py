"""How Codex would resume a session: which model, of which provider, with which window."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from core.agents.codex.rebuilding import path_of
from core.agents.codex.records import detail, payload
from core.agents.codex.truncating import CATALOGUE, OTHERS, Policy
from core.errors import SeamlineError
from core.resume import Known, Overrides, Resume
from core.session import Session

FLAG = "command line"
WIRE = Known("openai-responses", "the only one that Codex speaks")

EFFECTIVE = 0.95
"""The share of the window that Codex gives the model (0.171.0, every model of its catalogue)."""

_WINDOW_EVENTS = ("event_msg/task_started", "event_msg/token_count")


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The models that Codex itself knows."""

    source: str
    default: str
    windows: dict[str, int]


@cache
def catalogue() -> Catalogue:
    """The catalogue of the newest known client."""
    data: dict[str, Any] = tomllib.loads(Path(__file__).with_name("models.toml").read_text("utf-8"))
    return Catalogue(data["source"], data["default"], data["windows"])


def resume(session: Session, overrides: Overrides, newest_client: str) -> Resume:
    """The circumstances of a resume, each with its source; what the person said comes first."""
    start = detail(session).start
    provider = start.get("model_provider")
    named = Known(provider, "session, its first line") if isinstance(provider, str) and provider else None
    model = _model(session) if overrides.model is None else Known(overrides.model.rpartition("/")[2], FLAG)
    window = _window(session, model.value, named) if overrides.window is None else Known(overrides.window, FLAG)
    return Resume(
        client_version=_version(overrides, newest_client),
        provider=named,
        model=model,
        wire=WIRE if overrides.wire is None else Known(overrides.wire, FLAG),
        window=window,
        max_output=_max_output(model.value, named),
    )


def policy_of(resume: Resume) -> Policy:
    """How far tool outputs are shortened for the model."""
    known = resume.model is not None and resume.model.value in catalogue().windows
    return CATALOGUE if known else OTHERS


def _version(overrides: Overrides, newest_client: str) -> Known[str]:
    if overrides.client_version is not None:
        return Known(overrides.client_version, FLAG)
    return overrides.installed or Known(newest_client, "default: the newest known")


def _model(session: Session) -> Known[str]:
    """That of the last turn, also where the turn was taken back or compacted; else the client's default."""
    for entry in reversed(detail(session).models):
        try:
            model = payload(session, entry).get("model")
        except SeamlineError:
            continue
        if isinstance(model, str) and model:
            return Known(model, f"session, line {entry.line} (turn context)")
    return Known(catalogue().default, "default of the client: the session names none")


def _window(session: Session, model: str, provider: Known[str] | None) -> Known[int] | None:
    """The catalogue's window, unless the session was run with another one."""
    listed = catalogue().windows.get(model)
    used = _used_window(session)
    if listed is not None and (used is None or used.value == int(listed * EFFECTIVE)):
        return Known(listed, f"model table ({catalogue().source})")
    if used is not None:
        return used
    from core.models import window_of

    return window_of(provider.value if provider is not None else "openai", model) or window_of("openai", model)


def _used_window(session: Session) -> Known[int] | None:
    """What the session says that the model was given, last."""
    for entry in reversed(path_of(session)):
        if entry.kind not in _WINDOW_EVENTS:
            continue
        told = payload(session, entry)
        info = told.get("info")
        size = (info if isinstance(info, dict) else told).get("model_context_window")
        if isinstance(size, int) and size > 0:
            return Known(size, f"session, line {entry.line} (what Codex gives the model: usually 95 % of its window)")
    return None


def _max_output(model: str, provider: Known[str] | None) -> Known[int] | None:
    from core.models import max_output_of

    return max_output_of(provider.value if provider is not None else "openai", model) or max_output_of("openai", model)
