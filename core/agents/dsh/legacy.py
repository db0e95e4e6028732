"""Older shapes of events that dsh 0.1.0-rc.8 still reads: each becomes today's shape as it is loaded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.agents.dsh.shapes import Misfit, is_whole

STEERING = "steering/message"

PLAIN_ENDINGS = frozenset({"completed", "blocked", "max-tokens", "interrupted", "disposed"})
"""Reasons of a turn's end that carry nothing else."""

_FAILURE = frozenset({"message", "code"})
_FAILURE_MORE = frozenset({"status", "providerRetryAfterMs", "requestId"})


def legacy_id(session: str, seq: int) -> str:
    """The id that dsh gives a message that was stored without one."""
    return f"legacy-message:{session}:{seq}"


def migrated(kind: str, seq: int, data: Any, session: str, replaced_id: str | None = None) -> tuple[str, Any]:
    """A message event's type and data in today's shape; others unchanged. Raises Misfit.

    `replaced_id` is the id of the message that the event replaces, where it replaces one that is known.
    """
    if kind == STEERING:
        return "user/message", _message(_steering(seq, data, session), seq, session)
    if kind == "user/message":
        return kind, _message(data, seq, session)
    if not isinstance(data, dict) or "message" in data or "content" not in data:
        return kind, data
    rest = dict(data)
    if kind == "assistant/message" and "provenance" in data:
        origin = rest.pop("provenance")
        source = {**(origin if isinstance(origin, dict) else {}), "kind": "model"}
        content = rest.pop("content")
        rest["message"] = {
            "id": legacy_id(session, seq), "role": "assistant", "content": content, "source": source,
        }  # fmt: skip
    elif kind == "tool/result" and "callId" in data and "isError" in data:
        call, content, is_error = rest.pop("callId"), rest.pop("content"), rest.pop("isError")
        block = {"type": "tool-result", "toolCallId": call, "content": content, "isError": is_error}
        rest["message"] = {
            "id": legacy_id(session, seq) if replaced_id is None else replaced_id,
            "role": "user", "content": [block], "source": {"kind": "tool", "callId": call},
        }  # fmt: skip
    return kind, rest


def _message(data: Any, seq: int, session: str) -> Any:
    """A user's message, with an id and a role."""
    if (
        not isinstance(data, dict)
        or data.keys() & {"id", "role", "message"}
        or not data.keys() >= {"content", "source"}
    ):
        return data
    return {**data, "id": legacy_id(session, seq), "role": "user"}


def _steering(seq: int, data: Any, session: str) -> Any:
    """What was called steering is a user's message."""
    if isinstance(data, dict) and is_whole(data.get("turn")):
        if data.keys() == {"turn", "message"} and isinstance(data["message"], dict):
            return data["message"]
        if data.keys() == {"turn", "content", "source"}:
            return {"content": data["content"], "source": data["source"]}
    raise Misfit(f'session "{session}" contains malformed pre-react-loop steering/message at seq {seq}')


def check_turn_start(seq: int, data: Any, session: str) -> None:
    """Raises Misfit where an older start of a turn is not as it was."""
    if not isinstance(data, dict) or "trigger" not in data:
        return
    trigger = data["trigger"]
    named = isinstance(trigger, dict) and isinstance(trigger.get("kind"), str) and trigger["kind"] != ""
    if not (named and data.keys() == {"turn", "trigger"} and _is_turn(data["turn"])):
        raise Misfit(f'session "{session}" contains malformed pre-react-loop turn/start at seq {seq}')


def check_turn_end(seq: int, data: Any, session: str) -> None:
    """Raises Misfit where the end of a turn is neither of today nor of old."""
    if not isinstance(data, dict):
        return
    reason = data.get("reason")
    fits = data.keys() == {"turn", "reason"} and _is_turn(data["turn"]) and isinstance(reason, dict)
    if not fits or not isinstance(reason, dict) or not _ends_well(reason):
        raise Misfit(f'session "{session}" contains malformed pre-react-loop turn/end at seq {seq}')


def _is_turn(value: Any) -> bool:
    return is_whole(value) and value >= 1


def _ends_well(reason: Mapping[str, Any]) -> bool:
    kind, keys = reason.get("kind"), set(reason)
    if not isinstance(kind, str):
        return False
    if kind in PLAIN_ENDINGS:
        return keys == {"kind"}
    if kind == "aborted":
        return "reason" in keys or keys == {"kind"}
    if kind != "error" or "error" in keys:
        return True
    if not is_whole(reason.get("step")) or reason["step"] < 0:
        return False
    failure = reason.get("failure")
    if keys == {"kind", "step", "failure"} and isinstance(failure, dict):
        named = isinstance(failure.get("message"), str) and isinstance(failure.get("code"), str)
        return named and _FAILURE <= failure.keys() <= _FAILURE | _FAILURE_MORE
    texts = isinstance(reason.get("message"), str) and isinstance(reason.get("code", ""), str)
    return texts and keys in ({"kind", "step", "message"}, {"kind", "step", "message", "code"})
