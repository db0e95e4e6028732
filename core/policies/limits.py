"""How each agent shortens one oversized result: the exact texts, from a stream, in bounded memory.

Our own way, which keeps the lines around failures, stands in `core.limiting`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

from core.agents.codex.truncating import CATALOGUE, Policy, Unit, mark_of
from core.agents.grok_build import sizing as grok
from core.errors import SeamlineError
from core.limiting import LONGEST_LINE, limit_log
from core.policies.policy import figures_of, shipped
from core.pruning import PruneRules

DSH_MARK = "\n\n[... tool result middle pruned ...]\n\n"
"""dsh 0.1.0-rc.8."""
PI_PREVIEW = 2_000
"""pi 1.6.0: UTF-16 units of a result that its summary request shows."""

HELD = 262_144
"""Characters of a log that are held at most before they are shortened."""


@dataclass(frozen=True, slots=True)
class Options:
    """What a rule may need to know beside the text."""

    age: int = grok.UNTOUCHED_TURNS
    """User messages since the result; grok-build."""
    unit: Unit = CATALOGUE.unit
    """Of codex's limit."""
    limit: int = CATALOGUE.limit
    """In that unit; codex."""


@dataclass(frozen=True, slots=True)
class Ends:
    """A text of which only the ends are in memory."""

    start: str
    end: str
    """The last characters; the whole text where `whole`."""
    characters: int
    """Code points."""
    utf16: int
    bytes: int
    """Of UTF-8."""

    @property
    def whole(self) -> bool:
        """Whether `start` is all of it."""
        return len(self.start) == self.characters


def collect(chunks: Iterable[str], most: int) -> Ends:
    """The first and the last `most` code points of a stream, and how long it is. Memory: about two chunks."""
    start = end = ""
    characters = utf16 = size = 0
    for chunk in chunks:
        if len(start) < most:
            start += chunk[: most - len(start)]
        end = (end + chunk)[-most:]
        characters += len(chunk)
        plain = chunk.isascii()
        size += len(chunk) if plain else len(chunk.encode("utf-8", "surrogatepass"))
        utf16 += len(chunk) if plain else len(chunk) + sum(character > "\uffff" for character in chunk)
    return Ends(start, end, characters, utf16, size)


def limit_points(text: str, above: int, head: int, tail: int) -> str:
    """dsh: a text of more than `above` code points is its first `head` and last `tail` ones around the mark."""
    if len(text) <= above:
        return text
    return text[:head] + DSH_MARK + (text[-tail:] if tail else "")


def _dsh(chunks: Iterable[str], options: Options) -> str:
    figures = figures_of(shipped()["dsh"])
    above, head, tail = (figures.tokens(name) for name in ("limit_above", "limit_head", "limit_tail"))
    found = collect(chunks, above)
    return found.start if found.whole else limit_points(found.start + found.end, above, head, tail)


def _pi(chunks: Iterable[str], options: Options) -> str:
    found = collect(chunks, PI_PREVIEW)
    shown = found.start
    length = len(shown) + sum(character > "\uffff" for character in shown)
    while length > PI_PREVIEW:
        length -= 2 if shown[-1] > "\uffff" else 1
        shown = shown[:-1]
    if found.whole and length == found.utf16:
        return shown
    return f"{shown}\n\n[... {found.utf16 - PI_PREVIEW} more characters truncated]"


def _grok(chunks: Iterable[str], options: Options) -> str:
    if options.age >= grok.OMITTED_TURNS:
        return grok.OMITTED
    young = grok.UNTOUCHED_TURNS
    if options.age < young:
        raise SeamlineError(f"grok-build leaves results of less than {young} user messages ago alone: --age {young}")
    found = collect(chunks, grok.LONGEST_WHOLE)
    return found.start if found.whole else found.start[: grok.HEAD] + grok.TRIMMED + found.end[-grok.TAIL :]


def _codex(chunks: Iterable[str], options: Options) -> str:
    """The middle goes: half of the allowed bytes stay at each end, whole characters only."""
    policy = Policy(options.unit, options.limit)
    room = policy.bytes
    found = collect(chunks, room)
    if found.bytes <= room and found.whole:
        return found.start
    head = found.start.encode("utf-8", "surrogatepass")[: room // 2].decode("utf-8", "ignore")
    tail = found.end.encode("utf-8", "surrogatepass")[-(room - room // 2) :].decode("utf-8", "ignore")
    removed = found.characters - len(head) - len(tail)
    return head + mark_of(found.bytes - room, removed, options.unit) + tail


def _handoff(chunks: Iterable[str], options: Options) -> str:
    """Our own: beginning, end, and the lines around failures.

    What is too long to be held is shortened piece by piece as it comes, overlong lines first: a text that was limited
    keeps its marks when it is limited again, and the lines that they stand for add up.
    """
    rules = PruneRules()
    above, to = rules.limit_above, rules.limit_to
    held, stream = "", iter(chunks)
    for chunk in stream:
        held += chunk
        if len(held) > HELD:
            break
    else:
        return held if len(held) <= above else limit_log(held, to)
    kept = ""
    for piece in _with_short_lines(chain([held], stream)):
        kept += piece
        if len(kept) > HELD:
            kept = limit_log(kept, 2 * to)
    return limit_log(kept, to)


def _with_short_lines(chunks: Iterable[str]) -> Iterator[str]:
    """The same text in pieces, each line of more than `LONGEST_LINE` characters without its middle."""
    line = _Line()
    for chunk in chunks:
        *whole, rest = chunk.split("\n")
        if whole:
            line.add(whole[0])
            yield line.shown() + "\n"
            yield from (_Line(one).shown() + "\n" for one in whole[1:])
            line = _Line()
        line.add(rest)
    yield line.shown()


class _Line:
    """One line of which no more is held than is shown."""

    def __init__(self, text: str = "") -> None:
        self.start, self.end, self.characters = text, "", len(text)

    def add(self, text: str) -> None:
        self.characters += len(text)
        room = max(0, LONGEST_LINE - len(self.start))
        self.start += text[:room]
        self.end = (self.end + text[room:])[-LONGEST_LINE:]

    def shown(self) -> str:
        if self.characters <= LONGEST_LINE:
            return self.start
        head = LONGEST_LINE * 3 // 4
        tail = (self.end or self.start)[-LONGEST_LINE // 5 :]
        left_out = self.characters - head - len(tail)
        return f"{self.start[:head]} [… {left_out:,} characters left out …] {tail}"


LIMITERS: dict[str, Callable[[Iterable[str], Options], str]] = {
    "handoff": _handoff,
    "dsh": _dsh,
    "pi": _pi,
    "codex": _codex,
    "grok-build": _grok,
}
"""Policy → how it shortens one text. Claude Code has no rule of its own for a stored result."""
