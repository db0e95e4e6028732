"""A message on its way from the file to the wire: pi's own message type, with the place of every part."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

from core.errors import ClientRefuses
from core.view import Mark, Origin, Source

MessageRole = Literal["user", "assistant", "toolResult"]


class Part(NamedTuple):
    """One part of a content list."""

    value: Mapping[str, Any]
    """The part as stored, or as pi has changed it on the way."""
    number: int
    """Its number in the stored list."""

    @property
    def kind(self) -> Any:
        return self.value.get("type")


@dataclass(frozen=True, slots=True)
class Message:
    """One message that pi would hand to a provider."""

    role: MessageRole
    content: str | Sequence[Part]
    entry: str
    """The id of the entry that it comes from."""
    line: int
    edit: str = ""
    """The id of the `context_edit` entry that gave it its content, if one did."""
    mark: Mark = ""
    origin: Origin = "stored"
    fields: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The stored message, for its provider, api, model, stopReason, usage, timestamp, toolCallId, toolName, isError."""
    null_content: bool = False
    """True where the content is null in a way that pi mends only after it has sized the request."""

    @property
    def parts(self) -> Sequence[Part]:
        """The parts; a plain string is one text."""
        return (Part({"type": "text", "text": self.content}, 0),) if isinstance(self.content, str) else self.content

    def with_content(self, content: Iterable[Part]) -> Message:
        """The same message with other parts."""
        return replace(self, content=tuple(content))

    def source(self, index: int) -> tuple[Source, ...]:
        """Where the part with this number stands: in the entry, and in the edit that replaced it."""
        own = Source(self.entry, index)
        return (own, Source(self.edit, index)) if self.edit else (own,)

    def text_of(self, part: Part) -> str:
        """The text of a text part. Raises ClientRefuses where pi would fail at it."""
        text = part.value.get("text")
        if not isinstance(text, str):
            raise ClientRefuses(f"line {self.line}: part {part.number} is a text without text: pi fails at it")
        return text

    def thought_of(self, part: Part) -> str:
        """The text of a thinking part. Raises ClientRefuses where pi would fail at it."""
        text = part.value.get("thinking")
        if not isinstance(text, str):
            raise ClientRefuses(f"line {self.line}: part {part.number} is thinking without text: pi fails at it")
        return text


@dataclass(frozen=True, slots=True)
class Target:
    """The model that the request goes to."""

    provider: str | None
    model: str | None
    wire: str
    image_input: bool

    def wrote(self, message: Message) -> bool:
        """Whether this very model, over this wire, wrote the message: only then its thinking is valid."""
        fields = message.fields
        return (
            self.model is not None
            and fields.get("provider") == self.provider
            and fields.get("api") == self.wire
            and fields.get("model") == self.model
        )
