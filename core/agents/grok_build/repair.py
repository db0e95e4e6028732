"""What grok does to a history when it loads it: calls and results are paired, the rest is left as it is."""

from __future__ import annotations

from dataclasses import replace

from core.agents.grok_build.messages import Call, Message
from core.view import Source


def cancelled(name: str) -> str:
    """The result that grok makes up for a call without one."""
    return f"Tool execution was cancelled by the user (tool `{name}` was not executed)."


def paired(messages: list[Message]) -> list[Message]:
    """The history with one result for each call: of several in the run behind the calls, the last one is kept."""
    out: list[Message] = []
    at = 0
    while at < len(messages):
        message = messages[at]
        out.append(message)
        at += 1
        if message.kind != "assistant" or not message.calls:
            continue
        start = at
        while at < len(messages) and messages[at].kind == "tool_result":
            at += 1
        run = messages[start:at]
        last = {result.call_id: place for place, result in enumerate(run)}
        out += [result for place, result in enumerate(run) if last[result.call_id] == place]
        unanswered: dict[str, Call] = {}
        for call in message.calls:
            if call.id not in last:
                unanswered.pop(call.id, None)  # of calls with one id, the last one counts
                unanswered[call.id] = call
        out += [
            Message("tool_result", call.source, cancelled(call.name), call_id=call.id, origin="repair")
            for call in unanswered.values()
        ]
    return out


def dropped(messages: list[Message]) -> list[Source]:
    """The results that `paired` leaves out: a later one answers the same call."""
    kept = {id(message) for message in paired(messages)}
    return [message.source for message in messages if id(message) not in kept]


def copied(messages: list[Message]) -> list[Message]:
    """Messages that may be changed without changing these."""
    return [replace(message, parts=list(message.parts)) for message in messages]
