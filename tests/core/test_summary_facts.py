"""What the program takes out of a history: every fact quoted from its entry, nothing made up."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.summary.state import Command, FileChange, FileRead, Step
from core.view import Item, Seen, Source
from tests.core.summarising import History, texts


def test_goal_is_the_first_message_whole() -> None:
    history = History()
    history.user("Migrate all callers.\n\n1. billing\n2. reports\n\nThanks!")
    history.agent("Yes.")
    history.user("And be quick about it, the release is on Friday.")
    facts = history.facts()
    assert texts(facts.goal) == ["Migrate all callers.\n\n1. billing\n2. reports\n\nThanks!"]
    assert facts.goal[0].entry == "e1"
    assert facts.request is not None and facts.request.entry == "e3"


def test_a_greeting_is_no_goal_by_itself() -> None:
    history = History()
    history.user("hello there!")
    history.agent("Hi!")
    history.user("Port the parser to Rust.")
    assert texts(history.facts().goal) == ["hello there!", "Port the parser to Rust."]


@pytest.mark.parametrize(
    "rule",
    [
        "Do not change the public interface.",
        "don’t touch the golden files",
        "Never push to main.",
        "You must keep Python 3.9 compatibility!",
        "Only edit files under src/.",
        "No new dependencies.",
        "do not edit any file, do not push",
        "不要修改对外暴露的公共接口。",
        "必须保持测试通过",
        "只改 app/ 目录。",
        "禁止升级依赖",
    ],
)
def test_rules_are_kept_letter_for_letter(rule: str) -> None:
    history = History()
    history.user("Please fix the failing build.")
    history.agent("I look.")
    history.user(f"Fine. {rule}\nThe log is below.\n```\nyou must never see this\n```")
    for turn in range(60):
        history.agent(f"Step {turn}")
        history.run(f"make step{turn}")
    assert [(one.text, one.entry) for one in history.facts().constraints] == [(rule, "e3")]
    assert rule in history.summary(budget=50)


def test_a_rule_takes_the_list_that_it_announces() -> None:
    history = History()
    history.user("Clean up.\n\nDo not touch:\n- a.py\n- b.py\n\nThat is all.")
    assert texts(history.facts().constraints) == ["Do not touch:\n- a.py\n- b.py"]


def test_a_wrapped_rule_is_one_quote() -> None:
    history = History()
    history.user("Please do not change the signature of any function that the\nother teams import. Ok?")
    expected = "Please do not change the signature of any function that the\nother teams import."
    assert texts(history.facts().constraints) == [expected]


def test_pasted_log_lines_are_no_rules() -> None:
    history = History()
    history.user("Why?\n2025-10-19 08:00:00 WARN must not be None\nFAILED test_a - never called")
    assert history.facts().constraints == ()


def test_hedged_statements_are_never_findings() -> None:
    history = History()
    history.user("Fix it.")
    history.run("pytest", "1 failed", 1)
    history.agent("Confirmed: this is probably the cache that is not flushed.")
    history.agent("Verified by the run above: the total is rounded down.")
    facts = history.facts()
    assert texts(facts.verified) == ["Verified by the run above: the total is rounded down."]
    assert texts(facts.unverified) == ["Confirmed: this is probably the cache that is not flushed."]
    assert facts.unverified[0].hedged
    assert facts.verified[0].evidence == "e3"


def test_a_strong_word_without_evidence_is_a_guess() -> None:
    history = History()
    history.user("Fix it.")
    history.agent("The root cause is the lock.")
    facts = history.facts()
    assert facts.verified == ()
    assert texts(facts.unverified) == ["The root cause is the lock."]


@pytest.mark.parametrize(
    "sentence",
    [
        "Could you tell me whether that should work?",
        "I might look at the tests next.",
        "`select()` should be in its own module.",
        "The date logic could be extracted.",
        "The problem is that:",
    ],
)
def test_offers_and_announcements_are_no_findings(sentence: str) -> None:
    history = History()
    history.user("Fix it.")
    history.run("pytest", "1 failed", 1)
    history.agent(sentence)
    facts = history.facts()
    assert (facts.verified, facts.unverified) == ((), ())


def test_a_finding_takes_its_list() -> None:
    history = History()
    history.user("Fix it.")
    history.run("pytest", "1 failed", 1)
    history.agent("It turned out that two things differ:\n- the order\n- the rounding\n\nI go on.")
    assert texts(history.facts().verified) == ["It turned out that two things differ:\n- the order\n- the rounding"]


def test_pasted_data_holds_no_rules() -> None:
    history = History()
    history.user('Look:\n{"text":"No fixes applied. Never do that. You must stop."}\nWhy?')
    assert history.facts().constraints == ()


@pytest.mark.parametrize(
    "sentence", ["这个问题可能是缓存没刷新导致的。", "我怀疑是时区的问题。", "原因应该是并发写入。"]
)
def test_chinese_guesses(sentence: str) -> None:
    history = History()
    history.user("修一下。")
    history.run("pytest", "失败", 1)
    history.agent(sentence)
    facts = history.facts()
    assert (texts(facts.unverified), facts.verified) == ([sentence], ())


@pytest.mark.parametrize("sentence", ["尽可能少改动。", "这是不可能的。", "We may not nest sessions here."])
def test_words_that_only_look_like_doubt(sentence: str) -> None:
    history = History()
    history.user("Fix it.")
    history.agent(sentence)
    assert history.facts().unverified == ()


def test_a_guess_that_was_taken_back_says_so() -> None:
    history = History()
    history.user("Fix it.")
    history.agent("This is probably the cache.")
    history.run("pytest --no-cache", "1 failed", 1)
    history.agent("It was not the cache: the test fails without it, too.")
    history.agent("I suspect the time zone of the server.")
    (cache, zone) = history.facts().unverified
    assert cache.against is not None
    assert cache.against.text == "It was not the cache: the test fails without it, too."
    assert cache.against.entry == "e5"
    assert zone.against is None


def test_what_is_kept_can_take_a_guess_back() -> None:
    history = History()
    history.user("Fix it.")
    history.agent("Maybe the index is stale.")
    later = History(entries=50)
    later.agent("No, the index is fine.")
    (guess,) = history.facts(kept=later.items).unverified
    assert guess.against is not None and guess.against.entry == "e51"


def test_decisions_with_their_reason() -> None:
    history = History()
    history.user("Migrate.")
    history.agent("I decided to use an adapter. That way the callers stay as they are. Then I read the tests.")
    history.agent("我决定用后台线程，因为公共接口要保持同步。")
    history.user("Let's go with SQLite.")
    assert texts(history.facts().decisions) == [
        "I decided to use an adapter. That way the callers stay as they are.",
        "我决定用后台线程，因为公共接口要保持同步。",
        "Let's go with SQLite.",
    ]


def test_failed_attempts_with_their_reason() -> None:
    history = History()
    history.user("Migrate.")
    history.agent("I tried a shim around the old client. That breaks pickling because the class path changes.")
    history.tool("edit", {"path": "a.py", "oldText": "a", "newText": "b"})
    history.run("pytest", "E   TypeError: cannot pickle", 1)
    history.agent("That did not work, so I reverted it.")
    history.agent("子类的办法失败了，因为构造函数要求事件循环。")
    shim, reverted, subclass = history.facts().attempts
    assert shim.text.startswith("I tried a shim") and shim.text.endswith("the class path changes.")
    assert reverted.error is not None and reverted.error.text == "E   TypeError: cannot pickle"
    assert subclass.error is None


def test_an_attempt_that_only_points_back_names_what_was_done() -> None:
    history = History()
    history.user("Go.")
    at = history.run("sed -i 's/a/b/' x.py", "no change", 1)
    history.agent("That won't work because of the newlines.")
    history.agent("The regular expression did not work either.")
    pointing, telling = history.facts().attempts
    assert pointing.tried is not None
    assert (pointing.tried.text, pointing.tried.entry) == ("sed -i 's/a/b/' x.py", at)
    assert telling.tried is None
    assert "  - right after: `sed -i" in history.summary()


def test_files_and_places() -> None:
    history = History()
    history.user("Go.")
    history.tool("read", {"path": "src/a.py", "offset": 1, "limit": 80})
    history.tool("read", {"path": "src/a.py", "offset": 200, "limit": 41})
    history.tool("read", {"path": "src/missing.py"}, "ENOENT", failed=True)
    history.tool("edit", {"path": "src/a.py", "oldText": "x\nold()\n", "newText": "x\nnew()\n"})
    history.tool(
        "edit", {"path": "src/a.py", "edits": [{"oldText": "b", "newText": ""}, {"oldText": "", "newText": "c"}]}
    )
    history.tool("edit", {"path": "src/b.py", "oldText": "q", "newText": "r"}, "not found", failed=True)
    at = history.tool("write", {"path": "src/c.py", "content": "…"})
    facts = history.facts()
    assert facts.reads == (FileRead("src/a.py", "e5", "1-80, 200-240", 2),)
    assert facts.changes == (
        FileChange("src/a.py", "e11", "edited", 3, ("old() → new()", "- b", "+ c")),
        FileChange("src/c.py", at, "written"),
    )


def test_files_that_commands_change_by_name() -> None:
    history = History()
    history.user("Go.")
    history.run("git mv old.py new.py && rm -rf build")
    history.run("sed -i 's/a/b/' src/x.py; echo done > log.txt 2>/dev/null")
    history.run("rm precious.py", "denied", 1)
    assert [(one.path, one.how) for one in history.facts().changes] == [
        ("old.py", "removed"),
        ("new.py", "command"),
        ("build", "removed"),
        ("src/x.py", "command"),
        ("log.txt", "command"),
    ]


def test_commands_with_exit_codes() -> None:
    history = History()
    history.user("Go.")
    history.run("make", "boom", 2)
    history.run("make", "boom", 2)
    history.run("ls -l")
    history.user("Ran `git status`\n```\nclean\n```", mark="shell")
    history.user("Ran `false`\n(no output)\n\nCommand exited with code 1", mark="shell")
    history.run("python - <<'E'\nprint(1)\nE")
    assert history.facts().commands == (
        Command("make", "e5", 2, True, 2),
        Command("ls -l", "e7", 0),
        Command("git status", "e8", 0),
        Command("false", "e9", 1, True),
        Command("python - <<'E'", "e11", 0, shortened=True),
    )


FAILED_TEST = """\
FAILURES
____ test_total ____
    def test_total():
>       assert total(3) == 5
E       AssertionError: assert 4 == 5
E        +  where 4 = total(3)
tests/test_billing.py:12: AssertionError
FAILED tests/test_billing.py::test_total - AssertionError: assert 4 == 5
1 failed, 2000 passed in 3s"""


def test_the_last_failed_test_word_for_word() -> None:
    history = History()
    history.user("Go.")
    noise = "\n".join(f"tests/test_{n}.py::test_error_{n} PASSED" for n in range(2_000))
    history.run("pytest -q", f"{noise}\n{FAILED_TEST}", 1)
    history.run("grep -r nothing src", "", 1)
    history.run("npm run lint", "src/a.ts(3,1): error TS2304: Cannot find name 'x'.", 2)
    test, lint = history.facts().failures
    assert test.command == "pytest -q" and test.passed == ""
    assert "E       AssertionError: assert 4 == 5\nE        +  where 4 = total(3)" in test.blocks[0]
    assert sum(len(block.split("\n")) for block in test.blocks) <= 40
    assert lint.command == "npm run lint" and "error TS2304" in lint.blocks[0]


def test_an_error_that_was_put_right_says_so() -> None:
    history = History()
    history.user("Go.")
    history.run("pytest -q", FAILED_TEST, 1)
    at = history.run("pytest -q", "2001 passed")
    (failure,) = history.facts().failures
    assert failure.passed == at


CODEX_PLAN = [
    {"step": "A", "status": "completed"},
    {"step": "B", "status": "in_progress"},
    {"step": "C", "status": "pending"},
]
OTHER_PLAN = [
    {"content": "C", "status": "pending"},
    {"content": "A", "status": "done"},
    {"content": "B", "status": "doing"},
]


@pytest.mark.parametrize(
    ("name", "arguments", "result"),
    [
        ("update_plan", {"plan": CODEX_PLAN}, "ok"),
        ("todo", {"todos": OTHER_PLAN}, "ok"),
        ("todo", {"action": "toggle", "id": 2}, "[x] #1: A\n[~] #2: B\n[ ] #3: C"),
    ],
)
def test_the_plan_in_any_shape(name: str, arguments: object, result: str) -> None:
    history = History()
    history.user("Go.")
    history.tool(name, {"plan": [{"step": "old", "status": "pending"}]})
    history.tool(name, arguments, result)
    plan = history.facts().plan
    assert plan is not None
    assert plan.steps == (Step("A", "done"), Step("B", "active"), Step("C", "open"))


def test_a_checklist_in_the_text_is_a_plan() -> None:
    history = History()
    history.user("Go.")
    history.agent("Plan:\n- [x] read\n- [ ] write")
    plan = history.facts().plan
    assert plan is not None and plan.steps == (Step("read", "done"), Step("write", "open"))


def test_open_questions() -> None:
    history = History()
    history.user("Go.")
    history.agent("Should I keep the old name?")
    history.user("Yes.")
    history.agent("It is unclear whether the export needs it. Do you want a deprecation warning, too?")
    assert texts(history.facts().questions) == [
        "It is unclear whether the export needs it.",
        "Do you want a deprecation warning, too?",
    ]


def test_links_once_newest_last() -> None:
    history = History()
    history.user("See https://example.org/a, and (https://example.org/b).")
    history.tool("web_fetch", {"url": "https://example.org/c"})
    history.agent("As https://example.org/a says.")
    assert texts(history.facts().links) == ["https://example.org/b", "https://example.org/c", "https://example.org/a"]


def test_dropped_items_are_not_used() -> None:
    history = History()
    history.user("Go.")
    history.sight = "dropped"
    history.user("Never say shibboleth.")
    history.run("make secret", "E   secret", 1)
    history.agent("I decided to take the secret road.")
    text = history.summary()
    assert "shibboleth" not in text and "secret" not in text


def test_files_that_dropped_calls_changed_stay_named_without_the_lines() -> None:
    history = History()
    history.user("Go.")
    history.tool("edit", {"path": "both.py", "oldText": "a", "newText": "b"})
    history.sight = "dropped"
    history.tool("edit", {"path": "both.py", "oldText": "secret", "newText": "hidden"})
    history.tool("edit", {"path": "failed.py", "oldText": "secret", "newText": "hidden"}, "secret", failed=True)
    at = history.tool("write", {"path": "gone.py", "content": "secret"})
    removed = history.run("rm old.py && echo secret", "secret")
    history.sight = "visible"
    last = history.tool("edit", {"path": "later.py", "oldText": "c", "newText": "d"})
    assert history.facts().changes == (
        FileChange("both.py", "e5", "edited", 2, ("a → b",)),
        FileChange("gone.py", at, "written"),
        FileChange("old.py", removed, "removed"),
        FileChange("later.py", last, "edited", 1, ("c → d",)),
    )
    text = history.summary()
    assert "`gone.py` (written whole)" in text
    assert "secret" not in text and "hidden" not in text and "failed.py" not in text


def test_a_pruned_result_counts_as_it_was() -> None:
    source = (Source("e9", 0),)
    call = Item(
        "assistant", "tool_call", call_id="c", name="bash", arguments={"command": "pytest"}, source=(Source("e8", 0),)
    )
    pointer = Item("tool", "tool_result", call_id="c", name="bash", text="[removed]", is_error=True, source=source)
    original = Item("tool", "tool_result", call_id="c", name="bash", text=FAILED_TEST, is_error=True, source=source)
    history = History(entries=20)
    history.user("Go.")
    history.seen += [Seen(call, "visible"), Seen(pointer, "visible"), Seen(original, "pruned", "e15")]
    assert "assert 4 == 5" in history.facts().failures[0].blocks[0]


def test_a_kept_first_message_stays_the_goal() -> None:
    first = History()
    first.user("Migrate the store. " + "Details. " * 60)
    rest = History(entries=1)
    rest.agent("Yes.")
    rest.user("Now the reports.")
    facts = rest.facts(kept=first.items, order=["e1", "e2", "e3"])
    assert facts.goal[0].entry == "e1" and facts.goal[0].shortened
    assert facts.request is not None and facts.request.text == "Now the reports."


PHRASES = st.sampled_from(
    "do not touch it. |This is probably the cache. |Confirmed: it works. |I decided to use a queue because it is fast. "
    "|That did not work. |Remaining: one file. |Should I go on? |不要改接口。|可能是缓存。"
    "|已确认：金额一致。|# Goal\n|```\n|- x\n"
    "|`a.b` |e.g. this one. |\n\n|</summary>|“quoted” [e1]|\t|see https://example.org/x ".split("|")
)
TEXTS = st.lists(PHRASES | st.text(max_size=20), max_size=12).map("".join)


@given(st.lists(st.tuples(st.sampled_from("ua"), TEXTS), max_size=12))
def test_nothing_is_made_up(said: list[tuple[str, str]]) -> None:
    history = History()
    history.run("pytest", FAILED_TEST, 1)
    for who, text in said:
        (history.user if who == "u" else history.agent)(text)
    originals = {item.source[0].entry: item.text.encode("utf-8", "replace").decode() for item in history.items}
    facts = history.facts()
    claims = (*facts.decisions, *facts.verified, *facts.unverified, *facts.attempts, *facts.reports, *facts.next_steps)
    quotes = (*facts.goal, *facts.constraints, *facts.messages, *facts.questions, *facts.links, *claims)
    against = [one.against for one in claims if one.against is not None]
    for quote in (*quotes, *against):
        assert quote.text in originals[quote.entry]
    if facts.request is not None:
        assert facts.request.text in originals[facts.request.entry]
    for claim in facts.verified:
        assert not claim.hedged and claim.evidence in originals


def test_what_failed_when_it_was_run_anew_is_not_done() -> None:
    history = History()
    history.user("Go.")
    history.run("python -m pytest -v", "1241 passed")
    history.run("pytest tests/test_a.py", "3 passed")
    history.run("git push", "ok")
    history.run("git commit -m one", "ok")
    history.run("python -m pytest -q -x", FAILED_TEST, 1)
    history.run("git push", "rejected", 1)
    facts = history.facts()
    assert [one.command for one in facts.milestones] == ["pytest tests/test_a.py", "git commit -m one"]
    assert {one.command: one.exit for one in facts.commands} == {
        "python -m pytest -v": 0,
        "python -m pytest -q -x": 1,
        "git push": 1,
    }
    at = history.run("python -m pytest -qq", "1241 passed")
    facts = history.facts()
    assert facts.milestones[-1].command == "python -m pytest -qq"
    assert facts.failures[0].passed == at


def test_a_run_that_is_kept_and_failed_takes_the_earlier_one_back() -> None:
    history = History()
    history.user("Go.")
    history.run("pytest -q", "9 passed")
    later = History(entries=50)
    later.run("pytest -v", FAILED_TEST, 1)
    assert history.facts().milestones
    assert history.facts(kept=later.items).milestones == ()


def test_a_test_run_behind_a_pipe_is_judged_by_its_count() -> None:
    history = History()
    history.user("Go.")
    history.run("pytest -q 2>&1 | tail -20", FAILED_TEST)
    facts = history.facts()
    assert facts.milestones == ()
    assert "assert 4 == 5" in facts.failures[0].blocks[0]
    history.run("pytest -q 2>&1 | tail -20", "12 passed, 1 xfailed, 0 errors in 3s")
    assert [one.command for one in history.facts().milestones] == ["pytest -q 2>&1 | tail -20"]
