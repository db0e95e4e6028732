"""Edits as a person would make them, built from `plan --json` and `view --json` in the shape that `--edit` takes.

Each builder is pure and gives several candidates, best first: which of them the format allows is Seamline's to say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Json = Mapping[str, Any]


@dataclass(frozen=True)
class Edit:
    """One edit file, and what must be true of the plan made with it."""

    file: dict[str, Any]
    expected: Mapping[str, str]
    """Unit → what must happen to it; "keep" where it must not be listed."""
    first_kept: str | None = None
    """The unit behind the cut; None where the edit does not say."""


Builder = Callable[[Json, Sequence[Json]], Iterator[Edit]]


def summarised(plan: Json) -> list[str]:
    """The units that the plan summarises, oldest first."""
    return [row["unit"] for row in plan["dispositions"] if row["what"] == "summarize"]


def kept_units(plan: Json, items: Sequence[Json]) -> list[str]:
    """The units from the cut on, oldest first."""
    ids = list(dict.fromkeys(item["unit"] for item in items))
    first = (plan.get("cut") or {}).get("first_kept")
    return ids[ids.index(first) :] if first in ids else ids


def parallel(items: Sequence[Json]) -> list[tuple[str, list[Json]]]:
    """Replies with several calls that each have a stored result of their own: the unit and the results' sources."""
    results = {item["call_id"]: item for item in items if item["type"] == "tool_result" and item["origin"] == "stored"}
    calls: dict[str, list[str]] = {}
    for item in items:
        if item["type"] == "tool_call":
            calls.setdefault(item["unit"], []).append(item["call_id"])
    found: list[tuple[str, list[Json]]] = []
    for unit, ids in calls.items():
        if len(set(ids)) == len(ids) > 1 and all(len(results.get(one, {}).get("text", "")) > 400 for one in ids):
            found.append((unit, [results[one]["source"][0] for one in ids]))
    return found


def exchanges(units: Sequence[str], items: Sequence[Json]) -> list[str]:
    """Those of the units that hold a tool call, largest result first."""
    calling = {item["unit"] for item in items if item["type"] == "tool_call"} & set(units)
    size: dict[str, int] = {}
    for item in items:
        unit = item["unit"] if item["unit"] in calling else ""
        if item["type"] == "tool_result" and unit and item["origin"] == "stored":
            size[unit] = size.get(unit, 0) + len(item["text"])
    return sorted(size, key=lambda unit: -size[unit])


def keep_one_and_drop_one(plan: Json, items: Sequence[Json]) -> Iterator[Edit]:
    """One old exchange stays before the cut, another goes without a trace."""
    old = exchanges(summarised(plan) or _listed(plan), items)
    for at in range(min(len(old) - 1, 4)):
        kept, dropped = old[-1 - at], old[at]
        if kept != dropped:
            yield _edit(plan, [(kept, "keep", ()), (dropped, "drop", ())], {kept: "keep", dropped: "drop"})


def cut_two_back(plan: Json, items: Sequence[Json]) -> Iterator[Edit]:
    """The cut two places earlier, or the nearest place before that is allowed."""
    for unit in reversed(summarised(plan)[:-1]):
        yield _edit(plan, [], {}, unit)


def cut_two_on(plan: Json, items: Sequence[Json]) -> Iterator[Edit]:
    """The cut two places later, or the nearest place behind that is allowed."""
    for unit in kept_units(plan, items)[2:] if plan.get("cut") else ():
        yield _edit(plan, [], {}, unit)


def single_results(plan: Json, items: Sequence[Json]) -> Iterator[Edit]:
    """Of one reply's parallel calls, one result is limited, one becomes a pointer, and the rest stay."""
    gone = set(summarised(plan))
    for unit, sources in sorted(parallel(items), key=lambda found: found[0] in gone):
        rows = [(unit, "keep", ()), (unit, "limit", (sources[0],)), (unit, "point", (sources[1],))]
        yield _edit(plan, rows, {unit: "limit"})


def by_hand(plan: Json, items: Sequence[Json]) -> Iterator[Edit]:
    """All of these at once, and the summary in a person's own words."""
    summary = plan.get("summary")
    for moved in list(cut_two_back(plan, items))[:3]:
        old = [unit for unit in summarised(plan) if unit != moved.first_kept]
        position = summarised(plan).index(moved.first_kept or "")
        before = exchanges(summarised(plan)[:position], items)
        behind = exchanges(kept_units(plan, items), items)
        if len(before) < 2 or not behind or not summary or not old:
            continue
        rows = [(before[-1], "keep", ()), (before[0], "drop", ()), (behind[-1], "drop", ())]
        expected = {before[-1]: "keep", before[0]: "drop", behind[-1]: "drop"}
        edit = _edit(plan, rows, expected, moved.first_kept)
        text = summary["text"].rstrip() + '\n\nAdded by hand: <b>keep</b> the "names" \\ as they are. 保持不变 😀\n'
        yield Edit({**edit.file, "summary": {"writer": "person", "text": text}}, expected, moved.first_kept)


def a_little_more(plan: Json, items: Sequence[Json]) -> Iterator[Edit]:
    """Up to three more results go: one with its call, one but for its ends, one for a pointer; all else stays."""
    large = exchanges([item["unit"] for item in items], items)
    for count in (3, 2, 1):
        for at in range(len(large) - count + 1):
            expected = dict(zip(large[at : at + count], ("drop", "limit", "point")))
            yield _edit(plan, [(unit, what, ()) for unit, what in expected.items()], expected)


BUILDERS: dict[str, Builder] = {
    "keep one, drop one": keep_one_and_drop_one,
    "cut two back": cut_two_back,
    "cut two on": cut_two_on,
    "single results": single_results,
    "all by hand": by_hand,
}


def summarise_some(plan: Json, items: Sequence[Json]) -> Iterator[Edit]:
    """A short session's talk is summarised: all but the last unit of it, or all."""
    units = talk(items)
    for span in (units[:-1], units):
        edit = _edit(plan, [(unit, "summarize", ()) for unit in span], dict.fromkeys(span, "summarize"))
        yield Edit({**edit.file, "summary": {"writer": "person", "text": "Go on."}}, edit.expected)


def drop_and_shorten(plan: Json, items: Sequence[Json]) -> Iterator[Edit]:
    """In a short session, one result becomes a pointer and one unit goes; or only one of these."""
    units = talk(items)
    for pointed in exchanges(units, items)[:2]:
        for dropped in [unit for unit in units if unit != pointed][:2]:
            expected = {pointed: "point", dropped: "drop"}
            yield _edit(plan, [(unit, what, ()) for unit, what in expected.items()], expected)
    for unit in units[:4]:
        yield _edit(plan, [(unit, "drop", ())], {unit: "drop"})


def talk(items: Sequence[Json]) -> list[str]:
    """The units of user and model, without what the client itself tells the model."""
    return list(dict.fromkeys(i["unit"] for i in items if i["role"] in ("user", "assistant") and not i.get("mark")))


BY_HAND: dict[str, Builder] = {"summarise": summarise_some, "drop and shorten": drop_and_shorten}


def fulfilled(edit: Edit, plan: Json) -> list[str]:
    """What a plan made with this edit does not do although the edit asked for it; empty where it does."""
    did: dict[str, set[str]] = {}
    for row in plan["dispositions"]:
        did.setdefault(row["unit"], set()).add(row["what"])
    wrong = [
        f"{unit} was set to {what} and is {sorted(did.get(unit, {'keep'}))}"
        for unit, what in edit.expected.items()
        if what not in did.get(unit, {"keep"})
    ]
    first_kept = (plan.get("cut") or {}).get("first_kept")
    if edit.first_kept is not None and first_kept != edit.first_kept:
        wrong.append(f"the cut was set before {edit.first_kept} and is before {first_kept}")
    summary = edit.file.get("summary")
    if summary and (plan.get("summary") or {}).get("text") != summary["text"]:
        wrong.append("the summary is not the one of the edit")
    return wrong


def _listed(plan: Json) -> list[str]:
    return [row["unit"] for row in plan["dispositions"]]


def _edit(
    plan: Json,
    rows: Sequence[tuple[str, str, Sequence[Json]]],
    expected: Mapping[str, str],
    first_kept: str | None = None,
) -> Edit:
    listed = [
        {"unit": unit, "what": what, **({"source": list(source)} if source else {})} for unit, what, source in rows
    ]
    file: dict[str, Any] = {"session": {"fingerprint": plan["session"]["fingerprint"]}, "dispositions": listed}
    if first_kept is not None:
        file["cut"] = {"first_kept": first_kept}
    return Edit(file, expected, first_kept)
