"""How grok would resume a session: which model, over which wire, with which window."""

from __future__ import annotations

from core.agents.grok_build.records import detail
from core.agents.grok_build.showing import CHAT
from core.resume import Known, Overrides, Resume
from core.session import Session

FLAG = "command line"

PROVIDER = "xai"

DEFAULT_WINDOW = 500_000
"""Tokens; what the client's own models have (1.0.41)."""

RESPONSES = "openai-responses"

WIRES = {"responses": RESPONSES, "chat_completions": CHAT, "chat": CHAT, "completions": CHAT}
"""The names that the client's configuration uses, and shorter ones."""


def resume(session: Session, overrides: Overrides, newest_client: str) -> Resume:
    """The circumstances of a resume, each with its source; what the person said comes first."""
    from core.models import max_output_of

    model = _model(session) if overrides.model is None else Known(overrides.model.rpartition("/")[2], FLAG)
    wire = Known(RESPONSES, "what the client's own models use")
    if overrides.wire is not None:
        wire = Known(WIRES.get(overrides.wire, overrides.wire), FLAG)
    return Resume(
        client_version=_version(overrides, newest_client),
        provider=Known(PROVIDER, "the client's own"),
        model=model,
        wire=wire,
        window=_window(session) if overrides.window is None else Known(overrides.window, FLAG),
        max_output=max_output_of(PROVIDER, model.value) if model is not None else None,
    )


def _version(overrides: Overrides, newest_client: str) -> Known[str]:
    if overrides.client_version is not None:
        return Known(overrides.client_version, FLAG)
    return overrides.installed or Known(newest_client, "default: the newest known")


def _model(session: Session) -> Known[str] | None:
    named = detail(session).summary.get("current_model_id")
    return Known(named, "session, summary.json (current_model_id)") if isinstance(named, str) and named else None


def _window(session: Session) -> Known[int]:
    used = detail(session).window
    if used is not None:
        return Known(used, "session, signals.json (contextWindowTokens)")
    return Known(DEFAULT_WINDOW, "default of the client's own models: the session names none")
