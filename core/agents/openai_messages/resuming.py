"""How a conversation would be sent on: which model, over which API, with which window."""

from __future__ import annotations

from core.agents.openai_messages.heads import Wire
from core.agents.openai_messages.records import detail, field_value
from core.resume import Known, Overrides, Resume
from core.session import Session

FLAG = "command line"

OWN_PROVIDER: dict[str, str] = {
    "openai-completions": "openai",
    "openai-responses": "openai",
    "anthropic-messages": "anthropic",
}
"""Whose API it is."""

OTHER_NAMES: dict[str, Wire] = {
    "chat": "openai-completions",
    "completions": "openai-completions",
    "responses": "openai-responses",
    "anthropic": "anthropic-messages",
    "messages": "anthropic-messages",
}
"""Shorter names that `--wire` takes."""


def resume(session: Session, overrides: Overrides, version: str) -> Resume:
    """The circumstances of the next request, each with its source; what the person said comes first."""
    known = detail(session)
    wire: Known[str] = Known(known.wire, known.wire_reason)
    if overrides.wire is not None:
        wire = Known(OTHER_NAMES.get(overrides.wire, overrides.wire), FLAG)
    model = _model(session) if overrides.model is None else Known(overrides.model, FLAG)
    provider, model, window, max_output = _limits(model, wire.value)
    client = Known(version, "there is no client: by the definition of the API")
    return Resume(
        client_version=client if overrides.client_version is None else Known(overrides.client_version, FLAG),
        provider=provider,
        model=model,
        wire=wire,
        window=window if overrides.window is None else Known(overrides.window, FLAG),
        max_output=max_output,
    )


def _model(session: Session) -> Known[str] | None:
    """The model of the request, else that of the last message that names one."""
    known = detail(session)
    value = field_value(session, "model")
    if isinstance(value, str) and value:
        return Known(value, f"session, line {known.fields['model'].line} (model)")
    for entry in reversed(known.path):
        facts = known.facts.get(entry.id)
        if facts is not None and facts.model:
            return Known(facts.model, f"session, line {entry.line} (message)")
    return None


Limits = tuple[Known[str] | None, Known[str] | None, Known[int] | None, Known[int] | None]


def _limits(model: Known[str] | None, wire: str) -> Limits:
    """Provider, model, window and longest reply, as far as the table of models knows them."""
    if model is None:
        return None, None, None, None
    from core.models import limits_of, max_output_of, table, window_of

    own = OWN_PROVIDER.get(wire, "openai")
    head, bar, rest = model.value.partition("/")
    pairs = [(own, model.value)]
    if bar and rest:
        pairs.append((head, rest))
    pairs += [(provider, model.value) for provider in dict.fromkeys(provider for provider, _ in table())]
    for provider, name in pairs:
        if limits_of(provider, name) is not None:
            source = "whose API it is" if provider == own else "the table of models has this model there"
            return (
                Known(provider, source),
                Known(name, model.source),
                window_of(provider, name),
                max_output_of(provider, name),
            )
    return None, model, None, None
