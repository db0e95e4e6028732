"""Edits from a file (`--edit`): the shape of `plan/1`, laid over a policy's own proposal.

A whole plan may be edited and given back: a row that stands there word for word as the policy proposed it, with its
reason, is no edit, and neither is the policy's own summary. Everything else that is listed wins.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast, get_args

from core.edits import move_cut, remove_cut, set_summary, set_what
from core.errors import EditRefused, Stale
from core.opening import Opened
from core.proposal import Proposal, What
from core.view import Source

_WHATS = get_args(What)

_EDITED = frozenset({"session", "cut", "dispositions", "summary"})

KEYS = frozenset(
    {"schema", "agent", "policy", "would_act", "session", "window", "threshold", "budget", "before", "after"}
    | {"dispositions", "cut", "summary", "checks", "commits_as", "why"}
)
"""What an edit file may hold: the keys of `plan/1`. Any other is taken for a slip of the pen."""


def lay_over(opened: Opened, proposal: Proposal, edits: object) -> Proposal:
    """`proposal` with the cut, then the dispositions, then the summary of `edits`.

    Raises Stale where the edits were made for another state of the session, EditRefused where they don't apply.
    """
    if not isinstance(edits, Mapping):
        raise EditRefused("the edit file must hold one JSON object of the shape of plan/1")
    data = cast(Mapping[str, Any], edits)
    unknown = sorted(set(data) - KEYS)
    if unknown:
        raise EditRefused(f"the edit file holds {unknown[0]!r}, which plan/1 has not: use {', '.join(sorted(_EDITED))}")
    _check_fingerprint(opened, data)
    own = proposal
    if "cut" in data:
        proposal = _cut(opened, proposal, data["cut"])
    listed = data.get("dispositions", [])
    if not isinstance(listed, list):
        raise EditRefused("dispositions must be a list")
    for number, row in enumerate(cast(list[Any], listed)):
        if not _is_own(own, row):
            proposal = _disposition(opened, proposal, row, number)
    return _summary(proposal, data.get("summary"))


def _check_fingerprint(opened: Opened, data: Mapping[str, Any]) -> None:
    session = data.get("session")
    made_for = cast(Mapping[str, Any], session).get("fingerprint") if isinstance(session, Mapping) else None
    if not isinstance(made_for, str):
        raise EditRefused("the edit file lacks session.fingerprint: take it from `seamline plan --json`")
    if made_for != opened.session.fingerprint:
        raise Stale("the session has changed since the edit file was made: run `seamline plan` again")


def _cut(opened: Opened, proposal: Proposal, cut: Any) -> Proposal:
    if cut is None:
        return remove_cut(opened, proposal)
    first_kept = cast(Mapping[str, Any], cut).get("first_kept") if isinstance(cut, Mapping) else None
    if not isinstance(first_kept, str):
        raise EditRefused("cut.first_kept must name a unit")
    if proposal.cut is not None and proposal.cut.first_kept == first_kept:
        return proposal
    return move_cut(opened, proposal, first_kept)


def _is_own(own: Proposal, row: Any) -> bool:
    """Whether a row stands in the file just as the policy proposed it."""
    if not isinstance(row, Mapping):
        return False
    fields = cast(Mapping[str, Any], row)
    return any(
        (disposition.what, disposition.reason, disposition.text)
        == (fields.get("what"), fields.get("reason"), fields.get("text"))
        for disposition in own.of(str(fields.get("unit")))
    )


def _disposition(opened: Opened, proposal: Proposal, row: Any, number: int) -> Proposal:
    fields = cast(Mapping[str, Any], row) if isinstance(row, Mapping) else {}
    unit, what, text = fields.get("unit"), fields.get("what"), fields.get("text")
    if not isinstance(unit, str) or what not in _WHATS or not isinstance(text, str | None):
        raise EditRefused(f"dispositions[{number}] needs a unit and a what out of {', '.join(_WHATS)}")
    source = _sources(fields.get("source"), number) if what in ("limit", "point", "keep") else ()
    if what == "keep" and not _is_part(opened, unit, source):
        source = ()
    return set_what(opened, proposal, unit, cast(What, what), source, text)


def _is_part(opened: Opened, unit_id: str, source: tuple[Source, ...]) -> bool:
    """Whether the sources name single results of the unit and not the unit as a whole."""
    unit = opened.unit_by_id.get(unit_id)
    return bool(source) and unit is not None and set(source) <= set(opened.options(unit).results)


def _sources(value: Any, number: int) -> tuple[Source, ...]:
    rows = cast(list[Any], value) if isinstance(value, list) else []
    found: list[Source] = []
    for row in rows:
        fields = cast(Mapping[str, Any], row) if isinstance(row, Mapping) else {}
        entry, part = fields.get("entry"), fields.get("part", 0)
        if not isinstance(entry, str) or not isinstance(part, int):
            raise EditRefused(f"dispositions[{number}].source needs objects with entry and part")
        found.append(Source(entry, part))
    return tuple(found)


def _summary(proposal: Proposal, summary: Any) -> Proposal:
    if summary is None:
        return proposal
    text = cast(Mapping[str, Any], summary).get("text") if isinstance(summary, Mapping) else None
    if not isinstance(text, str):
        raise EditRefused("summary.text must be a string")
    if proposal.summary is not None and text == proposal.summary.text:
        return proposal
    writer = cast(Mapping[str, Any], summary).get("writer")
    return set_summary(proposal, text, writer if isinstance(writer, str) and writer != "offline" else "person")
