"""How dsh would resume a session: which model, of which provider, with which window."""

from __future__ import annotations

from typing import Any

from core.agents.dsh.records import data_of, detail
from core.resume import Known, Overrides, Resume
from core.session import Session

FLAG = "command line"

OFFICIAL = "deepseek-official"
"""The provider that dsh brings with it."""

OFFICIAL_WINDOW = Known(1_000_000, "default of the client's own provider (dsh 0.1.0-rc.8)")

WIRE = Known("openai-completions", "how dsh's own provider is spoken to")


def resume(session: Session, overrides: Overrides, newest_client: str) -> Resume:
    """The circumstances of a resume, each with its source; what the person said comes first."""
    entry = detail(session).header_entry
    config = _config(session, entry)
    where = f"session, event {entry} (request header)"
    provider, model = _named(config, "provider", where), _named(config, "model", where)
    if overrides.model is not None:
        model = Known(overrides.model.rpartition("/")[2], FLAG)
    longest = config.get("maxTokens")
    return Resume(
        client_version=_version(overrides, newest_client),
        provider=provider,
        model=model,
        wire=WIRE if overrides.wire is None else Known(overrides.wire, FLAG),
        window=_window(session, provider, model) if overrides.window is None else Known(overrides.window, FLAG),
        max_output=Known(longest, where) if isinstance(longest, int) and longest > 0 else _max_output(provider, model),
    )


def _config(session: Session, entry: str | None) -> dict[str, Any]:
    header = data_of(session, entry).get("header") if entry is not None else None
    config = header.get("config") if isinstance(header, dict) else None
    return config if isinstance(config, dict) else {}


def _named(config: dict[str, Any], name: str, where: str) -> Known[str] | None:
    value = config.get(name)
    return Known(value, where) if isinstance(value, str) and value else None


def _version(overrides: Overrides, newest_client: str) -> Known[str]:
    if overrides.client_version is not None:
        return Known(overrides.client_version, FLAG)
    return overrides.installed or Known(newest_client, "default: the newest whose session code is known")


def _window(session: Session, provider: Known[str] | None, model: Known[str] | None) -> Known[int] | None:
    """What the session says that this model was given, else what is known of the model."""
    from core.models import window_of

    entry = detail(session).context_entry
    told = data_of(session, entry) if entry is not None else {}
    size = told.get("contextWindow")
    asked = (provider and provider.value, model and model.value)
    if asked == (told.get("provider"), told.get("model")) and isinstance(size, int) and size > 0:
        return Known(size, f"session, event {entry} (request context)")
    if provider is not None and provider.value == OFFICIAL:
        return OFFICIAL_WINDOW
    return window_of(_listed(provider), model.value) if model is not None else None


def _max_output(provider: Known[str] | None, model: Known[str] | None) -> Known[int] | None:
    from core.models import max_output_of

    return max_output_of(_listed(provider), model.value) if model is not None else None


def _listed(provider: Known[str] | None) -> str:
    """The provider's name in the table of models."""
    return "deepseek" if provider is None or provider.value == OFFICIAL else provider.value
