"""What is odd about the lines and the way through them, and what Claude Code does about each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from core.agents.claude_code.chain import Chain
from core.agents.claude_code.records import Line
from core.agents.claude_code.sent import lost_calls
from core.session import Damage, Entry


def remarks(
    stored: Sequence[Line], leaves: Sequence[tuple[Entry, str]], chain: Chain, identity: str
) -> Iterator[Damage]:
    """Remarks on lines, in no particular order."""
    yield from _twice(stored)
    yield from _parents(stored, chain)
    yield from _boundaries(stored, chain)
    yield from _foreign(stored, chain, identity)
    yield from _calls(chain)
    if chain.leaf_fault is not None:
        entry, own = chain.leaf_fault
        words = f"the last-prompt names the leaf {own!r}, which is not in the conversation"
        yield _remark(entry, "stale-leaf", words, "ignores it and goes on from the last line of the file")
    elif chain.boundary is not None and leaves and not chain.kept and not chain.kept_fault:
        entry, own = leaves[-1]
        on_way = any(line.id == chain.boundary.id for line in chain.path)
        if entry.index > chain.boundary.entry.index and not on_way and chain.leaf is not None:
            words = f"the last-prompt names {own!r}, from before the boundary: the boundary has no effect"
            yield _remark(entry, "stale-leaf", words, "goes on from there: the whole old history is back")


def _remark(entry: Entry, kind: str, message: str, client: str) -> Damage:
    return Damage(entry.line, entry.offset, entry.length, kind, message, client)


def _twice(stored: Sequence[Line]) -> Iterator[Damage]:
    """Uuids that different lines share; the same line written again, perhaps shortened, is how the client works."""
    first: dict[str, Line] = {}
    for line in stored:
        before = first.setdefault(line.id, line)
        if before.entry.kind != line.entry.kind or before.entry.parent != line.entry.parent:
            words = f"the uuid {line.id!r} was used before, in line {before.entry.line}, for another line"
            yield _remark(line.entry, "duplicate-id", words, "takes the later line for both")


def _parents(stored: Sequence[Line], chain: Chain) -> Iterator[Damage]:
    bridged = {child.id: above for child, above in chain.bridges}
    for line in stored:
        parent = line.entry.parent
        if parent is None or parent in chain.lines or parent in chain.links:
            continue
        words = f"the parent {parent!r} of {line.id!r} is not in the file"
        client = "begins the history there: nothing older is sent"
        if line.id in bridged:
            above = bridged[line.id]
            client = f"goes on with the newest line at most 5 seconds older, line {above.entry.line}"
        yield _remark(line.entry, "missing-parent", words, client)


def _boundaries(stored: Sequence[Line], chain: Chain) -> Iterator[Damage]:
    boundary = chain.boundary
    if boundary is None:
        return
    if chain.kept_fault:
        client = "ignores the list: the stored parents decide, as if nothing was kept"
        yield _remark(boundary.entry, "kept-list", f"of the last boundary, {chain.kept_fault}", client)
    for line in stored:
        logical = line.logical_parent
        if line.boundary and logical is not None and logical not in chain.lines:
            words = f"the boundary's logical parent {logical!r} is not in the file"
            yield _remark(line.entry, "missing-logical-parent", words, "does not look at it")
    if chain.skipped_before:
        words = "the file is so large that nothing before this boundary is read"
        yield _remark(boundary.entry, "large-file", words, "skips what stands before it")


def _foreign(stored: Sequence[Line], chain: Chain, identity: str) -> Iterator[Damage]:
    """Lines of other sessions in this file."""
    if chain.subagent:
        return
    counts: dict[str, int] = {}
    first: dict[str, Entry] = {}
    for line in stored:
        if line.session and line.session != identity:
            counts[line.session] = counts.get(line.session, 0) + 1
            first.setdefault(line.session, line.entry)
    in_view = {line.session for line in chain.path}
    for session, count in counts.items():
        where = "some of them in the view" if session in in_view else "none of them in the view"
        words = f"{count} lines of another session, {session!r}, stand in this file, {where}"
        yield _remark(first[session], "foreign-session", words, "does not look at session ids: it follows the parents")


def _calls(chain: Chain) -> Iterator[Damage]:
    """Calls of the conversation without a result, and results without a call, as far as the client leaves them out."""
    path = [line for line in chain.path if not line.api_error]
    lost = lost_calls(path)
    called: set[str] = set()
    for line in path:
        for call in line.calls:
            if call in called:
                yield _remark(line.entry, "duplicate-call", f"the call id {call!r} is used again", "leaves it out")
            elif call in lost:
                yield _remark(line.entry, "unanswered-call", f"the call {call!r} has no result", "leaves it out")
            called.add(call)
    answered: set[str] = set()
    for line in path:
        for call in line.results:
            if call not in called:
                words = f"the result of {call!r} answers no call of the conversation"
                yield _remark(line.entry, "orphaned-result", words, "leaves it out")
            elif call in answered:
                yield _remark(line.entry, "second-result", f"the call {call!r} was answered before", "leaves it out")
            answered.add(call)
