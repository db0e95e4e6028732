"""How Claude Code would resume a session: which model, with which window."""

from __future__ import annotations

from core.agents.claude_code.models import DEFAULT_MODEL, LARGE_WINDOW, OFFERED, plain
from core.agents.claude_code.records import detail
from core.resume import Known, Overrides, Resume
from core.session import Session

FLAG = "command line"

PROVIDER = "anthropic"
WIRE = "anthropic-messages"

MADE_UP = "<synthetic>"
"""The model on replies that the client wrote itself."""


def resume(session: Session, overrides: Overrides, newest_client: str) -> Resume:
    """The circumstances of a resume, each with its source; what the person said comes first."""
    model = _model(session) if overrides.model is None else Known(overrides.model.removeprefix("anthropic/"), FLAG)
    window, max_output = _limits(model)
    return Resume(
        client_version=_version(overrides, newest_client),
        provider=Known(PROVIDER, "the client's own"),
        model=model,
        wire=Known(overrides.wire, FLAG) if overrides.wire is not None else Known(WIRE, "the client's own"),
        window=window if overrides.window is None else Known(overrides.window, FLAG),
        max_output=max_output,
    )


def _version(overrides: Overrides, newest_client: str) -> Known[str]:
    """The version said on the command line, else the one installed here, else the newest known."""
    if overrides.client_version is not None:
        return Known(overrides.client_version, FLAG)
    return overrides.installed or Known(newest_client, "default: the newest known")


def _model(session: Session) -> Known[str] | None:
    """The model of the last reply that no client made up; the default where 2.1.332 does not offer that model."""
    for line in reversed(detail(session).path):
        if line.entry.kind == "assistant" and line.model and line.model != MADE_UP and not line.api_error:
            source = f"session, line {line.entry.line} (reply)"
            if plain(line.model) in OFFERED:
                return Known(line.model, source)
            return Known(DEFAULT_MODEL, f"the client's default, as it does not offer {line.model} ({source})")
    return None


def _limits(model: Known[str] | None) -> tuple[Known[int] | None, Known[int] | None]:
    if model is None:
        return None, None
    from core.models import max_output_of, window_of

    name = plain(model.value)
    window = window_of(PROVIDER, name)
    if name != model.value:
        window = Known(1_000_000, f"the model's name ends in {LARGE_WINDOW}")
    return window, max_output_of(PROVIDER, name)
