"""From the lines of the conversation to the messages of the request, before calls and results are checked.

What Claude Code 2.1.332 does: context lines of the user's side rise to the reply or result that they follow and are
folded into the result; those of the system's side are gathered behind the user's message of their gap; neighbouring
user lines become one message, results first; the lines of one reply become one message.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from core.agents.claude_code.messages import Block, Message, blocks_of
from core.agents.claude_code.models import Standing, is_foreign, standing_role
from core.agents.claude_code.sent import Sent
from core.jsonl import is_one_of, trim
from core.view import Mark, Source

QUEUED = (
    "The user sent a new message while you were working:\n",
    "\n\nThis is how Claude Code surfaces messages the user sends mid-turn — within the running turn, often alongside "
    "the next tool result, rather than as a separate conversation turn. Address the message above as you continue this "
    "turn.",
)
"""What 2.1.332 writes around a queued message whose line holds no rendered text."""

TOOL_LOADED = "Tool loaded."
"""What 2.1.332 says behind results that bring in tools by their names."""

_REMINDER = re.compile(r"<system-reminder>\n?(.*?)\n?</system-reminder>", re.DOTALL)

NEW_DATE = (
    "<system-reminder>\nThe date has changed. Today's date is now ",
    ". No need to announce the new date — the user's own clock shows it.\n</system-reminder>",
)
"""The same around the date of a `date_change` line."""

WORDED = {
    "queued_command": ("prompt", *QUEUED),
    "date_change": ("newDate", *NEW_DATE),
    "critical_system_reminder": ("content", "<system-reminder>\n", "\n</system-reminder>"),
}
"""Kinds of context lines that are sent without rendered text: the field that holds the text, and what stands around."""

WORDED_BY_CLIENT = "plan_mode"
"""How the kinds begin whose long text only the client knows."""

NEVER_FOLDED = frozenset({"file"})
"""Kinds of context lines that stay texts of their own behind a result."""


@dataclass(slots=True)
class Context:
    """One rendered text of a context line."""

    block: Block
    system: bool
    foldable: bool


@dataclass
class Building:
    """The messages so far, words about what is not shown, and the context lines of the gap that is still open."""

    messages: list[Message] = field(default_factory=list[Message])
    system: list[Block] = field(default_factory=list[Block])
    warnings: list[str] = field(default_factory=list[str])
    standing: Standing = "system"

    def user(self, blocks: Sequence[Block], prompt: bool) -> None:
        """A user line: joined to the user message before it, results first; `prompt`: no result, no context line."""
        if not blocks:
            return
        last = self.messages[-1] if self.messages else None
        if last is None or last.role != "user":
            self.messages.append(Message("user", list(blocks), prompt=prompt))
            return
        last.prompt = last.prompt or prompt
        joined = [*last.blocks, *blocks]
        results = [block for block in joined if block.kind == "tool_result"]
        last.blocks = [*results, *(block for block in joined if block.kind != "tool_result")]

    def context(self, piece: Context) -> None:
        """A context line of the user's side: folded into the result that it follows, else a text of its own."""
        last = self.messages[-1] if self.messages else None
        if piece.foldable and last is not None and last.role == "user" and last.ends_with_result:
            result = last.blocks[-1]
            result.folded.append(trim(piece.block.text))
            result.source += piece.block.source
        else:
            self.user([piece.block], prompt=False)

    def reply(self, blocks: Sequence[Block], own: str, model: str) -> None:
        """A line of a reply: joined to the message of its id, over all but a message in which only the user speaks."""
        for before in reversed(self.messages) if own else ():
            if before.id == own:
                before.blocks.extend(blocks)
                return
            if before.prompt and not any(before.of("tool_result")):
                break
        self.close_gap()
        self.messages.append(Message("assistant", list(blocks), own, model))

    def close_gap(self) -> None:
        """Put the gathered context lines behind the user message of the gap, or let them be one."""
        if not self.system:
            return
        last = self.messages[-1] if self.messages else None
        if last is not None and last.role == "user":
            self.messages.append(Message("system", self.system))
        else:
            for block in self.system:
                if self.standing == "system":
                    block.text = f"<system-reminder>\n{block.text}\n</system-reminder>"
                self.user([block], prompt=False)
        self.system = []


def build(lines: Iterable[Sent], model: str | None, open_end: bool = False) -> Building:
    """The messages of these lines, as `model` gets them; its name is None where nothing is known of it.

    `open_end`: a new prompt will follow in the gap that is open at the end.
    """
    building = Building(standing=standing_role(model))
    waiting: list[Sent] = []
    for sent in lines:
        if sent.line.entry.kind == "assistant":
            _flush(building, waiting)
            if not sent.barrier:
                blocks = [block for block in sent.blocks if not is_foreign(block, sent.line.model, model)]
                building.reply(blocks, sent.line.message_id, sent.line.model)
            continue
        if _is_result(sent):
            _flush(building, waiting)
            building.user(_user_blocks(sent), prompt=False)
        else:
            waiting.append(sent)
    _flush(building, waiting)
    if open_end and building.system:
        building.messages.append(Message("system", building.system))
    else:
        building.close_gap()
    for message in building.messages:
        if message.role == "assistant":
            message.blocks = _calls_last(message.blocks)
    return building


def _calls_last(blocks: Sequence[Block]) -> list[Block]:
    """Texts and thinking before the calls, up to thinking that would so come to stand behind other thinking."""
    front: list[Block] = []
    rest: list[Block] = []
    stuck = False
    for block in blocks:
        together = block.kind == "thinking" and bool(front) and front[-1].kind == "thinking"
        stuck = stuck or (bool(rest) and together)
        (rest if stuck or block.kind == "tool_call" else front).append(block)
    return [*front, *rest]


def _is_result(sent: Sent) -> bool:
    """Whether a user line begins with a result: context lines rise no higher."""
    content = _content(sent.stored)
    first = content[0] if sent.line.results and isinstance(content, list) else None
    return isinstance(first, dict) and first.get("type") == "tool_result"


def _user_blocks(sent: Sent) -> list[Block]:
    """The blocks of a user line, without blank texts, with what the client adds to them."""
    content, own = _content(sent.stored), sent.line.id
    blocks = _not_blank(blocks_of(content, own, mark_of(sent.stored, content)))
    if any(_names_tools(block.value.get("content")) for block in blocks if block.kind == "tool_result"):
        blocks.append(Block("text", {}, blocks[0].source, "custom", "repair", TOOL_LOADED))
    return blocks


def _names_tools(content: Any) -> bool:
    return any(part.get("type") == "tool_reference" for part in _objects(content))


def _content(stored: dict[str, Any]) -> Any:
    message = stored.get("message")
    return message.get("content") if isinstance(message, dict) else None


def _flush(building: Building, waiting: list[Sent]) -> None:
    """The lines between a reply or result and the next one: context lines of the user's side come first."""
    texts: list[list[Block]] = []
    for sent in waiting:
        own = sent.line.id
        if sent.line.entry.kind == "attachment":
            building.warnings.extend(_unknown_words(sent.stored, own))
            for piece in rendered(sent.stored, own, building.standing):
                if piece.system:
                    building.system.append(piece.block)
                else:
                    building.context(piece)
        elif sent.line.entry.kind == "system":
            texts.append(_not_blank(blocks_of(sent.stored.get("content"), own, "shell")))
        else:
            texts.append(_user_blocks(sent))
    for blocks in texts:
        building.user(blocks, prompt=True)
    waiting.clear()


def _not_blank(blocks: Sequence[Block]) -> list[Block]:
    return [block for block in blocks if block.kind != "text" or trim(block.text)]


COMMAND_TEXTS = ("<command-name>", "<local-command-", "<bash-")
"""How texts begin that stand for a command that the user ran in the client, or its output."""


def mark_of(stored: dict[str, Any], content: Any) -> Mark:
    """What a user line stands for: a summary, a command in the client, harness text, or nothing but itself."""
    if stored.get("isCompactSummary"):
        return "summary"
    first = content
    if isinstance(content, list):
        first = next((part.get("text") for part in content if isinstance(part, dict) and "text" in part), None)
    text = first.lstrip() if isinstance(first, str) else ""
    if text.startswith(COMMAND_TEXTS):
        return "shell"
    return "custom" if stored.get("isMeta") or text.startswith("[Request interrupted") else ""


def rendered(stored: dict[str, Any], entry: str, standing: Standing = "system") -> Iterator[Context]:
    """The texts that a context line puts into the request of a model that takes standing context so."""
    attachment = stored.get("attachment")
    kind = attachment.get("type") if isinstance(attachment, dict) else None
    pieces, system = stored.get("rendered"), stored.get("renderedRole") == "system"
    texts: list[Any] = [piece.get("content") for piece in _objects(pieces)]
    if kind == "file" and isinstance(attachment, dict) and "content" not in attachment:
        return
    if not isinstance(pieces, list) and isinstance(attachment, dict):
        texts, system = _worded(kind, attachment), kind == "queued_command"
    for number, text in enumerate(texts):
        if isinstance(text, str) and trim(text):
            told = _bare(text) if system and standing == "system" else text
            block = Block("text", {}, (Source(entry, number),), "custom", text=told)
            yield Context(block, system and standing != "user", not is_one_of(kind, NEVER_FOLDED))


def _worded(kind: Any, attachment: dict[str, Any]) -> list[Any]:
    """What 2.1.332 itself says for a context line without rendered text; nothing for all kinds but a few."""
    name, before, after = WORDED.get(kind if isinstance(kind, str) else "", ("", "", ""))
    told = attachment.get(name)
    return [before + told + after] if isinstance(told, str) else []


def _unknown_words(stored: dict[str, Any], entry: str) -> Iterator[str]:
    attachment = stored.get("attachment")
    kind = attachment.get("type") if isinstance(attachment, dict) else None
    if isinstance(kind, str) and kind.startswith(WORDED_BY_CLIENT) and not isinstance(stored.get("rendered"), list):
        yield f"{entry}: the client sends a {kind!r} line without rendered text in its own words: not shown"


def _bare(text: str) -> str:
    """A text without the reminder tags around it."""
    text = trim(text)
    found = _REMINDER.fullmatch(text)
    return trim(found.group(1)) if found else text


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    return (part for part in (value if isinstance(value, list) else ()) if isinstance(part, dict))
