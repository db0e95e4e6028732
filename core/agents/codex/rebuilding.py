"""The history as Codex 0.171.0 rebuilds it on resume: the newest complete checkpoint that survives, and what follows.

Written from the format's rules: rollbacks, checkpoints with and without a history, contexts that go with their turn.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from core.agents.codex.context import is_developer_context, is_real_user, is_user_context, texts, without_model_context
from core.agents.codex.records import DELIVERED, Detail, Fact, detail, payload, record
from core.agents.codex.shapes import ITEM_TYPES
from core.agents.codex.truncating import Policy, cut_output, cut_user_text
from core.session import Entry, Session

USER_BUDGET = 20_000
"""Tokens of the user's own messages that a compaction without a history keeps."""

PARTS_OF_AN_ITEM = 1000
"""In a checkpoint, the parts of its item number n are counted from n times this: so an item's parts are known."""

NO_SUMMARY = "(no summary available)"

BYTES_PER_TOKEN = 4

NO_FACT = Fact()


@dataclass(frozen=True, slots=True)
class Stored:
    """One item of the history and the place that it was read from."""

    payload: Mapping[str, Any]
    entry: str
    first_part: int = 0
    """The number of its first part among the parts of the entry."""
    checkpoint: bool = False
    """Whether it stands in the history that a checkpoint holds."""
    summary: bool = False
    """Whether it is the summary that a compaction without a history leaves."""

    @property
    def type(self) -> str:
        kind = self.payload.get("type")
        return kind if isinstance(kind, str) else ""

    @property
    def role(self) -> str:
        role = self.payload.get("role")
        return role if isinstance(role, str) and self.type == "message" else ""

    @property
    def content(self) -> list[Any]:
        content = self.payload.get("content")
        return content if isinstance(content, list) else []

    @property
    def turn(self) -> str | None:
        """The id of the turn that the item belongs to, where it tells."""
        passed = self.payload.get("internal_chat_message_metadata_passthrough")
        turn = passed.get("turn_id") if isinstance(passed, Mapping) else None
        return turn if isinstance(turn, str) else None

    @property
    def starts_turn(self) -> bool:
        """Whether a rollback counts it as the beginning of a turn."""
        return self.type == "agent_message" or is_real_user(self.role, self.content)

    @property
    def is_context(self) -> bool:
        """Whether it goes with the turn behind it when that is taken back."""
        return is_user_context(self.role, self.content) or is_developer_context(self.role, self.content)


def path_of(session: Session) -> Sequence[Entry]:
    """The entries that count: up to the leaf."""
    if session.leaf is None:
        return ()
    if session.entries[-1].id == session.leaf:
        return session.entries
    leaf = session.entry(session.leaf)
    return session.entries if leaf is None else session.entries[: leaf.index + 1]


def rebuilt(session: Session, policy: Policy) -> list[Stored]:
    """The items that the model sees, calls and results not yet paired."""
    known, path = detail(session), path_of(session)
    base = known.base
    history: list[Stored] = []
    if base is not None:
        history = checkpoint_items(session, path[base])
    for entry in path[0 if base is None else base + 1 :]:
        if entry.id in known.skipped:
            continue
        if entry.kind.startswith("response_item/") or entry.kind == "inter_agent_communication":
            history.extend(items_of(session, entry, policy))
        elif entry.kind == "compacted":
            fact = known.facts.get(entry.id, NO_FACT)
            if not fact.checkpoint:
                history = without_history(history, entry, payload(session, entry))
        elif entry.kind == "event_msg/thread_rolled_back":
            history = rolled_back(history, known.facts.get(entry.id, NO_FACT).rolled_back)
    return history


# Where the rebuilding begins.


def base_of(known: Detail, path: Sequence[Entry]) -> int | None:
    """The position of the checkpoint that the history begins with; None where it begins with the first record."""
    if known.paginated:
        for position in range(len(path) - 1, -1, -1):
            entry = path[position]
            if entry.kind == "compacted" and entry.id not in known.skipped:
                if known.facts.get(entry.id, NO_FACT).final:
                    return position
                break
    return _surviving(known, path)


@dataclass
class _Segment:
    """The records of one turn, as far as they were met on the way back."""

    turn: str | None = None
    user: bool = False
    checkpoint: int | None = None


_TURNING = frozenset(
    {
        "event_msg/thread_rolled_back", "event_msg/task_started", "event_msg/turn_started", "event_msg/turn_aborted",
        "event_msg/task_complete", "event_msg/turn_complete", "turn_context", "compacted",
    }
)  # fmt: skip
"""Kinds of records, beside the user's messages, that decide which checkpoint survives."""


def _surviving(known: Detail, path: Sequence[Entry]) -> int | None:
    """The newest checkpoint that stands in no turn that was taken back later."""
    pending = 0
    segment: _Segment | None = None
    for position in range(len(path) - 1, -1, -1):
        entry = path[position]
        if (entry.kind not in _TURNING and entry.id not in known.user_turns) or entry.id in known.skipped:
            continue
        fact = known.facts.get(entry.id, NO_FACT)
        kind = entry.kind
        if kind == "event_msg/thread_rolled_back":
            pending += fact.rolled_back
        elif kind in ("event_msg/task_started", "event_msg/turn_started"):
            if segment is not None and (segment.turn is None or fact.turn is None or segment.turn == fact.turn):
                if pending == 0 and segment.checkpoint is not None:
                    return segment.checkpoint
                pending -= pending > 0 and segment.user
                segment = None
        elif kind == "event_msg/turn_aborted":
            if segment is not None or fact.turn is not None:
                segment = segment or _Segment()
                segment.turn = segment.turn or fact.turn
        elif kind in ("event_msg/task_complete", "event_msg/turn_complete", "turn_context"):
            segment = segment or _Segment()
            segment.turn = segment.turn or fact.turn
        elif kind == "compacted":
            segment = segment or _Segment()
            if segment.checkpoint is None and fact.checkpoint:
                segment.checkpoint = position
        else:
            segment = segment or _Segment()
            segment.user = True
    return segment.checkpoint if segment is not None and pending == 0 else None


# What one record adds.


def checkpoint_items(session: Session, entry: Entry) -> list[Stored]:
    """The history that a checkpoint holds, as it stands there."""
    found = payload(session, entry).get("replacement_history")
    items = found if isinstance(found, list) else []
    return [
        Stored(one, entry.id, number * PARTS_OF_AN_ITEM, checkpoint=True)
        for number, one in enumerate(items)
        if isinstance(one, dict) and one.get("type") != "configuration_update"
    ]


def items_of(session: Session, entry: Entry, policy: Policy) -> Iterator[Stored]:
    """The item that a record adds to the history, if it does."""
    whole = record(session, entry)
    stored = whole["payload"]
    if entry.kind == "inter_agent_communication":
        yield Stored(_from_agent(stored), entry.id)
        return
    kind = stored.get("type")
    if entry.kind == f"response_item/{DELIVERED}" or kind not in ITEM_TYPES:
        return
    if kind in ("compaction_trigger", "configuration_update") or (kind == "message" and stored.get("role") == "system"):
        return
    if kind in ("function_call_output", "custom_tool_call_output"):
        beside = whole.get("metadata")
        own = beside.get("fallback_token_limit_override") if isinstance(beside, Mapping) else None
        told = Policy("tokens", own, slack=1) if isinstance(own, int) else policy
        stored = {**stored, "output": cut_output(stored.get("output"), told)}
    yield Stored(stored, entry.id)


def _from_agent(stored: Mapping[str, Any]) -> dict[str, Any]:
    """The words of another agent as an item; encrypted ones get a head that says from whom they are."""
    author, recipient, hidden = (stored.get(name) for name in ("author", "recipient", "encrypted_content"))
    text = stored.get("content")
    parts: list[dict[str, Any]] = [{"type": "input_text", "text": text}]
    if isinstance(hidden, str):
        kind = "NEW_TASK" if stored.get("trigger_turn") else "MESSAGE"
        head = f"Message Type: {kind}\nTask name: {recipient}\nSender: {author}\nPayload:\n"
        parts = [{"type": "input_text", "text": head}, {"type": "encrypted_content", "encrypted_content": hidden}]
    return {"type": "agent_message", "author": author, "recipient": recipient, "content": parts}


def without_history(history: Sequence[Stored], entry: Entry, compacted: Mapping[str, Any]) -> list[Stored]:
    """What a compaction leaves that holds only a message: the user's newest own messages, then that message."""
    kept: list[Stored] = []
    left = USER_BUDGET
    for item in reversed([item for item in history if is_real_user(item.role, item.content)]):
        if left == 0:
            break
        parts = _written(item)
        tokens = tokens_of("".join(parts))
        kept.append(_message(item, parts if tokens <= left else cut_user_text("".join(parts), left)))
        left -= min(tokens, left)
    message = compacted.get("message")
    summary = message if isinstance(message, str) and message else NO_SUMMARY
    part = {"type": "input_text", "text": summary}
    return [*reversed(kept), Stored({"type": "message", "role": "user", "content": [part]}, entry.id, 0, summary=True)]


def _written(item: Stored) -> list[str]:
    """The texts of a user's message that a compaction keeps: of pictures it leaves an empty one."""
    return list(texts(item.content)) or ([""] if item.content else [])


def tokens_of(text: str) -> int:
    """Codex's own estimate: a token for every four bytes."""
    return -(-len(text.encode("utf-8", "surrogatepass")) // BYTES_PER_TOKEN)


def _message(item: Stored, parts: list[str]) -> Stored:
    content = [{"type": "input_text", "text": text} for text in parts]
    return Stored({"type": "message", "role": "user", "content": content}, item.entry, item.first_part)


def rolled_back(history: list[Stored], turns: int) -> list[Stored]:
    """The history without its last turns, nor the contexts that stand directly before them."""
    starts = [position for position, item in enumerate(history) if item.starts_turn]
    if not turns or not starts:
        return history
    first = starts[0]
    cut = first if turns >= len(starts) else starts[-turns]
    turn = history[cut].turn
    while cut > first and history[cut - 1].is_context:
        cut -= 1
    kept = history[:cut]
    if turn is None or cut != first:
        return kept
    return [one for item in kept for one in _of_another_model(item, turn)]


def _of_another_model(item: Stored, turn: str) -> Iterator[Stored]:
    """An item before a turn that was taken back, without what told the model of that turn's own settings."""
    if item.turn != turn or item.role != "developer":
        yield item
        return
    left = without_model_context(item.payload)
    if left is not None:
        yield replace(item, payload=left)
