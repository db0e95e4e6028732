"""How full the window is: figures that say where they come from, what is held back, and where a policy acts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any, Literal

from core.errors import SeamlineError
from core.resume import Known

if TYPE_CHECKING:
    from core.agents.protocol import Profile, Usage

FigureKind = Literal["reported", "counted", "estimated"]

DEFAULT_NEXT_REPLY = 16_384
"""Tokens held back for the next reply where the model could write more, or where its longest reply is unknown."""
DEFAULT_TOOL_ROOM = 10_000
"""Tokens held back for the results of the tools that the next reply calls."""
DEFAULT_RECOVERY_SHARE = 0.04
"""Share of the window held back for recovering from a failure: an error, another look at a file, a second try."""
LARGEST_RESERVED_SHARE = 0.5
"""The reserves together never take more of the window than this; in a small window each shrinks in proportion."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A number of tokens, where it comes from, and what it includes."""

    value: int
    kind: FigureKind
    """`reported` by the provider, `counted` with a tokenizer, or `estimated` by a rule."""
    includes: str
    """Such as `view`, or `view, system prompt and tools`."""

    def __str__(self) -> str:
        return f"{self.value:,} {self.kind}"

    def to_json(self) -> dict[str, Any]:
        return {"value": self.value, "kind": self.kind, "includes": self.includes}


def counted_view(tokens: int) -> dict[str, Any]:
    """The size of a view in the form in which JSON gives figures."""
    return Figure(tokens, "counted", "view").to_json()


@dataclass(frozen=True, slots=True)
class Sum:
    """Figures of more than one kind that together say how much is used: shown as the sum that it is."""

    parts: tuple[Figure, ...]

    @property
    def value(self) -> int:
        """Tokens in all."""
        return sum(part.value for part in self.parts)

    @property
    def kind(self) -> str:
        """The kinds of the parts, such as `reported + counted`."""
        return " + ".join(dict.fromkeys(part.kind for part in self.parts))

    @property
    def includes(self) -> str:
        return " + ".join(part.includes for part in self.parts)

    def __str__(self) -> str:
        return " + ".join(str(part) for part in self.parts)

    def to_json(self) -> dict[str, Any]:
        return {
            "value": self.value,
            "kind": self.kind,
            "includes": self.includes,
            "parts": [part.to_json() for part in self.parts],
        }


def difference(before: Figure | Sum, after: Figure | Sum) -> int | None:
    """Tokens freed between two figures; None where they are of different kinds or include different things."""
    if (before.kind, before.includes) != (after.kind, after.includes):
        return None
    return before.value - after.value


def used_figure(
    usage: Usage, view_tokens: int, system_tokens: int = 0, later_tokens: int = 0, framing_tokens: int = 0
) -> Figure | Sum:
    """How much of the window is in use now, all arguments in counted tokens.

    What the provider reported for the last reply, where that still holds, with what came after it (`later_tokens`)
    counted apart; else the whole view counted, with the stored system prompt and tools where the format keeps them, and
    with what the provider charges around messages where it says so.
    A reported 0 is no report: some clients log it for replies that never came.
    """
    if usage.current:
        reported = Figure(usage.current, "reported", "view, system prompt and tools up to the last reply")
        if not later_tokens:
            return reported
        return Sum((reported, Figure(later_tokens, "counted", "what came after the last reply")))
    includes = "view, stored system prompt and tools" if system_tokens else "view"
    if framing_tokens:
        includes += ", marks around messages"
    return Figure(view_tokens + system_tokens + framing_tokens, "counted", includes)


@dataclass(frozen=True, slots=True)
class Reserve:
    """Tokens of the window that are held back, what for, and why so many."""

    name: str
    tokens: int
    source: str


@dataclass(frozen=True, slots=True)
class Mark:
    """A labelled place on the token bar."""

    name: str
    tokens: int
    source: str


@dataclass(frozen=True, slots=True)
class Budget:
    """What is used of the window, what is held back, and whether the policy acts. With no window, all is unknown."""

    window: Known[int] | None
    """Tokens."""
    used: Figure | Sum
    reserves: tuple[Reserve, ...] = ()
    policy: str = "handoff"
    strictly: bool = False
    """Whether the policy acts only above the threshold, not at it."""

    @property
    def reserved(self) -> int:
        """Tokens held back in all."""
        return sum(reserve.tokens for reserve in self.reserves)

    @property
    def threshold(self) -> int | None:
        """Used tokens at which the policy acts: window − reserves; at least 1."""
        return None if self.window is None else max(1, self.window.value - self.reserved)

    @property
    def acts(self) -> bool | None:
        """Whether the policy would act now; None where the window is unknown."""
        if self.threshold is None:
            return None
        return self.used.value > self.threshold if self.strictly else self.used.value >= self.threshold

    @property
    def left(self) -> int | None:
        """Tokens until the policy acts; negative where it should have."""
        return None if self.threshold is None else self.threshold - self.used.value

    @property
    def share(self) -> float | None:
        """Used tokens as a share of the window; above 1 where more is used than fits."""
        return None if self.window is None else self.used.value / self.window.value

    @property
    def pressure(self) -> float | None:
        """Used tokens as a share of the threshold: 1 is where the policy acts."""
        return None if self.threshold is None else self.used.value / self.threshold

    @property
    def threshold_mark(self) -> Mark | None:
        """The policy's threshold with the sum that it comes from."""
        if self.window is None or self.threshold is None:
            return None
        held = "".join(f" − {reserve.tokens:,} {reserve.name}" for reserve in self.reserves)
        return Mark(self.policy, self.threshold, f"{self.window.value:,} window{held}")

    def to_json(self) -> dict[str, Any]:
        """The figures as they stand beside each other on screen and in `--json`."""
        return {
            "window": None if self.window is None else self.window.value,
            "window_source": None if self.window is None else self.window.source,
            "used": self.used.to_json(),
            "reserves": [{"name": r.name, "tokens": r.tokens, "source": r.source} for r in self.reserves],
            "threshold": self.threshold,
            "acts": self.acts,
        }


def handoff_budget(
    window: Known[int] | None,
    used: Figure | Sum,
    max_output: Known[int] | None = None,
    next_reply: int | None = None,
    tool_room: int = DEFAULT_TOOL_ROOM,
    recovery_share: float = DEFAULT_RECOVERY_SHARE,
    most_reply: int = DEFAULT_NEXT_REPLY,
) -> Budget:
    """The policy `handoff`: acts when used + next reply + room for tool results + room for recovery ≥ window.

    `next_reply`: tokens; by default what the model can write, at most `most_reply`. In a small window the
    reserves shrink in proportion until they leave half of it. Raises SeamlineError for a window of 0 or less, and for
    reserves that are no sensible numbers.
    """
    if min(next_reply or 0, tool_room) < 0 or not 0 <= recovery_share <= 1:
        raise SeamlineError("handoff: next reply and tool room are tokens from 0 up, recovery share lies in 0…1")
    if window is None:
        return Budget(None, used)
    check_window(window)
    wanted = (
        reply_reserve(max_output, next_reply, most_reply),
        Reserve("tool results", tool_room, _setting("default", tool_room == DEFAULT_TOOL_ROOM)),
        Reserve(
            "recovery",
            int(window.value * recovery_share),
            f"{recovery_share:.0%} of the window, {_setting('default', recovery_share == DEFAULT_RECOVERY_SHARE)}",
        ),
    )
    return Budget(window, used, clamp(wanted, window.value))


def check_window(window: Known[int]) -> None:
    """Raise SeamlineError where a window holds nothing."""
    if window.value <= 0:
        raise SeamlineError(
            f"the context window is {window.value} tokens ({window.source}); give the model's real size with --window"
        )


def reply_reserve(max_output: Known[int] | None, next_reply: int | None, most: int = DEFAULT_NEXT_REPLY) -> Reserve:
    """Tokens held back for the next reply, and why so many."""
    name, default = "next reply", _setting("default", most == DEFAULT_NEXT_REPLY)
    if next_reply is not None:
        return Reserve(name, next_reply, "set")
    if max_output is None:
        return Reserve(name, most, f"{default}; the model's longest reply is unknown")
    if max_output.value < most:
        return Reserve(name, max(0, max_output.value), f"the model's longest reply: {max_output.source}")
    return Reserve(name, most, f"{default}; the model's longest reply is {max_output.value:,}")


def clamp(reserves: tuple[Reserve, ...], window: int) -> tuple[Reserve, ...]:
    """The reserves, shrunk in proportion where together they would take more than half of the window."""
    room = int(window * LARGEST_RESERVED_SHARE)
    total = sum(reserve.tokens for reserve in reserves)
    if total <= room:
        return reserves
    return tuple(
        Reserve(
            reserve.name,
            reserve.tokens * room // total,
            f"{reserve.source}; shrunk from {reserve.tokens:,}, as reserves take at most half of the window",
        )
        for reserve in reserves
    )


def agent_mark(window: Known[int] | None, profile: Profile) -> Mark | None:
    """Where the agent's own compaction acts: window − its reserve. None where the window is unknown.

    0 where the reserve is as large as the window: such an agent compacts at every turn.
    """
    if window is None:
        return None
    reserve = profile.reserve_of(window.value)
    tokens = max(0, window.value - reserve)
    return Mark(profile.agent, tokens, f"{window.value:,} window − {reserve:,} reserve of {profile.title}")


def marks(budget: Budget, profile: Profile | None = None) -> tuple[Mark, ...]:
    """All marks of the token bar in ascending order, the window last; none where the window is unknown."""
    if budget.window is None:
        return ()
    own = None if profile is None else agent_mark(budget.window, profile)
    thresholds = [mark for mark in (budget.threshold_mark, own) if mark is not None]
    window = Mark("window", budget.window.value, budget.window.source)
    return (*sorted(thresholds, key=lambda mark: mark.tokens), window)


def turns_left(budget: Budget, growth: Sequence[int], until: Mark | None = None) -> int | None:
    """How many more turns fit before `until` (default: where the policy acts), at the pace of the last five.

    `growth`: tokens that each turn added, oldest first; turns that added nothing say nothing of the pace. None where
    the window or the pace is unknown.
    """
    left = budget.left if until is None else until.tokens - budget.used.value
    pace = [tokens for tokens in growth if tokens > 0][-5:]
    if left is None or not pace:
        return None
    return max(0, int(left // median(pace)))


def _setting(default: str, is_default: bool) -> str:
    return default if is_default else "set"
