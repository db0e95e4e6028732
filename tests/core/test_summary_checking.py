"""What must hold before a summary may be committed, and that each failure says what to do."""

from __future__ import annotations

import pytest

from core.proposal import Summary
from core.summary.checking import check_summary
from core.summary.facts import collect
from core.summary.offline import write_offline
from tests.core.summarising import PROFILE, History, Words


def history() -> History:
    made = History()
    made.user("Fix the rounding. Do not edit any file under tests, do not push.")
    made.tool("edit", {"path": "src/money.py", "oldText": "round(x)", "newText": "floor(x)"})
    made.run("pytest -q", "E   AssertionError: assert 4 == 5\nFAILED tests/test_a.py::test_b", 1)
    made.agent("This is probably the cache not being flushed. Let me look.")
    made.agent("Confirmed: the total is rounded down.")
    made.user("Then find out where.")
    return made


def offline(made: History) -> Summary:
    return write_offline(made.seen, [], PROFILE, Words(), 5_000)


def failed(summary: Summary, replaced: int = 100_000, **more: object) -> dict[str, str]:
    """The failed checks and what they say."""
    found = check_summary(summary, Words(), replaced, **more)  # type: ignore[arg-type]
    assert all(message == "" for _, ok, message in found if ok)
    return {name: message for name, ok, message in found if not ok}


def changed(old: str, new: str) -> Summary:
    summary = offline(history())
    assert old in summary.text
    return Summary("person", summary.text.replace(old, new), summary.state)


def test_our_own_summary_passes() -> None:
    found = check_summary(offline(history()), Words(), 100_000)
    assert all(ok for _, ok, _ in found)
    assert len(found) >= 9


@pytest.mark.parametrize("text", ["", "   \n", "\n\n\t"])
def test_empty(text: str) -> None:
    assert failed(Summary("model", text)).keys() == {"not-empty"}


def test_too_long() -> None:
    summary = offline(history())
    tokens = Words().text(summary.text)
    assert failed(summary, replaced=int(tokens / 0.8) + 2) == {}
    messages = failed(summary, replaced=tokens)
    assert messages.keys() == {"shorter"}
    assert f"{tokens:,}" in messages["shorter"] and "shorten it" in messages["shorter"]


def test_cut_off() -> None:
    assert "cut off" in failed(offline(history()), cut_off=True)["whole"]
    summary = offline(history())
    half = summary.text[: summary.text.index("FAILED tests")]
    assert {"whole", "headings"} <= failed(Summary("model", half, summary.state)).keys()


def test_a_stub_is_too_short() -> None:
    assert "long-enough" in failed(Summary("file", "We fixed some things."))


def test_missing_headings_are_named() -> None:
    messages = failed(changed("## Open questions", "## Questions"))
    assert "Open questions" in messages["headings"]
    assert failed(Summary("model", "word " * 300)).keys() == {"headings"}
    assert failed(Summary("file", "word " * 300)) == {}


def test_a_missing_rule_is_named() -> None:
    rule = "Do not edit any file under tests, do not push."
    messages = failed(changed(rule, "The user wants care."))
    assert rule in messages["constraints"]
    assert "word for word" in messages["constraints"]
    assert failed(changed(rule, "The user wants care."), elsewhere=[f"… {rule} …"]) == {}


def test_a_rule_told_in_other_words_is_missing() -> None:
    assert "constraints" in failed(changed("Do not edit any file under tests", "Edit no file under tests"))


def test_a_missing_path_error_and_request() -> None:
    assert "src/money.py" in failed(changed("src/money.py", "a file"))["changed-paths"]
    assert "last-error" in failed(changed("assert 4 == 5", "an assertion failed"))
    assert "last-request" in failed(changed("Then find out where.", "He wants to know where."))


def test_facts_of_the_span_judge_a_persons_file() -> None:
    made = history()
    facts = collect(made.seen, [], PROFILE)
    assert "constraints" in failed(Summary("file", "All is well. " * 40), facts=facts)


GUESS = "“This is probably the cache not being flushed.”"


@pytest.mark.parametrize(
    "line",
    [
        f"- {GUESS} [e6]",
        "- “The cause is the cache not being flushed.” [e6]",
        "- The cache is not being flushed, which is the cause.",
    ],
)
def test_a_guess_may_not_turn_into_a_fact(line: str) -> None:
    heading = "## Findings, verified\n"
    messages = failed(changed(heading, f"{heading}{line}\n"))
    assert messages.keys() == {"guesses"}
    assert "mark them unverified" in messages["guesses"]


def test_a_guess_that_is_marked_is_fine_anywhere() -> None:
    heading = "## Findings, verified\n"
    assert failed(changed(heading, f"{heading}- {GUESS} (unverified) [e6]\n")) == {}
    assert failed(changed(heading, f"{heading}- It is perhaps the cache not being flushed.\n")) == {}


def test_a_chinese_guess_told_as_a_fact() -> None:
    made = History()
    made.user("请修复测试。不要改公共接口。")
    made.agent("这个问题可能是缓存没刷新导致的。")
    summary = write_offline(made.seen, [], PROFILE, Words(), 5_000)
    assert failed(summary) == {}
    heading = "## 发现：已验证\n"
    text = summary.text.replace(heading, f"{heading}- 问题由缓存没刷新导致。\n")
    assert failed(Summary("model", text, summary.state)).keys() == {"guesses"}
