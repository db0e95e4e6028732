"""What the client makes up and leaves out so that every call has its result, as Claude Code 2.1.332 does it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from core.agents.claude_code.messages import Block, Message
from core.view import Source

MISSING = "[Tool result missing due to internal error]"
"""For a call whose result stands in another place."""

INTERRUPTED_CALL = (
    "[Tool call interrupted: the session ended before this call's result was recorded, so its outcome is unknown. "
    "Check whether it took effect before relying on it or running it again.]"
)
"""For an unanswered call at the end of the session."""

NO_CONTENT = "(no content)"
"""For a message without content, and a user message that has lost all its blocks."""

INTERRUPTED = "[Tool use interrupted]"
"""For a reply that has lost all its blocks."""

NO_RESPONSE = "No response requested."
"""The reply that is made up where the session ends with a message of the user."""


@dataclass
class Pairing:
    """One pass over the messages, in order."""

    out: list[Message] = field(default_factory=list[Message])
    warnings: list[str] = field(default_factory=list[str])
    called: set[str] = field(default_factory=set[str])
    waiting: list[Block] = field(default_factory=list[Block])
    """The calls of the last reply."""

    def reply(self, message: Message) -> None:
        """A reply: a call whose id was used before is left out."""
        self.answer_rest(MISSING)
        kept: list[Block] = []
        for block in message.blocks:
            if block.kind == "tool_call":
                if block.call_id in self.called:
                    self._warn(block, f"the call id {block.call_id!r} is used again: the client leaves it out")
                    continue
                self.called.add(block.call_id)
                self.waiting.append(block)
            kept.append(block)
        self._add(message, kept, INTERRUPTED)

    def user(self, message: Message) -> None:
        """A user message: results stay that answer a call of the reply just before, the first one each."""
        kept: list[Block] = []
        answered: set[str] = set()
        wanted = {call.call_id for call in self.waiting}
        for block in message.blocks:
            if block.kind == "tool_result":
                if block.call_id not in wanted or block.call_id in answered:
                    self._warn(block, f"the result of {block.call_id!r} answers no call: the client leaves it out")
                    continue
                answered.add(block.call_id)
            kept.append(block)
        made_up = [_made_up(call, MISSING) for call in self.waiting if call.call_id not in answered]
        self.waiting = []
        results = [block for block in kept if block.kind == "tool_result"]
        rest = [block for block in kept if block.kind != "tool_result"]
        self._add(message, [*made_up, *results, *rest], NO_CONTENT)

    def answer_rest(self, words: str) -> None:
        """Make up results for the calls of the last reply."""
        if self.waiting:
            self.out.append(Message("user", [_made_up(call, words) for call in self.waiting]))
            self.waiting = []

    def end(self) -> None:
        """The end of the session: what still waits was interrupted."""
        last = self.out[-1] if self.out else None
        self.answer_rest(INTERRUPTED_CALL)
        for block in last.blocks if last is not None and last.role == "user" else ():
            if block.origin == "repair" and block.kind == "tool_result":
                block.text = INTERRUPTED_CALL

    def _add(self, message: Message, blocks: list[Block], filler: str) -> None:
        if not blocks:
            blocks = [Block("text", {}, message.blocks[0].source if message.blocks else (), "", "repair", filler)]
        self.out.append(Message(message.role, blocks, message.id, message.model))

    def _warn(self, block: Block, words: str) -> None:
        self.warnings.append(f"{block.source[0].entry}: {words}")


def paired(messages: Sequence[Message]) -> Pairing:
    """The messages with every call answered once, in the message right behind it; the blocks' order is kept."""
    pairing = Pairing()
    for message in messages:
        if message.role == "assistant" and all(block.origin == "repair" for block in message.blocks):
            pairing.end()
            pairing.out.append(message)
        elif message.role == "assistant":
            pairing.reply(message)
        elif message.role == "user":
            pairing.user(message)
        else:
            pairing.answer_rest(MISSING)
            pairing.out.append(message)
    pairing.end()
    return pairing


def _made_up(call: Block, words: str) -> Block:
    source: tuple[Source, ...] = call.source
    return Block("tool_result", {"tool_use_id": call.call_id, "is_error": True}, source, "", "repair", words)
