"""What dsh demands of a header, a row and a message before it takes them (dsh 0.1.0-rc.8), with its own words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeGuard

from core.agents.dsh.records import PACKED

SAFEST = (1 << 53) - 1
"""The largest whole number that JavaScript tells from its neighbours."""

ENVELOPE = frozenset({"type", "seq", "time", "data", "surfaceOp", "sourceEventSeqs", "ignorable"})
ADAPTER_DEFAULTS = frozenset({"reasoningEffort", "maxTokens"})

_ROW = frozenset({"type", "seq0", "time0", "data"})
_DELTAS = frozenset({"turn", "step", "index", "dt", "texts"})
_CALLS = frozenset({"turn", "step", "index", "id", "dt", "args"})


class Misfit(ValueError):
    """Something that dsh refuses; the message is its own."""


def is_number(value: Any) -> TypeGuard[int | float]:
    """What JavaScript calls a number."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_whole(value: Any) -> TypeGuard[int]:
    """What JavaScript calls a safe integer."""
    return is_number(value) and abs(value) <= SAFEST and value == int(value)


def is_count(value: Any) -> TypeGuard[int]:
    """A safe integer that is not negative."""
    return is_whole(value) and value >= 0


def foreign_version(header: Any) -> str:
    """Why dsh would not read this version of the format; empty where it would."""
    version = header.get("version") if isinstance(header, dict) else None
    if not is_number(version) or version == 0:
        return ""
    start = f'session "{header.get("id")}" uses log format v{version}'
    if version > 0:
        why = "the log was written by a newer harness — upgrade the harness to open it"
        return f"{start}, but this harness reads only v0: {why}"
    return f"{start}, older than the supported v0, and this build ships no upgrade path for it"


def check_header(header: Any) -> None:
    """Raises Misfit where the first line is no header."""
    fits = (
        isinstance(header, dict)
        and header.get("type") == "session"
        and is_number(header.get("version"))
        and isinstance(header.get("id"), str)
        and is_count(header.get("createdAt"))
        and is_count(header.get("delegationDepth"))
        and header.get("origin", "subagent") == "subagent"
        and isinstance(header.get("agentPreset", ""), str)
    )
    if not fits:
        raise Misfit("corrupt session log: first line is not a session header")
    if "sandboxMode" in header or "approvalPolicy" in header:
        raise Misfit("session header uses retired policy baseline fields")


def check_restored(header: Mapping[str, Any]) -> None:
    """What dsh demands of a header beside its shape. Raises Misfit."""
    cwd = header.get("cwd", "/")
    if not isinstance(cwd, str):
        raise Misfit("session header cwd must be a string")
    if not cwd.startswith("/"):
        raise Misfit(f'session header cwd must be an absolute path, got "{cwd}"')
    if not isinstance(header.get("parentSession", ""), str):
        raise Misfit("session header parentSession must be a string")
    if not is_count(header.get("seedLength", 0)):
        raise Misfit("session header seedLength must be a non-negative safe integer")


def members(row: Mapping[str, Any]) -> int:
    """How many events a packed row stands for. Raises Misfit where dsh would not unpack it."""
    tag, data = row["type"], row.get("data")
    keys: frozenset[Any] = frozenset(data) if isinstance(data, dict) else frozenset()
    calls = tag == "tool-call-chunks"
    texts = data.get("args" if calls else "texts") if isinstance(data, dict) else None
    steps = data.get("dt") if isinstance(data, dict) else None
    fits = (
        tag in PACKED
        and frozenset(row) == _ROW
        and is_count(row["seq0"])
        and is_whole(row["time0"])
        and isinstance(data, dict)
        and (keys in (_CALLS, _CALLS | {"name"}) if calls else keys == _DELTAS)
        and (not calls or (isinstance(data["id"], str) and isinstance(data.get("name", ""), str)))
        and all(is_number(data[name]) for name in ("turn", "step", "index"))
        and isinstance(texts, list)
        and texts
        and all(isinstance(text, str) for text in texts)
        and isinstance(steps, list)
        and len(steps) == len(texts) - 1
        and all(is_whole(step) for step in steps)
        and is_whole(row["seq0"] + len(texts) - 1)
    )
    if not fits or texts is None:
        raise Misfit(f"malformed {tag} storage row")
    return len(texts)


def check_message(kind: str, data: Any, subject: str) -> None:
    """Whether a message event can be replayed. Raises Misfit."""
    record = data if isinstance(data, dict) else {}
    message = record if kind == "user/message" else record.get("message")
    if not isinstance(message, dict) or not _is_name(message.get("id")):
        raise Misfit(f"{subject} lacks an identified message")
    role = "assistant" if kind == "assistant/message" else "user"
    if message.get("role") != role:
        raise Misfit(f'{subject} message must have role "{role}"')
    source = message.get("source")
    if not isinstance(source, dict) or not _is_name(source.get("kind")):
        raise Misfit(f"{subject} message has invalid source")
    content = message.get("content")
    if not isinstance(content, list):
        raise Misfit(f"{subject} message has invalid content")
    if kind == "assistant/message" and not (source["kind"] == "model" and has_model(source)):
        raise Misfit(f"{subject} message must have model source")
    if kind == "tool/result":
        _check_result(source, content, subject)


def _check_result(source: Mapping[str, Any], content: list[Any], subject: str) -> None:
    if source["kind"] != "tool" or not _is_name(source.get("callId")):
        raise Misfit(f"{subject} message must have tool source")
    block = content[0] if len(content) == 1 else None
    if not isinstance(block, dict) or block.get("type") != "tool-result" or not isinstance(block.get("content"), list):
        raise Misfit(f"{subject} message must contain one tool-result block")
    if block.get("toolCallId") != source["callId"]:
        raise Misfit(f"{subject} message has mismatched tool call ids")


def has_model(value: Any) -> bool:
    """Whether something names a provider and a model."""
    return isinstance(value, dict) and _is_name(value.get("provider")) and _is_name(value.get("model"))


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and value != ""


def check_request_header(data: Any, index: int) -> None:
    """Raises Misfit where a request's header names no model or has odd settings."""
    where = f"seed request/header at index {index}"
    header = data.get("header") if isinstance(data, dict) else None
    config = header.get("config") if isinstance(header, dict) else None
    if not isinstance(header, dict) or not isinstance(config, dict) or not has_model(config):
        raise Misfit(f"{where} lacks provider/model")
    effort = config.get("reasoningEffort", "any")
    if not _is_name(effort):
        raise Misfit(f"{where} has an invalid reasoningEffort")
    defaults = header.get("adapterDefaults", {})
    fits = isinstance(defaults, dict) and all(
        name in ADAPTER_DEFAULTS and mark is True and name in config for name, mark in defaults.items()
    )
    if not fits:
        raise Misfit(f"{where} has invalid adapterDefaults")


def same(one: Any, other: Any) -> bool:
    """Whether two JSON values are equal as JavaScript compares them, whatever the order of their keys."""
    left = [(one, other)]
    while left:
        a, b = left.pop()
        if isinstance(a, dict) and isinstance(b, dict):
            if a.keys() != b.keys():
                return False
            left += [(value, b[key]) for key, value in a.items()]
        elif isinstance(a, list) and isinstance(b, list):
            if len(a) != len(b):
                return False
            left += zip(a, b, strict=True)
        elif isinstance(a, bool) != isinstance(b, bool) or a != b:
            return False
    return True
