"""Which records of the path the model gets, as what message, and with which content: compaction, edits, wrappers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from core.agents.pi.client import Client
from core.agents.pi.heads import identity
from core.agents.pi.javascript import field_text, truthy
from core.agents.pi.messages import Message, MessageRole, Part
from core.agents.pi.records import detail, record
from core.errors import ClientRefuses
from core.session import Entry, Session
from core.view import Mark

SUMMARY = (
    "The conversation history before this point was compacted into the following summary:\n\n<summary>\n",
    "\n</summary>",
)
BRANCH_SUMMARY = (
    "The following is a summary of a branch that this conversation came back from:\n\n<summary>\n",
    "</summary>",
)

EDITABLE = ("user", "assistant", "toolResult", "custom")
"""Roles whose content a `context_edit` can replace."""

_ABSENT = object()


@dataclass
class Context:
    """The messages that pi takes from the path, before any wire changes them."""

    messages: list[Message] = field(default_factory=list[Message])
    warnings: list[str] = field(default_factory=list[str])


def selected(session: Session, path: tuple[Entry, ...] | None = None) -> tuple[Entry, ...]:
    """The entries of the path that count: all, or the newest compaction, what it keeps, and what follows it.

    A compaction whose first kept entry is not on the path before it keeps nothing; that is no error for pi.
    """
    path = detail(session).path if path is None else path
    last = next((at for at in range(len(path) - 1, -1, -1) if path[at].kind == "compaction"), None)
    if last is None:
        return path
    first_id = identity(record(session, path[last]).get("firstKeptEntryId"), 0)
    first = next((at for at in range(last) if path[at].id == first_id), last)
    kept = tuple(entry for entry in path[first:last] if entry.role != "system")
    return (path[last], *kept, *path[last + 1 :])


def context(session: Session, client: Client) -> Context:
    """The messages of the selected entries, edited as this client would. Raises ClientRefuses."""
    stored = detail(session)
    entries = selected(session, stored.path if client.modern or session.leaf is not None else stored.forgotten)
    out = Context()
    edits = _edits(session, entries, out) if client.edits else {}
    for number, entry in enumerate(entries):
        if entry.kind in ("message", "custom_message", "branch_summary", "compaction"):
            if entry.kind == "compaction" and number:
                continue
            edit = edits.get(entry.id)
            out.messages.extend(_Reader(session, client, entry, edit, out.warnings).messages())
    return out


def messages_of(session: Session, client: Client, entry: Entry) -> tuple[Message, ...]:
    """The messages of one entry by itself, without any edit. Raises ClientRefuses."""
    return tuple(_Reader(session, client, entry, None, []).messages())


def _edits(session: Session, entries: tuple[Entry, ...], out: Context) -> dict[str, tuple[Entry, Any]]:
    """Target → the last edit of it among the selected entries, with its replacement."""
    edits: dict[str, tuple[Entry, Any]] = {}
    ids = {entry.id for entry in entries}
    for entry in entries:
        if entry.kind == "context_edit":
            stored = record(session, entry)
            target = identity(stored.get("targetId"), 0)
            if target is None or target not in ids:
                out.warnings.append(f"line {entry.line}: this edit has no effect: its target is not in the view")
                continue
            edits[target] = (entry, stored.get("replacement", _ABSENT))
    return edits


@dataclass
class _Reader:
    """Turns one entry into the message that pi makes of it."""

    session: Session
    client: Client
    entry: Entry
    edit: tuple[Entry, Any] | None
    warnings: list[str]

    def messages(self) -> Iterator[Message]:
        if self.edit is not None and self.edit[1] is None:
            return
        stored = record(self.session, self.entry)
        if self.entry.kind == "compaction":
            if "retainedTail" in stored:
                self._warn("the compaction's retainedTail is ignored: no version of pi reads it")
            yield self._text(wrapped(SUMMARY, stored), "summary")
        elif self.entry.kind == "branch_summary":
            if truthy(stored.get("summary")):
                yield self._text(wrapped(BRANCH_SUMMARY, stored), "branch_summary")
        elif self.entry.kind == "custom_message":
            message = {"role": "custom", "content": stored.get("content"), "timestamp": self._milliseconds()}
            yield self._message("user", message, "custom")
        else:
            yield from self._of_message(stored.get("message"))

    def _of_message(self, message: Any) -> Iterator[Message]:
        if message is None:
            raise self._refusal("a message record without a message")
        role = message.get("role") if isinstance(message, dict) else None
        if role == "bashExecution":
            if not truthy(message.get("excludeFromContext")):
                yield self._text(shell_text(message), "shell", message)
        elif role == "custom":
            yield self._message("user", message, "custom")
        elif role in ("user", "assistant", "toolResult"):
            yield self._message(role, message, "")
        elif role == "branchSummary":
            yield self._text(wrapped(BRANCH_SUMMARY, message), "branch_summary", message)
        elif role == "compactionSummary":
            yield self._text(wrapped(SUMMARY, message), "custom", message)
        elif role != "system":
            self._warn(f"a message of the unknown role {str(role)!r} is left out")

    def _message(self, role: MessageRole, message: dict[str, Any], mark: Mark) -> Message:
        content, edit = message.get("content"), ""
        custom = message.get("role") == "custom" and self.entry.kind == "message"
        if self.edit is not None and message.get("role") in EDITABLE:
            content, edit = self._replacement(), self.edit[0].id
            if role != "user" and isinstance(content, str):
                content = [{"type": "text", "text": content}]
        return Message(
            role=role,
            content=self._content(role, content),
            entry=self.entry.id,
            line=self.entry.line,
            edit=edit,
            mark=mark,
            fields=message,
            null_content=content is None and (custom or bool(edit)),
        )

    def _replacement(self) -> Any:
        assert self.edit is not None
        entry, replacement = self.edit
        if replacement is _ABSENT:
            raise ClientRefuses(f"line {entry.line}: a context edit without a replacement: pi fails at it")
        return replacement.get("content") if isinstance(replacement, dict) else None

    def _content(self, role: MessageRole, content: Any) -> str | tuple[Part, ...]:
        if content is None and self.client.modern:
            return ()
        if isinstance(content, str) and role == "user":
            return content
        if not isinstance(content, list):
            words = "null" if content is None else "a plain string" if isinstance(content, str) else "no list"
            raise self._refusal(f"the content of the {role} message is {words}")
        return tuple(self._part(part, index) for index, part in enumerate(content))

    def _part(self, part: Any, index: int) -> Part:
        if part is None:
            raise self._refusal(f"part {index} of the content is null")
        return Part(part if isinstance(part, dict) else {}, index)

    def _text(self, text: str, mark: Mark, message: dict[str, Any] | None = None) -> Message:
        part = Part({"type": "text", "text": text}, 0)
        fields = {"timestamp": self._milliseconds()} if message is None else message
        return Message("user", (part,), self.entry.id, self.entry.line, "", mark, fields=fields)

    def _milliseconds(self) -> float | None:
        return None if self.entry.time is None else self.entry.time * 1000

    def _warn(self, words: str) -> None:
        self.warnings.append(f"line {self.entry.line} ({self.entry.id}): {words}")

    def _refusal(self, words: str) -> ClientRefuses:
        return ClientRefuses(f"line {self.entry.line}: {words}: pi cannot send it")


def wrapped(wrapper: tuple[str, str], holder: dict[str, Any]) -> str:
    """The text that goes out for a summary."""
    return wrapper[0] + field_text(holder, "summary") + wrapper[1]


def shell_text(message: dict[str, Any]) -> str:
    """The user message that stands for a shell command of the user."""
    text = f"Ran `{field_text(message, 'command')}`\n"
    text += f"```\n{field_text(message, 'output')}\n```" if truthy(message.get("output")) else "(no output)"
    code = message.get("exitCode")
    if truthy(message.get("cancelled")):
        text += "\n\n(command cancelled)"
    elif code is not None and (code is False or code != 0):
        text += f"\n\nCommand exited with code {field_text(message, 'exitCode')}"
    if truthy(message.get("truncated")) and truthy(message.get("fullOutputPath")):
        text += f"\n\n[Output truncated. Full output: {field_text(message, 'fullOutputPath')}]"
    return text
