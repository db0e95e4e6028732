"""How pi would resume a session: which model, over which wire, with which window."""

from __future__ import annotations

from core.agents.pi.records import WIRES, Detail, detail, record
from core.resume import Known, Overrides, Resume
from core.session import Session

USUAL_WIRE = {"anthropic": "anthropic-messages", "openai": "openai-responses"}
"""The wire of a provider of which the session holds no reply."""

OTHER_WIRE = "openai-completions"

FLAG = "command line"


def resume(session: Session, overrides: Overrides, newest_client: str) -> Resume:
    """The circumstances of a resume, each with its source; what the person said comes first."""
    stored = detail(session)
    provider, model = _named(session, stored) if overrides.model is None else _asked(stored, session, overrides.model)
    wire = Known(overrides.wire, FLAG) if overrides.wire is not None else _wire(stored, provider, model)
    window, max_output = _limits(provider, model)
    return Resume(
        client_version=_version(overrides, newest_client),
        provider=provider,
        model=model,
        wire=wire,
        window=window if overrides.window is None else Known(overrides.window, FLAG),
        max_output=max_output,
    )


def _version(overrides: Overrides, newest_client: str) -> Known[str]:
    """The version said on the command line, else the one installed here, else the newest known."""
    if overrides.client_version is not None:
        return Known(overrides.client_version, FLAG)
    return overrides.installed or Known(newest_client, "default: the newest known")


Pair = tuple[Known[str] | None, Known[str] | None]


def _named(session: Session, stored: Detail) -> Pair:
    """The last model change or reply on the whole path, also in its compacted part."""
    for entry in reversed(stored.path):
        if entry.kind == "model_change":
            value, key = record(session, entry), "modelId"
        elif entry.kind == "message" and entry.role == "assistant":
            value, key = record(session, entry).get("message"), "model"
        else:
            continue
        source = f"session, line {entry.line} ({'model change' if key == 'modelId' else 'reply'})"
        provider, model = (value.get("provider"), value.get(key)) if isinstance(value, dict) else (None, None)
        if isinstance(provider, str) and isinstance(model, str) and provider and model:
            return Known(provider, source), Known(model, source)
        return None, None
    return None, None


def _asked(stored: Detail, session: Session, asked: str) -> Pair:
    """A model named on the command line, as `model` or `provider/model`; its provider from the session."""
    provider, model = _named(session, stored)
    if provider is not None and model is not None and model.value == asked:
        return provider, Known(asked, FLAG)
    for named_provider, named_model in reversed(stored.named):
        if asked in (named_model, f"{named_provider}/{named_model}"):
            return Known(named_provider, "session, which names this model"), Known(named_model, FLAG)
    first, bar, rest = asked.partition("/")
    return (Known(first, FLAG), Known(rest, FLAG)) if bar and rest else (None, Known(asked, FLAG))


def _wire(stored: Detail, provider: Known[str] | None, model: Known[str] | None) -> Known[str]:
    """The model list of pi decides; here the `api` of the replies that the session holds."""
    if provider is None or model is None:
        if not stored.named:
            return Known(OTHER_WIRE, "assumed: the session names no model")
        pair = stored.named[-1]
        return Known(_wire_of(stored, *pair)[0], f"assumed: that of {pair[0]}/{pair[1]}, which the session names")
    return Known(*_wire_of(stored, provider.value, model.value))


def _wire_of(stored: Detail, provider: str, model: str) -> tuple[str, str]:
    exact = stored.replies.get((provider, model))
    if exact is not None:
        return exact, "session, replies of this model"
    beside = [wire for (name, _), wire in stored.replies.items() if name == provider]
    if beside:
        return beside[-1], "session, replies of another model of this provider"
    other = stored.other_apis.get((provider, model))
    if other is not None:
        return USUAL_WIRE.get(provider, OTHER_WIRE), f"assumed: {other}, over which it replied, is not modelled"
    return USUAL_WIRE.get(provider, OTHER_WIRE), "usual for this provider"


def _limits(provider: Known[str] | None, model: Known[str] | None) -> tuple[Known[int] | None, Known[int] | None]:
    if model is None:
        return None, None
    from core.models import max_output_of, window_of

    name = provider.value if provider is not None else ""
    return window_of(name, model.value), max_output_of(name, model.value)


assert OTHER_WIRE in WIRES
