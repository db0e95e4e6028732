"""Walks through one JSON document and finds in it the messages of a conversation and the fields beside them."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import Literal

from core.agents.openai_messages.heads import ITEMS, ROLES, Facts, facts_of, head_of, value_of
from core.agents.openai_messages.scanning import (
    CLOSE_BRACE,
    CLOSE_BRACKET,
    COLON,
    NOTHING,
    OPEN_BRACE,
    OPEN_BRACKET,
    QUOTE,
    Scanner,
)
from core.jsonl import LONGEST_LINE, BrokenLine, decode

Side = Literal["request", "response"]
Kind = Literal["message", "field", "line", "other", "no-message", "broken", "torn"]

LISTS: dict[str, Side] = {
    "messages": "request",
    "input": "request",
    "history": "request",
    "conversation": "request",
    "output": "response",
}
"""Members of an object that may hold the conversation."""

HOLDERS: dict[str, Side | None] = {"request": None, "body": None, "params": None, "response": "response"}
"""Members that may hold a request or a response; None: the side that they stand on themselves."""

SPOKEN = frozenset({"system", "instructions", "input"})
"""Members beside the list that the model is sent too."""

DEEPEST = 4
"""Objects in each other that are walked into."""

LONGEST_KEY = 256
"""Bytes; a longer name is none that is looked for."""

PEEK = 1 << 16
"""Bytes of a list in which something must look like a message."""

DIGEST = 4
"""Bytes of a content's name: with the place beside it, enough for one state of a file."""

MOST_RUNS = 8
"""Values without an end after which the rest is taken as damaged: each is searched to the end of the document."""

_words = "|".join(sorted(ROLES)).encode()
_types = "|".join(sorted(ITEMS | {"message"})).encode()
_MESSAGE = re.compile(rb'"role"\s*:\s*"(?:' + _words + rb')"|"type"\s*:\s*"(?:' + _types + rb')"')
_BEGINNING = re.compile(
    rb'\{\s{0,64}"(?:role"\s{0,8}:\s{0,8}"(?:'
    + _words
    + rb')"|type"\s{0,8}:\s{0,8}"(?:'
    + _types
    + rb')"|id"\s{0,8}:\s{0,8}"(?:msg|rs|fc|call|chatcmpl)_)'
)
"""Where the next message begins behind a damaged one: inside a JSON string these quotes would be escaped."""
_LONGEST_BEGINNING = 256


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of the document that is not only structure."""

    kind: Kind
    start: int
    """Bytes from the start of the file."""
    end: int
    name: str = ""
    """The member that it is, or that its list is."""
    side: Side = "request"
    value: int = 0
    """Where the value of a field begins."""
    facts: Facts | None = None
    digest: str = ""
    """Names the content of a message."""


class Walker:
    """One pass over a document; `pieces` in file order, everything between them is structure."""

    def __init__(self, scanner: Scanner) -> None:
        self.scanner = scanner
        self.pieces: list[Piece] = []
        self.lists: dict[Side, str] = {}
        """Side → the member whose list was taken for the conversation."""
        self.closed = False
        """Whether the document ended as it should."""
        self._left = MOST_RUNS
        self._budget = 4 * (scanner.end - scanner.start) + (1 << 20)

    def walk(self) -> Walker:
        """Find the pieces of the whole document."""
        scanner = self.scanner
        at = scanner.start
        if scanner.read(at, at + 3) == b"\xef\xbb\xbf":
            at += 3
        at = scanner.over_space(at)
        byte = scanner.peek(at)
        end = None
        if byte == OPEN_BRACKET:
            self.lists["request"] = ""
            end = self._list(at, "", "request")
        elif byte == OPEN_BRACE:
            end = self._message_or_object(at, "request", 0)
        elif byte != NOTHING:
            self._rest(at, "broken")
        if end is not None:
            self.closed = True
            at = scanner.over_separator(end)
            if at < scanner.end:
                self._rest(at, "broken")
        return self

    def _rest(self, at: int, kind: Kind, name: str = "") -> None:
        """From `at` on nothing can be made out."""
        if at < self.scanner.end:
            self.pieces.append(Piece(kind, at, self.scanner.end, name))

    def _message_or_object(self, at: int, side: Side, depth: int) -> int | None:
        """An object that may itself be a message: its first members tell."""
        start = self.scanner.read(at, at + 4096)
        if re.match(rb'\{\s*"role"\s*:', start) or (side == "response" and _is_reply(start)):
            end = self.scanner.over_value(at)
            if end is None:
                self._rest(at, "torn")
                return None
            if self._element(at, end, "", side):
                if self.pieces[-1].kind == "message":
                    self.lists[side] = ""
                    return end
                self.pieces.pop()
        return self._object(at, side, depth)

    def _object(self, at: int, side: Side, depth: int) -> int | None:
        """Walk through an object from its opening brace; gives the place behind it, None where all ended before."""
        scanner = self.scanner
        at += 1
        while True:
            at = scanner.over_separator(at)
            byte = scanner.peek(at)
            if byte == CLOSE_BRACE:
                return at + 1
            if byte == NOTHING:
                return None
            end = scanner.over_string(at) if byte == QUOTE else None
            colon = scanner.over_space(end) if end is not None else at
            if end is None or scanner.peek(colon) != COLON:
                self._rest(at, "torn" if byte == QUOTE and (end is None or colon == scanner.end) else "broken")
                return None
            key = value_of(scanner.read(at, end)) if end - at <= LONGEST_KEY else ""
            after = self._member(str(key), at, scanner.over_space(colon + 1), side, depth)
            if after is None:
                return None
            at = after

    def _member(self, key: str, start: int, value: int, side: Side, depth: int) -> int | None:
        scanner = self.scanner
        byte = scanner.peek(value)
        if byte == OPEN_BRACE and depth < DEEPEST:
            if key in HOLDERS:
                return self._message_or_object(value, HOLDERS[key] or side, depth + 1)
            if key == "message" and side == "response" and "response" not in self.lists:
                return self._reply(key, start, value)
        if byte == OPEN_BRACKET and self._is_conversation(key, value, side):
            if key == "choices":
                return self._choices(value, depth)
            own: Side = "response" if side == "response" else LISTS[key]
            self.lists[own] = key
            return self._list(value, key, own)
        end = scanner.over_value(value)
        if end is None:
            self._rest(start, "torn" if value < scanner.end else "broken", key)
            return None
        kind: Kind = "field" if key not in SPOKEN or self._is_valid(value, end) else "broken"
        self.pieces.append(Piece(kind, start, end, key, side, value))
        return end

    def _is_valid(self, start: int, end: int) -> bool:
        try:
            decode(self.scanner.read(start, end))
        except BrokenLine:
            return False
        return True

    def _is_conversation(self, key: str, value: int, side: Side) -> bool:
        """Whether a list is the conversation: the first one on its side that begins like one."""
        if key == "choices":
            return "response" not in self.lists
        own = "response" if side == "response" else LISTS.get(key)
        if key not in LISTS or own is None or own in self.lists:
            return False
        first = self.scanner.peek(self.scanner.over_space(value + 1))
        if first not in (OPEN_BRACE, CLOSE_BRACKET):
            return False
        return key == "messages" or _MESSAGE.search(self.scanner.read(value, value + PEEK)) is not None

    def _choices(self, at: int, depth: int) -> int | None:
        """The answers of a Chat Completions response; the first one counts."""
        at += 1
        while True:
            at = self.scanner.over_separator(at)
            byte = self.scanner.peek(at)
            if byte == CLOSE_BRACKET:
                return at + 1
            after = self._object(at, "response", depth + 1) if byte == OPEN_BRACE else None
            if after is None:
                if byte != OPEN_BRACE:
                    self._rest(at, "broken", "choices")
                return None
            at = after

    def _reply(self, key: str, start: int, value: int) -> int | None:
        end = self.scanner.over_value(value)
        if end is None:
            self._rest(start, "torn", key)
            return None
        if self._element(value, end, key, "response"):
            if self.pieces[-1].kind == "message":
                self.lists["response"] = key
                return end
            self.pieces.pop()
        self.pieces.append(Piece("field", start, end, key, "response", value))
        return end

    def _list(self, at: int, name: str, side: Side) -> int | None:
        """Walk through the conversation from its opening bracket; a damaged message ends where the next begins."""
        scanner = self.scanner
        at += 1
        while True:
            at = scanner.over_separator(at)
            byte = scanner.peek(at)
            if byte == CLOSE_BRACKET:
                return at + 1
            if byte == NOTHING:
                return None
            end = scanner.over_value(at) if byte not in (COLON, CLOSE_BRACE) else at
            if end is not None and end > at and self._element(at, end, name, side):
                at = end
                continue
            at = self._damaged(at, end, name)
            if at >= scanner.end:
                return None

    def _element(self, at: int, end: int, name: str, side: Side) -> bool:
        """Put down one whole value as what it is, a message or none; False where it is no JSON."""
        if end - at > LONGEST_LINE:
            return False
        try:
            self.pieces.append(judged(self.scanner.read(at, end), at, end, name, side))
        except BrokenLine:
            return False
        return True

    def _damaged(self, at: int, end: int | None, name: str) -> int:
        """Put the damage down and give the place where the next message begins."""
        scanner = self.scanner
        self._left -= end is None
        self._budget -= (scanner.end if end is None else end) - at
        if self._left <= 0 or self._budget < 0:
            self._rest(at, "broken", name)
            return scanner.end
        next_one = scanner.search(_BEGINNING, at + 1, _LONGEST_BEGINNING)
        torn = end is None and next_one == scanner.end
        self.pieces.append(Piece("torn" if torn else "broken", at, next_one, name))
        return next_one


def judged(data: bytes, start: int, end: int, name: str = "", side: Side = "request") -> Piece:
    """A whole value as what it is: a message or none. Raises BrokenLine where it is no JSON."""
    head = head_of(data)
    if head is None or not head.is_message:
        return Piece("no-message", start, end, name, side, start)
    return Piece("message", start, end, name, side, start, facts_of(head), digest_of(data))


def digest_of(data: bytes) -> str:
    """A short name for some bytes."""
    return hashlib.blake2b(data, digest_size=DIGEST).hexdigest()


def _is_reply(start: bytes) -> bool:
    """Whether a response is one of Anthropic's: the message itself, its role among the first members."""
    return re.search(rb'"type"\s*:\s*"message"', start) is not None and re.search(rb'"role"\s*:', start) is not None


def between(scanner: Scanner, pieces: list[Piece]) -> list[tuple[int, int]]:
    """The stretches of structure: all that is neither a piece nor only white space and commas behind one."""
    found: list[tuple[int, int]] = []
    at = scanner.start
    for piece in pieces:
        if at < piece.start:
            found.append((at, piece.start))
        at = scanner.over_separator(piece.end)
    if at < scanner.end:
        found.append((at, scanner.end))
    return found
