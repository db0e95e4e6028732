"""What the APIs demand of a conversation; a request that breaks it is refused with status 400.

Sources: the public API references and error reports, as of November 2026. Compatible servers differ: some are
stricter, some look less closely.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from core.agents.openai_messages.content import text_of
from core.agents.openai_messages.heads import OUTPUTS
from core.agents.openai_messages.view import Told, told
from core.resume import Resume
from core.session import Damage, Entry, Session
from core.view import Item

REFUSED = "the API refuses the request (400)"
SOME_REFUSE = "some servers refuse the request"

MOST_CACHE_MARKS = 4
"""Of Anthropic's API."""

PREFIXES = {"message": "msg_", "function_call": "fc_", "reasoning": "rs_"}
"""Type of a Responses item → how its own id begins."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A rule that an entry breaks."""

    entry: Entry
    kind: str
    message: str
    client: str = REFUSED


@dataclass
class Rules:
    """Sees the entries of a path one after another and tells which rules of one API they break."""

    wire: str
    faults: list[Fault] = field(default_factory=list[Fault])
    open_calls: dict[str, Entry] = field(default_factory=dict[str, Entry])
    """Calls that have no result yet."""
    before: Told | None = None
    cache_marks: int = 0

    def see(self, told: Told) -> None:
        """The next entry of the path."""
        if self.wire == "openai-responses":
            self._responses(told)
        elif self.wire == "anthropic-messages":
            self._anthropic(told)
        else:
            self._chat(told)
        self.before = Told(told.entry, _kept(told.value), [_light(item) for item in told.items])

    def end(self) -> list[Fault]:
        """All faults, in the order of the path."""
        last = self.before.items if self.before is not None else ()
        if all(item.kind in ("tool_call", "tool_result") for item in last):
            client = "the API refuses the request (400) until the result follows"
            self._unanswered("its result is not there yet", client, "in-flight-call")
        else:
            self._unanswered("the session went on without it")
        if self.wire == "anthropic-messages":
            self._anthropic_end()
        return self.faults

    def _fault(self, entry: Entry, kind: str, message: str, client: str = REFUSED) -> None:
        self.faults.append(Fault(entry, kind, message, client))

    def _unanswered(self, words: str, client: str = REFUSED, kind: str = "unanswered-call") -> None:
        for call_id, entry in self.open_calls.items():
            self._fault(entry, kind, f"the call {call_id!r} has no result: {words}", client)
        self.open_calls.clear()

    def _open(self, told: Told) -> None:
        for item in told.items:
            if item.kind == "tool_call" and not item.at_server:
                if item.call_id in self.open_calls:
                    self._fault(told.entry, "duplicate-call", f"the id {item.call_id!r} names two open calls")
                self.open_calls[item.call_id] = told.entry

    def _close(self, told: Told, words: str) -> None:
        for item in told.items:
            if item.kind == "tool_result" and self.open_calls.pop(item.call_id, None) is None:
                self._fault(told.entry, "orphaned-result", f"the result of {item.call_id!r} {words}")

    def _chat(self, told: Told) -> None:
        """An assistant's calls are answered at once, each by one tool message."""
        entry, value = told.entry, told.value
        if entry.role in ("tool", "function"):
            self._close(told, "answers no open call of the assistant message before it")
            if entry.role == "tool" and not (isinstance(value, dict) and value.get("tool_call_id")):
                self._fault(entry, "no-call-id", "a tool message without tool_call_id")
        else:
            self._unanswered("another message follows before it")
            self._open(told)
        if not isinstance(value, dict):
            return
        if value.get("tool_calls") == []:
            self._fault(entry, "empty-calls", "an empty list of tool_calls", SOME_REFUSE)
        if value.get("content") is None and entry.role in ("user", "tool", "system", "developer"):
            self._fault(entry, "no-content", f"a {entry.role} message without content")
        if value.get("content") in ("", []) and entry.role == "tool":
            self._fault(entry, "no-content", "a tool message with empty content", SOME_REFUSE)

    def _responses(self, told: Told) -> None:
        """Outputs come after their calls; reasoning stays with the item that followed it."""
        entry, value = told.entry, told.value
        not_its_own = entry.role in ("user", "system", "developer") or entry.kind in OUTPUTS
        if not_its_own and self.before is not None and self.before.entry.kind == "reasoning":
            self._fault(self.before.entry, "lone-reasoning", "reasoning without the item that followed it")
        self._open(told)
        self._close(told, "answers no call before it")
        if not isinstance(value, dict):
            return
        kind, own = value.get("type") or "message", value.get("id")
        prefix = PREFIXES.get(kind if isinstance(kind, str) else "")
        if prefix and isinstance(own, str) and own and not own.startswith(prefix):
            self._fault(entry, "wrong-id", f"the id {own!r} of a {kind} should begin with {prefix}", SOME_REFUSE)

    def _anthropic(self, told: Told) -> None:
        """An assistant's calls are answered in the very next message, a user message, results first."""
        entry = told.entry
        self.cache_marks += sum(1 for block in _blocks(told.value) if block.get("cache_control"))
        if entry.role == "system":
            return
        if entry.role == "user":
            self._close(told, "answers no call of the message before it")
            self._results_first(told)
            self._unanswered("the next message does not hold it")
        else:
            self._unanswered("the next message does not hold it")
            self._open(told)
            # A server's own results stand in the same message as its calls.
            self._close(told, "answers no call before it")
        started = self.before is not None and self.before.entry.role != "system"
        if not started and entry.role != "user" and not any(item.mark == "summary" for item in told.items):
            self._fault(entry, "not-user-first", "the first message is not the user's")
        for block in _blocks(told.value):
            text = text_of(block) if block.get("type") == "text" else None
            if text is not None and not text.strip():
                self._fault(entry, "empty-text", "a text block without text")

    def _results_first(self, told: Told) -> None:
        kinds = [item.kind for item in told.items if item.role == "tool" or item.kind == "text"]
        results = [at for at, kind in enumerate(kinds) if kind == "tool_result"]
        if results and "text" in kinds[: results[-1]]:
            self._fault(told.entry, "text-before-result", "text stands before a tool result")

    def _anthropic_end(self) -> None:
        if self.before is not None and self.cache_marks > MOST_CACHE_MARKS:
            words = f"{self.cache_marks} cache_control marks, {MOST_CACHE_MARKS} are allowed"
            self._fault(self.before.entry, "cache-marks", words)


def _blocks(value: Any) -> Iterator[dict[str, Any]]:
    content = value.get("content") if isinstance(value, dict) else value
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict):
            yield block


def _kept(value: Any) -> Any:
    """Of an entry that has been seen, nothing large is kept."""
    return {name: value[name] for name in ("role", "type", "id") if name in value} if isinstance(value, dict) else None


def _light(item: Item) -> Item:
    return item if len(item.text) < 4096 else Item(item.role, item.kind, item.text[-1:], call_id=item.call_id)


def findings(session: Session, resume: Resume) -> Iterator[Damage]:
    """The rules that a session's path breaks, and what the API does about each. Raises OSError."""
    rules = Rules(resume.wire.value if resume.wire is not None else "")
    for one in told(session):
        rules.see(one)
    for fault in rules.end():
        entry = fault.entry
        words = f"entry {entry.id}: {fault.message}"
        yield Damage(entry.line, entry.offset, entry.length, fault.kind, words, fault.client)
