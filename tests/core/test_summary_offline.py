"""The offline summary as a whole: deterministic, within its budget, built on facts and never on a summary's prose."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from core.edits import set_what
from core.opening import Opened, open_session
from core.planning import revise
from core.policies import propose
from core.policies.settings import Settings
from core.summary.checking import check_summary
from core.summary.offline import write_offline
from core.summary.parse import parse
from core.summary.state import Facts
from core.summary.template import language_of
from core.view import Item, Seen
from tests.core.pi_sessions import stamp
from tests.core.summarising import PROFILE, History, Words, texts

SAMPLES = Path(__file__).resolve().parents[2] / "sample_sessions"


def busy(files: int = 40) -> History:
    """A history with much of everything."""
    history = History()
    history.user("Migrate every caller.\nDo not change the public interface.")
    history.tool("update_plan", {"plan": [{"step": f"Step {n}", "status": "pending"} for n in range(5)]})
    for number in range(files):
        history.tool("read", {"path": f"src/m{number}.py"})
        history.tool("edit", {"path": f"src/m{number}.py", "oldText": f"old_{number}()", "newText": f"new_{number}()"})
        history.run(f"pytest tests/test_{number}.py")
        history.agent(f"Confirmed: module {number} is green. This is probably the lock of number {number}.")
        history.agent(f"I decided to rename variable {number} because it hides another one. See https://x.org/{number}")
        history.user(f"And module {number} next, " + "with some words about it " * 10)
    history.run("pytest -q", "E   AssertionError: assert 4 == 5\nFAILED tests/test_a.py::test_b", 1)
    history.user("Find out why test_b fails.")
    return history


def test_same_inputs_same_text() -> None:
    history = busy()
    assert history.summary(budget=900) == history.summary(budget=900)


@pytest.mark.parametrize("budget", [4_000, 2_000, 1_200, 800])
def test_within_the_budget(budget: int) -> None:
    text = busy().summary(budget=budget)
    assert Words().text(text) <= budget


@pytest.mark.parametrize("budget", [4_000, 800, 1])
def test_what_may_never_go(budget: int) -> None:
    history = busy()
    facts, read = history.facts(), parse(history.summary(budget=budget))
    assert read is not None
    assert read.goal == facts.goal
    assert read.constraints == facts.constraints
    assert [one.path for one in read.changes] == [one.path for one in facts.changes]
    assert read.failures[0] == facts.failures[0]
    assert read.plan == facts.plan
    assert read.request == facts.request


def test_less_room_never_means_more_text() -> None:
    history = busy()
    sizes = [Words().text(history.summary(budget=budget)) for budget in (400, 800, 1_600, 3_200, 6_400)]
    assert sizes == sorted(sizes)


def test_what_is_left_out_is_counted() -> None:
    text = busy(files=100).summary(budget=3_000)
    assert "more left out)" in text


def test_the_newest_messages_stay() -> None:
    read = parse(busy().summary(budget=1_500))
    assert read is not None and read.messages
    assert read.messages[-1].text.startswith("And module 39 next")


def test_the_focus_stays() -> None:
    history = busy(files=100)
    text = history.summary(budget=1_600, focus="variable 3 hides something about module7x")
    assert "Look out for: variable 3 hides" in text


def test_without_anything_every_heading_says_so() -> None:
    text = write_offline([], [], PROFILE, Words(), 500).text
    assert text.count("(none recorded)") == text.count("## ")
    assert parse(text) == Facts()


def test_language_of_the_user() -> None:
    chinese = History()
    chinese.user("请把 src/client.py 里的 fetch_user() 全部换成 get_user()，不要改 public API。")
    chinese.agent("OK, I will do that now.")
    english = History()
    english.user("Translate the strings in i18n.py to 中文, please keep the keys.")
    japanese = History()
    japanese.user("公開インターフェースを変更しないでください。")
    assert language_of(chinese.items) == "zh"
    assert language_of(english.items) == "en"
    assert language_of(japanese.items) == "en"
    assert "## 约束（用户原话）\n- “请把" in chinese.summary()


# ---- earlier summaries


def compacted(history: History, text: str, have_originals: bool) -> History:
    """The history after a compaction with this summary, and a little more work."""
    after = History(entries=history.entries)
    at = after.user(f"Compacted:\n\n<summary>\n{text}\n</summary>", mark="summary")
    if have_originals:
        after.seen = [Seen(one.item, "summarized", at) for one in history.seen] + after.seen
    after.agent("I decided to keep the old name, because others import it.")
    after.tool("edit", {"path": "src/late.py", "oldText": "a", "newText": "b"})
    after.user("Go on with the docs.")
    return after


def lasting(facts: Facts) -> dict[str, Any]:
    """What may not change from one compaction to the next."""
    return {
        "goal": texts(facts.goal),
        "constraints": texts(facts.constraints),
        "attempts": texts(facts.attempts),
        "changes": [one.path for one in facts.changes],
    }


@pytest.mark.parametrize("have_originals", [True, False])
def test_five_compactions_lose_nothing_that_lasts(have_originals: bool) -> None:
    history = busy(files=6)
    history.agent("I tried a shim, but it failed because pickling needs the class path.")
    first = lasting(history.facts())
    text = history.summary(budget=4_000)
    for _ in range(5):
        history = compacted(history, text, have_originals)
        text = history.summary(budget=4_000)
        now = parse(text)
        assert now is not None
        assert lasting(now)["goal"] == first["goal"]
        assert lasting(now)["constraints"] == first["constraints"]
        assert lasting(now)["attempts"] == first["attempts"]
        assert set(lasting(now)["changes"]) == {*first["changes"], "src/late.py"}
        assert now.earlier == ()
        assert now.request is not None and now.request.text == "Go on with the docs."
        assert "Find out why test_b fails." in texts(now.messages)


def test_a_stored_state_knows_more_than_the_text() -> None:
    history = busy(files=100)
    written = write_offline(history.seen, [], PROFILE, Words(), 1_200)
    after = compacted(history, written.text, have_originals=False)
    summary_id = after.seen[0].item.source[0].entry
    assert written.state is not None
    facts = after.facts(states={summary_id: written.state})
    assert len(facts.decisions) == 101
    assert len(after.facts().decisions) < 60


@pytest.mark.parametrize("have_originals", [True, False])
def test_what_a_person_wrote_into_the_summary_stays(have_originals: bool) -> None:
    history = busy(files=3)
    text = history.summary()
    heading = "## Constraints (the user's words)\n"
    text = text.replace(heading, f"{heading}- Ask before deleting anything.\n")
    after = compacted(history, text, have_originals)
    constraints = after.facts().constraints
    assert [(one.text, one.entry) for one in constraints if one.text.startswith("Ask")] == [
        ("Ask before deleting anything.", after.seen[-5].item.source[0].entry)
    ]
    assert len(constraints) == 2


def test_a_native_summary_stands_apart_and_only_without_originals() -> None:
    history = busy(files=2)
    native = "## Goal\nMigrate.\n\n## Progress\n- The cache is the cause."
    alone = compacted(history, native, have_originals=False)
    text = alone.summary()
    assert "## Earlier summary by the agent (not verified)\n- [" in text
    assert native in text
    facts = parse(text)
    assert facts is not None and [one.text for one in facts.earlier] == [native]
    assert facts.verified == ()
    with_originals = compacted(history, native, have_originals=True).summary()
    assert "The cache is the cause" not in with_originals
    assert "Migrate every caller." in with_originals


def test_what_an_earlier_summary_calls_done_is_not_when_it_failed_since() -> None:
    history = busy(files=1)
    history.run("npm test", "12 passed")
    after = compacted(history, history.summary(), have_originals=False)
    assert "npm test" in [one.command for one in after.facts().milestones]
    after.run("npm test -v", "E   boom", 1)
    assert "npm test" not in [one.command for one in after.facts().milestones]


def test_a_long_native_summary_is_shortened() -> None:
    after = compacted(History(), "word " * 30_000, have_originals=False)
    text = after.summary(budget=2_000)
    assert Words().text(text) <= 2_000
    assert "(shortened)" in text


def test_copied_entries_count_once() -> None:
    history = History()
    history.user("Go. Never push.")
    history.tool("edit", {"path": "a.py", "oldText": "x", "newText": "y"})
    copies = [
        Seen(
            Item(**{**as_fields(one.item), "source": tuple(type(s)(f"copy{s.entry}", 0) for s in one.item.source)}),
            "visible",
        )
        for one in history.seen
    ]
    facts = History(seen=[*history.seen, *copies]).facts()
    assert texts(facts.constraints) == ["Never push."]
    assert facts.changes[0].times == 1


def as_fields(item: Item) -> dict[str, Any]:
    return {name: getattr(item, name) for name in Item.__slots__}


# ---- the samples


def split(opened: Opened, kept_turns: int) -> tuple[list[Seen], list[Item]]:
    """The session's past, cut before its last turns."""
    stays = {entry for turn in opened.turns[-kept_turns:] for unit in turn.units for entry in unit.entries}
    seen = list(opened.agent.history(opened.session, opened.resume))
    cut = next(n for n, one in enumerate(seen) if one.item.source and one.item.source[0].entry in stays)
    return seen[:cut], [one.item for one in seen[cut:]]


def of_sample(name: str, kept_turns: int) -> tuple[str, dict[str, Any]]:
    """The summary of a sample, which passes all checks, and the truth that was planted in the sample."""
    opened = open_session(SAMPLES / "pi" / f"{name}.jsonl")
    seen, kept = (
        split(opened, kept_turns) if kept_turns else (list(opened.agent.history(opened.session, opened.resume)), [])
    )
    summary = write_offline(seen, kept, opened.agent.profile, opened.counter, 6_000)
    for check, ok, message in check_summary(summary, opened.counter, opened.view_tokens):
        assert ok, (check, message)
    assert opened.counter.text(summary.text) <= 6_000
    return summary.text, json.loads((SAMPLES / "truth" / f"pi-{name}.json").read_text())


@pytest.mark.parametrize("name", ["interface-migration", "order-gateway-chinese"])
@pytest.mark.parametrize("kept_turns", [0, 1, 2, 4, 8])
def test_every_truth_of_the_sample_under_its_heading(name: str, kept_turns: int) -> None:
    text, truth = of_sample(name, kept_turns)
    read = parse(text)
    assert read is not None and read.plan is not None and read.request is not None
    for kind, found in (
        ("constraints", read.constraints),
        ("decisions", read.decisions),
        ("verified_findings", read.verified),
        ("wrong_guesses", read.unverified),
        ("hedged_guesses", read.unverified),
        ("failed_attempts", read.attempts),
    ):
        for planted in truth[kind]:
            assert any(planted["text"] in one.text and planted["entry"] == one.entry for one in found), planted
            assert planted["text"] in text
    assert all(claim.hedged for claim in read.unverified)
    assert not any(claim.hedged for claim in read.verified)
    for planted in truth["wrong_guesses"]:
        (guess,) = [one for one in read.unverified if planted["text"] in one.text]
        assert guess.against is not None
        assert planted["disproved"]["text"] in guess.against.text
    for planted in truth["failed_attempts"]:
        assert any(planted["reason"] in one.text for one in read.attempts)
    assert {change.path for change in read.changes} == {one["path"] for one in truth["changed_files"]}
    assert truth["last_failure"]["text"] in text
    assert read.failures[0].entry == truth["last_failure"]["entry"]
    names = {"done": "done", "doing": "active", "open": "open"}
    expected = {(step, status) for key, status in names.items() for step in truth["plan"][key]}
    assert {(step.text, step.status) for step in read.plan.steps} == expected
    assert truth["goal"]["text"] in read.goal[0].text
    assert truth["last_request"]["text"] in read.request.text


def test_commands_that_did_something_stay_longest() -> None:
    history = History()
    history.user("Go.")
    for number in range(60):
        history.run(f"ls src/{number}")
        history.run(f"cat src/{number}/a.py")
    history.run("docker compose up -d")
    for number in range(60):
        history.run(f"wc -l src/{number}")
    read = parse(history.summary(budget=250))
    assert read is not None and 0 < len(read.commands) < 20
    assert "docker compose up -d" in [command.command for command in read.commands]


def test_instructions_that_were_read_stay_named() -> None:
    history = History()
    history.user("Go.")
    history.tool("read", {"path": "skills/pdf/SKILL.md"})
    for number in range(200):
        history.tool("read", {"path": f"src/{number}.py"})
    assert "`skills/pdf/SKILL.md`" in history.summary(budget=250)


def test_a_branch_summary_stands_apart() -> None:
    history = History()
    history.user("Go.")
    history.user("The following is a summary of a branch:\n\n<summary>\nTried B.</summary>", mark="branch_summary")
    history.agent("I see.")
    facts = history.facts()
    assert texts(facts.earlier) == ["Tried B."]
    assert facts.request is not None and facts.request.text == "Go."


def test_two_earlier_summaries_in_order() -> None:
    history = History()
    history.user("<summary>\nFirst.\n</summary>", mark="summary")
    history.user("Go.")
    history.user("<summary>\nSecond.\n</summary>", mark="summary")
    assert texts(history.facts().earlier) == ["First.", "Second."]


def test_the_file_that_a_dropped_unit_changed_stays_named_in_the_plan() -> None:
    opened = open_session(SAMPLES / "pi" / "interface-migration.jsonl")
    settings = Settings()
    path = "tools/orders.py"
    (changing,) = [
        unit.id
        for unit in opened.units
        for at in unit.items
        if opened.view.items[at].kind == "tool_call"
        and path in str((opened.view.items[at].arguments or {}).get("path"))
    ]
    proposal = propose(opened, settings)
    before = revise(opened, proposal, settings, stamp())
    after = revise(opened, set_what(opened, proposal, changing, "drop"), settings, stamp())
    summaries = [plan.proposal.summary for plan in (before, after)]
    assert all(summary is not None and f"- `{path}` (written whole)" in summary.text for summary in summaries)
    assert [check.id for check in after.checks if not check.ok] == [check.id for check in before.checks if not check.ok]
