"""A history made anew from updates.jsonl, as grok makes it where chat_history.jsonl is missing or empty.

Much is lost: no system prompt, no reasoning, prompts unwrapped, results from the words that were displayed. A call at
the start of a turn comes before its prompt, and what was rolled back comes back: so does grok itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from core.agents.grok_build.images import picture
from core.agents.grok_build.messages import Call, Message, Part
from core.agents.grok_build.records import history_entries, value
from core.session import Session
from core.view import Source

OWN_METHOD = "_x.ai/session/update"

STATUSES = frozenset({"pending", "in_progress", "completed", "failed"})
"""Of a tool call; an update with another one is skipped."""


def rebuilt_messages(session: Session) -> list[Message]:
    """The history as grok would rebuild it, with the newest checkpoint as its beginning."""
    return reduced((entry.id, value(session, entry)) for entry in history_entries(session))


def reduced(updates: Iterable[tuple[str, Any]]) -> list[Message]:
    """The items that updates, each with the name of its entry, amount to."""
    reducer = _Reducer()
    for entry, stored in updates:
        reducer.take(entry, stored)
    reducer.end()
    return reducer.messages


def is_checkpoint(update: dict[str, Any]) -> bool:
    """Whether an update of grok's own marks a compaction; a damaged one is skipped."""
    texts = ("checkpoint_id", "checkpoint_file", "created_at")
    return (
        update.get("sessionUpdate") == "compaction_checkpoint"
        and all(isinstance(update.get(name), str) for name in texts)
        and isinstance(update.get("prompt_index_at_compaction"), int)
    )


class _Reducer:
    """Joins the pieces in which prompts, answers and calls were told."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.prompt: list[Part] = []
        self.is_prompt = False
        self.answer: Message | None = None
        self.arguments: dict[str, str] = {}
        self.answered: set[str] = set()

    def take(self, entry: str, stored: Any) -> None:
        """One update."""
        if not isinstance(stored["params"].get("sessionId"), str):
            return
        update = stored["params"]["update"]
        kind = update.get("sessionUpdate")
        if stored.get("method") == OWN_METHOD:
            if is_checkpoint(update):
                self.__init__()
        elif kind in ("user_message_chunk", "agent_message_chunk"):
            meta = update.get("_meta")
            if isinstance(meta, dict) and meta.get("hostTurn") is True:
                self._end_prompt()
                self._end_answer()
            else:
                (self._asked if kind == "user_message_chunk" else self._answered)(entry, _dict(update.get("content")))
        elif kind == "tool_call":
            self._called(entry, update)
        elif kind == "tool_call_update":
            self._told(entry, update)

    def end(self) -> None:
        """No more updates."""
        self._end_prompt()
        self._end_answer()

    def _asked(self, entry: str, content: dict[str, Any]) -> None:
        if not self.is_prompt:
            self._end_answer()
            self.is_prompt = True
        text, address = content.get("text"), content.get("uri")
        if content.get("type") == "text" and isinstance(text, str):
            self.prompt.append(Part(Source(entry, 0), text))
        elif content.get("type") == "image" and isinstance(address, str):
            self.prompt.append(Part(Source(entry, 0), picture=picture(address)))

    def _answered(self, entry: str, content: dict[str, Any]) -> None:
        if self.is_prompt:
            self._end_prompt()
        text = content.get("text")
        if content.get("type") == "text" and isinstance(text, str):
            self._current(entry).text += text

    def _called(self, entry: str, update: dict[str, Any]) -> None:
        if not isinstance(update.get("title"), str) or update.get("status", "pending") not in STATUSES:
            return
        call_id, arguments = _text(update.get("toolCallId")), _json(update.get("rawInput"))
        self.arguments[call_id] = arguments
        answer = self._current(entry)
        answer.calls.append(Call(Source(entry, 0), call_id, _text(update.get("title")), arguments))

    def _told(self, entry: str, update: dict[str, Any]) -> None:
        call_id = _text(update.get("toolCallId"))
        if update.get("rawInput") is not None and not self.arguments.get(call_id):
            self._fill_in(call_id, _json(update["rawInput"]))
        if update.get("status") in ("completed", "failed") and call_id not in self.answered:
            self.answered.add(call_id)
            self._end_answer()
            self.messages.append(Message("tool_result", Source(entry, 0), _result(update), call_id=call_id))

    def _fill_in(self, call_id: str, arguments: str) -> None:
        self.arguments[call_id] = arguments
        calls = self.answer.calls if self.answer is not None else []
        for at, call in enumerate(calls):
            if call.id == call_id:
                calls[at] = Call(call.source, call.id, call.name, arguments)
                return

    def _current(self, entry: str) -> Message:
        if self.answer is None:
            self.answer = Message("assistant", Source(entry, 0))
        return self.answer

    def _end_prompt(self) -> None:
        self.is_prompt = False
        if self.prompt:
            self.messages.append(Message("user", self.prompt[0].source, parts=self.prompt))
            self.prompt = []

    def _end_answer(self) -> None:
        if self.answer is not None:
            self.messages.append(self.answer)
            self.answer = None


def _result(update: dict[str, Any]) -> str:
    """The words of a finished call: what was displayed, else what it gave as JSON."""
    shown = update.get("content")
    text = "".join(_texts(shown)) if isinstance(shown, list) else ""
    return text or (_json(update["rawOutput"]) if update.get("rawOutput") is not None else "")


def _texts(shown: list[Any]) -> Iterator[str]:
    for one in shown:
        content = one.get("content") if isinstance(one, dict) and one.get("type") == "content" else None
        if isinstance(content, dict) and content.get("type") == "text" and isinstance(content.get("text"), str):
            yield content["text"]


def _json(value: Any) -> str:
    return "" if value is None else msgspec.json.encode(value).decode()


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
