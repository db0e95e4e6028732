"""What may leave the view without a summary: old results that can be had again, and what later content covers.

Every decision names its reason. Nothing here reads a file or asks a model; the same view gives the same decisions.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from core.agents.protocol import Profile
from core.calls import Call, calls_of, covers
from core.limiting import limit_log
from core.pointers import is_pointer, pointer
from core.proposal import Disposition
from core.repeatable import repeatable
from core.view import Item, Source, Turn, Unit, turns

COURTESY = re.compile(
    r"^(?:hi|hello|hey|thanks?|thank you|thx|ok(?:ay)?|great|perfect|nice|cool|good|got it|sounds good|yes|yep|sure|"
    r"你好|您好|谢谢|多谢|好的?|好吧|收到|明白了?|可以|没问题|辛苦了?|不错|很好|太好了)"
    r"(?:[\s,.!，。！~～]*(?:thanks?|thank you|great|very much|so much|a lot|谢谢|好的))*[\s,.!，。！~～👍🙏😀😊🎉]*$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class PruneRules:
    """The figures of pruning; tokens unless said otherwise."""

    recent_results: int = 5
    """The newest results stay as they are."""
    recent_turns: int = 2
    """Results of the newest turns stay as they are."""
    least_gain: int = 100
    """A pointer that frees less is not worth its place."""
    limit_above: int = 8_192
    """Characters above which an old result that can't be had again is limited."""
    limit_to: int = 5_120
    """Characters that a limited result keeps (head, failures, tail)."""


@dataclass(frozen=True)
class Prunable:
    """What pruning looks at: one view with its units, tokens and what the format allows."""

    units: Sequence[Unit]
    items: Sequence[Item]
    item_tokens: Sequence[int]
    profile: Profile
    language: str
    allows: Callable[[Unit, str], bool]
    """Whether the format allows a disposition for a unit."""
    count: Callable[[str], int]
    """Tokens of a text."""
    rules: PruneRules = field(default_factory=PruneRules)
    results: Callable[[Unit], Sequence[Source]] | None = None
    """The results of a unit that the format can shorten; None: all of them."""

    def can_shorten(self, call: Call) -> bool:
        """Whether the format can carry another text in the place of this call's result."""
        source = self.items[call.result].source
        return bool(source) and (self.results is None or source[0] in self.results(self.units[call.order]))


def prune(view: Prunable) -> tuple[Disposition, ...]:
    """Pointers, limits and drops for the whole view, in view order; empty where nothing is worth it."""
    calls = calls_of(view.units, view.items, view.profile)
    protected = _recent(view, calls)
    reasons = _reasons(view, calls)
    chosen: list[tuple[int, Disposition]] = []
    for call in calls:
        if call.result in protected or call.tool.protected or is_pointer(view.items[call.result].text):
            continue
        if not view.can_shorten(call):
            continue
        disposition = _pointed(view, call, reasons) or _limited(view, call)
        if disposition is not None:
            chosen.append((call.result, disposition))
    chosen.extend(_courtesies(view))
    return tuple(disposition for _, disposition in sorted(chosen, key=lambda pair: pair[0]))


def _recent(view: Prunable, calls: Sequence[Call]) -> set[int]:
    """Positions of the results that stay because they are new."""
    kept = {call.result for call in calls[-view.rules.recent_results :]} if view.rules.recent_results else set[int]()
    recent = turns(view.units)[-view.rules.recent_turns :] if view.rules.recent_turns else ()
    units = {unit.id for turn in recent for unit in turn.units}
    return kept | {call.result for call in calls if call.unit in units}


def _reasons(view: Prunable, calls: Sequence[Call]) -> dict[int, tuple[str, str]]:
    """Result position → (key of the pointer's reason, the reason in a proposal). Later calls explain earlier ones."""
    reasons: dict[int, tuple[str, str]] = {}
    later_by_key: dict[str, Call] = {}
    later_read: dict[str, list[Call]] = defaultdict(list)
    later_edit: dict[str, Call] = {}
    for call in reversed(calls):
        reason = _superseded(view, call, later_by_key, later_read, later_edit)
        if reason is None and _reobtainable(call):
            reason = ("old", f"old {call.tool.kind} result that can be had again")
        if reason is not None:
            reasons[call.result] = reason
        later_by_key.setdefault(call.key, call)
        if call.tool.kind == "read" and call.path and not view.items[call.result].is_error:
            later_read[call.path].append(call)
        if not view.items[call.result].is_error:
            later_edit |= dict.fromkeys(call.changed, call)
    return reasons


def _superseded(
    view: Prunable,
    call: Call,
    later_by_key: dict[str, Call],
    later_read: dict[str, list[Call]],
    later_edit: dict[str, Call],
) -> tuple[str, str] | None:
    again = later_by_key.get(call.key)
    if call.tool.kind == "read" and call.path:
        newer = next((read for read in later_read[call.path] if covers(read, call)), None)
        if newer is not None:
            return "read again", f"superseded by entry {newer.unit}: the file was read again"
        if call.path in later_edit:
            return "edited", f"superseded by entry {later_edit[call.path].unit}: the file was changed"
    if again is not None and view.items[again.result].text == view.items[call.result].text:
        return "repeated", f"entry {again.unit} holds the same result"
    if again is not None and call.tool.kind == "shell":
        return "run again", f"superseded by entry {again.unit}: the command was run again"
    if call.tool.kind in ("search", "list"):
        text = view.items[call.result].text
        reader = next((reads[-1] for path, reads in later_read.items() if path and path in text), None)
        if reader is not None:
            return "hits read", f"what was found was read in entry {reader.unit}"
    return None


def _reobtainable(call: Call) -> bool:
    if call.tool.kind == "shell":
        return repeatable(call.command)
    return call.tool.reobtainable


def _pointed(view: Prunable, call: Call, reasons: dict[int, tuple[str, str]]) -> Disposition | None:
    unit = view.units[call.order]
    reason = reasons.get(call.result)
    if reason is None or not view.allows(unit, "point"):
        return None
    result = view.items[call.result]
    images = images_of(unit, view.items, result)
    text = pointer(call, result, len(images), reason[0], view.language)
    before = view.item_tokens[call.result] + sum(view.item_tokens[at] for at in images)
    if before - view.count(text) < view.rules.least_gain:
        return None
    return Disposition(unit.id, "point", reason[1], result.source[:1], text)


def _limited(view: Prunable, call: Call) -> Disposition | None:
    unit = view.units[call.order]
    result = view.items[call.result]
    if len(result.text) <= view.rules.limit_above or not view.allows(unit, "limit"):
        return None
    text = limit_log(result.text, view.rules.limit_to)
    if view.item_tokens[call.result] - view.count(text) < view.rules.least_gain:
        return None
    reason = f"longer than {view.rules.limit_above:,} characters and not to be had again: head, failures and tail stay"
    return Disposition(unit.id, "limit", reason, result.source[:1], text)


def images_of(unit: Unit, items: Sequence[Item], result: Item) -> tuple[int, ...]:
    """Positions of the images that belong to one result: they leave with it."""
    entry = result.source[0].entry if result.source else ""
    return tuple(
        at for at in unit.items if items[at].kind == "image" and items[at].source and items[at].source[0].entry == entry
    )


def _courtesies(view: Prunable) -> list[tuple[int, Disposition]]:
    """Whole turns of mere courtesy ("ok, thanks" and a short answer), never the first or the last."""
    found: list[tuple[int, Disposition]] = []
    for turn in turns(view.units)[1:-1]:
        if not _is_courtesy(view, turn):
            continue
        for unit in turn.units:
            if view.allows(unit, "drop"):
                found.append((unit.first, Disposition(unit.id, "drop", "courtesy: says nothing about the work")))
    return found


def _is_courtesy(view: Prunable, turn: Turn) -> bool:
    head, *rest = turn.units
    words = [view.items[at] for at in head.items]
    if not head.starts_turn or any(item.kind != "text" for item in words):
        return False
    if not COURTESY.match(" ".join(item.text.strip() for item in words)):
        return False
    answer = [at for unit in rest for at in unit.items]
    if any(view.items[at].kind not in ("text", "thinking") or view.items[at].mark for at in answer):
        return False
    # Tokens: a longer answer may hold a decision.
    return sum(view.item_tokens[at] for at in answer if view.items[at].kind == "text") <= 40
