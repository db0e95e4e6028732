"""Commits and forks of Claude Code sessions in detail: the lines that are written, what stays as it was, refusals."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from core.agents.protocol import Stamp
from core.approving import approve
from core.edits import set_what
from core.errors import CommitRefused
from core.opening import Opened, open_session
from core.planning import plan_session, revise
from core.policies.settings import Settings
from core.proposal import Disposition, Proposal, Summary, What
from core.resume import Overrides
from core.view import Source
from tests.core.claude_random import opened, stamp
from tests.core.claude_sessions import SESSION, Build, call, own, thought, told
from tests.core.test_claude_code_write import check, commit, content, harmless, only_append, read_back, torn


def decided(summary: str = "", **what: What) -> Proposal:
    """A proposal over units by the names of their first lines."""
    dispositions = tuple(Disposition(own(name), one, "test") for name, one in what.items())
    return Proposal("handoff", dispositions, None, Summary("person", summary) if summary else None)


def shortened(name: str, result: str, what: What, text: str) -> Disposition:
    return Disposition(own(name), what, "test", (Source(own(result), 0),), text)


def story() -> Build:
    """Three turns: parallel calls with thinking, reminders of both sides, a command in the client."""
    build = Build()
    build.context("environment", "system")
    build.user("q1")
    build.reply("t1", thought("first thought"), message="c1")
    build.reply("c1", call("one", "Read", file_path="/srv/a.py"), message="c1")
    build.reply("c2", call("two"), message="c1")
    build.result("r1", "one", "A" * 50, "c1")
    build.result("r2", "two", [{"type": "text", "text": "B" * 50}], "c2")
    build.context("reminder")
    build.reply("a1")
    build.user("q2")
    build.context("changed")
    build.reply("a2", thought("second thought"), {"type": "text", "text": "a2"})
    build.user("q3")
    build.reply("a3")
    build.leaf("a3")
    return build


def bytes_of(build: Build) -> bytes:
    return b"".join(json.dumps(line).encode() + b"\n" for line in build.lines)


def lines_of(data: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in data.splitlines()]


def everything() -> Proposal:
    """Every disposition at once."""
    dispositions = (
        shortened("t1", "r1", "limit", "A…A"),
        shortened("t1", "r2", "point", "[Omitted]"),
        Disposition(own("a1"), "drop", "test"),
        Disposition(own("q2"), "summarize", "test"),
        Disposition(own("a2"), "summarize", "test"),
    )
    return Proposal("handoff", dispositions, None, Summary("person", "What was done, by hand."))


def test_every_disposition_at_once() -> None:
    before = opened(bytes_of(story()))
    after = read_back(before, commit(before, everything()))
    check(after, before, everything())
    assert told(after)[1:] == [
        "q1", "environment", "first thought", "tool_call toolu_one", "tool_call toolu_two", "A…A", "[Omitted]",
        "<system-reminder>\nchanged\n</system-reminder>", "q3", "a3",
    ]  # fmt: skip


def test_the_lines_are_those_that_the_client_writes_with_the_boundary_behind_what_it_lists() -> None:
    before = opened(bytes_of(story()))
    added = lines_of(only_append(commit(before, everything())).data)
    kinds = [line.get("subtype") or line["type"] for line in added]
    assert kinds == ["last-prompt", "user", "user", "attachment", "user", "user", "compact_boundary", "last-prompt"]
    first, *_, summary, boundary, last = added
    metadata = boundary["compactMetadata"]
    listed = metadata["preservedMessages"]["uuids"]
    assert first["leafUuid"] == boundary["logicalParentUuid"] == own("a3")
    assert boundary["parentUuid"] is None and summary["isCompactSummary"] and listed[0] == summary["uuid"]
    assert metadata["preservedMessages"] == {"anchorUuid": boundary["uuid"], "uuids": listed, "allUuids": listed}
    assert metadata["preservedSegment"] == {
        "headUuid": listed[0], "anchorUuid": boundary["uuid"], "tailUuid": own("a3"),
    }  # fmt: skip
    assert last["leafUuid"] == own("a3")
    assert len(set(listed)) == len(listed)
    there = {line["uuid"] for line in added if "uuid" in line} | {own(name) for name in ("c1", "c2", "r1", "r2", "t1")}
    assert there <= {*listed, boundary["uuid"], own("reminder")}
    assert metadata["preTokens"] == 2149 and metadata["postTokens"] > 0
    assert metadata["seamline"]["dropped"] == [own("a1")]
    times = [line["timestamp"] for line in added if line.get("type") == "system" or line.get("isCompactSummary")]
    assert times == sorted(times)
    for line in added:
        assert line["sessionId"] == SESSION
        assert "uuid" not in line or (line["cwd"], line["version"]) == ("/srv/demo", "2.1.332")


def test_cumulative_tokens_are_carried_on() -> None:
    build = story()
    build.boundary("B", ["a3"], "S", cumulativeDroppedTokens=1000)
    build.summary("S", "B")
    build.turns(4)
    before = opened(bytes_of(build))
    added = lines_of(only_append(commit(before, decided(q4="drop", S="drop"))).data)
    metadata = next(line["compactMetadata"] for line in added if "compactMetadata" in line)
    assert metadata["cumulativeDroppedTokens"] == 1000 + max(0, metadata["preTokens"] - metadata["postTokens"])


@pytest.mark.parametrize("ending", ["", "\n", '\n{"type":"user","uu'])
def test_every_byte_of_an_append_may_be_the_last(ending: str) -> None:
    data = bytes_of(story())[:-1] + ending.encode()
    before = opened(data)
    proposal = everything()
    append = only_append(commit(before, proposal))
    old, new = (list(map(content, seen.view.items)) for seen in (before, read_back(before, commit(before, proposal))))
    states: list[list[tuple[Any, ...]]] = []
    every = 1 if not ending else 11
    for length in (*range(0, len(append.data), every), len(append.data)):
        seen = torn(before, append, length)
        items = list(map(content, seen.view.items))
        if not states or items != states[-1]:
            states.append(items)
            if items not in (old, new):
                harmless(seen, before, proposal)
    assert states[0] == old and states[-1] == new
    texts = [[item[2] for item in state] for state in states[1:-1]]
    assert all(text in texts[-1] for text in ("q1", "q2", "a1", "a2", "q3", "a3", "second thought"))


def test_nothing_happens_before_the_boundary_is_whole() -> None:
    before = opened(bytes_of(story()))
    append = only_append(commit(before, decided(q1="drop")))
    lines = append.data.splitlines(keepends=True)
    boundary = next(at for at, line in enumerate(lines) if b"compact_boundary" in line)
    assert told(torn(before, append, sum(map(len, lines[:boundary])))) == told(before)


def test_results_alone_are_shortened_without_a_boundary() -> None:
    before = opened(bytes_of(story()))
    proposal = Proposal("handoff", (shortened("t1", "r1", "point", "[gone]"),))
    append = only_append(commit(before, proposal))
    assert b"compact_boundary" not in append.data
    after = read_back(before, commit(before, proposal))
    check(after, before, proposal)
    assert after.session.leaf == before.session.leaf
    again = next(line for line in lines_of(append.data) if line["type"] == "user")
    assert again["toolUseResult"] == "[gone]" and again["parentUuid"] == own("c1")


def test_pictures_stay_with_a_limit_and_go_with_a_pointer() -> None:
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGVsbG8="}}
    build = Build()
    build.user("q")
    build.reply("c", call("one"), call("two"))
    build.result("r1", "one", [{"type": "text", "text": "x"}, picture])
    build.result("r2", "two", [picture, {"type": "text", "text": "y"}])
    before = opened(bytes_of(build))
    proposal = Proposal("handoff", (shortened("c", "r1", "limit", "x…"), shortened("c", "r2", "point", "[y]")))
    after = read_back(before, commit(before, proposal))
    kinds = [(item.kind, item.text) for item in after.view.items if item.role == "tool"]
    assert kinds == [("tool_result", "x…"), ("image", ""), ("tool_result", "[y]")]


def test_signed_thinking_keeps_its_bytes_in_a_fork() -> None:
    raw = b'{"signature":"c2ln","thinking":"caf\\u00e9 \\ud83d\\ude00 1.0E3 \\/","type":"thinking"}'
    build = Build()
    build.user("q")
    build.reply("t", thought("PLACE"), message="m")
    build.reply("a", message="m")
    data = bytes_of(build).replace(json.dumps(thought("PLACE")).encode(), raw)
    before = opened(data)
    (change,) = before.agent.fork(before.session, before.view, Proposal("handoff"), stamp()).changes
    assert raw in change.data  # type: ignore[union-attr]


def test_lines_of_other_sessions_keep_their_bytes_and_may_be_kept() -> None:
    build = story()
    for line in build.lines[:5]:
        line["sessionId"] = "99999999-2222-4333-8444-555555555555"
    before = opened(bytes_of(build))
    patch = commit(before, decided("S.", q2="summarize", a2="summarize"))
    after = read_back(before, patch)
    check(after, before, decided("S.", q2="summarize", a2="summarize"))
    assert all(line["sessionId"] == SESSION for line in lines_of(only_append(patch).data))


@pytest.mark.parametrize(
    ("proposal", "words"),
    [
        (decided(q1="limit"), "kept whole"),
        (
            decided(**dict.fromkeys(("q1", "t1", "a1", "q2", "changed", "a2", "q3", "a3"), "drop")),
            "nothing would be left",
        ),
        (decided(q1="summarize"), "no summary"),
        (decided(elsewhere="drop"), "no unit"),
        (decided(), "nothing in the view would change"),
    ],
)
def test_what_cannot_be_is_refused_with_the_reason(proposal: Proposal, words: str) -> None:
    before = opened(bytes_of(story()))
    with pytest.raises(CommitRefused, match=words):
        commit(before, proposal)


def test_sub_agents_are_left_alone(tmp_path: Path) -> None:
    build = Build()
    for line in (build.user("q"), build.reply("a")):
        line |= {"isSidechain": True, "agentId": "abc"}
    before = open_session(build.write(tmp_path / "agent-abc.jsonl"))
    for write in (before.agent.encode, before.agent.fork):
        with pytest.raises(CommitRefused, match="sub-agent"):
            write(before.session, before.view, decided(q="drop"), stamp())


def test_context_that_the_client_collapsed_is_not_contradicted() -> None:
    build = story()
    build.side(type="marble-origami-commit")
    before = opened(bytes_of(build))
    with pytest.raises(CommitRefused, match="--as fork"):
        commit(before, decided(q1="drop"))
    patch = before.agent.fork(before.session, before.view, decided(q1="drop"), stamp())
    check(read_back(before, patch), before, decided(q1="drop"))


def test_what_grows_back_is_marked() -> None:
    seen = opened(bytes_of(story()))
    options = {unit.id: seen.options(unit) for unit in seen.units}
    assert "from the disk" in options[own("t1")].grows_back["point"]
    assert "anew" in options[own("environment")].grows_back["drop"]
    assert options[own("q1")].grows_back == {}


def test_an_earlier_summary_does_not_stay_beside_a_new_one() -> None:
    build = story()
    build.boundary("B")
    build.summary("S")
    build.turns(4, 5)
    before = opened(bytes_of(build))
    with pytest.raises(CommitRefused, match="no new summary"):
        commit(before, decided("new", q4="summarize"))
    for proposal in (decided("new", S="summarize", q4="summarize"), decided(q4="drop"), decided(S="drop")):
        check(read_back(before, commit(before, proposal)), before, proposal)


def test_a_fork_before_a_native_compaction_holds_what_it_took_away() -> None:
    build = story()
    build.boundary("B", ["a3"], "S")
    build.summary("S", "B")
    build.turns(4)
    data = bytes_of(build)
    now, then = opened(data), opened(data, leaf=own("a2"))
    assert told(now) == ["SUMMARY S", "a3", "q4", "a4"]
    patch = then.agent.fork(then.session, then.view, Proposal("handoff"), stamp())
    fork = read_back(then, patch)
    assert told(fork) == told(then) and "q1" in told(fork)
    assert fork.usage.current == 2149 and not any(point.inherited is False for point in fork.usage.points)


def test_a_commit_may_end_at_another_leaf() -> None:
    build = story()
    build.boundary("B", ["a3"], "S")
    build.summary("S", "B")
    build.turns(4)
    then = opened(bytes_of(build), leaf=own("a2"))
    proposal = Proposal("handoff", (shortened("t1", "r1", "point", "[gone]"),))
    check(read_back(then, commit(then, proposal)), then, proposal)


def large(folder: Path) -> Opened:
    build = Build()
    for number in range(12):
        build.user(f"q{number}: " + "please do look into this part of the work. " * 20)
        build.reply(f"c{number}", call(str(number), "Read", file_path=f"/srv/{number % 2}.py"))
        build.result(f"r{number}", str(number), "line of the file\n" * 2000)
        build.reply(f"a{number}")
    path = build.write(folder / f"{SESSION}.jsonl")
    return open_session(path, Overrides(client_version="2.1.332", window=60_000))


POLICIES: Sequence[str] = ("handoff", "codex", "dsh", "grok-build", "pi", "claude-code")


@pytest.mark.parametrize("policy", POLICIES)
def test_plans_of_every_policy_can_be_committed(policy: str, tmp_path: Path) -> None:
    seen = large(tmp_path)
    plan = plan_session(seen, policy, Settings(), Stamp(1_800_000_000.0, lambda: "0123456789abcdef" * 2))
    assert plan.commits_as == "append" and plan.may_commit, [check for check in plan.checks if not check.ok]


def test_a_commit_is_read_back_and_undone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from core.commit import Journal, undo

    monkeypatch.setenv("SEAMLINE_STATE_DIR", str(tmp_path / "state"))
    (tmp_path / "project").mkdir()
    seen = large(tmp_path / "project")
    before = seen.session.path.read_bytes()
    plan = plan_session(seen, "handoff", Settings(), stamp())
    proposal = set_what(seen, plan.proposal, own("a11"), "drop")
    plan = revise(seen, proposal, Settings(), stamp(1))
    approve(plan, stamp(2), agent_stopped=True)
    after = open_session(seen.session.path, seen.overrides)
    assert told(after) == told(plan.after)
    with Journal() as journal:
        undo(seen.session.path, journal, now=1_800_000_000.0, known_running=lambda _: None)
    assert seen.session.path.read_bytes() == before
