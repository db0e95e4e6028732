"""Which of the user's sentences stand as rules, and that each is said once."""

from __future__ import annotations

import pytest

from tests.core.summarising import History, texts


def rules_after(message: str, before: str = "I look.") -> list[str]:
    history = History()
    history.user("Please port the parser.")
    history.agent(before)
    history.user(message)
    history.agent("Yes.")
    history.user("Go on with the printer.")
    facts = history.facts()
    said = "\n".join([*texts(facts.constraints), *texts(facts.messages)])
    assert all(word in said for word in message.split()), "whatever is no rule is carried as a message"
    return texts(facts.constraints)


@pytest.mark.parametrize(
    "passing",
    [
        "First without --apply.",
        "Try it for the accounts before you touch the other files.",
        "Check that before you change anything, please.",
        "Make a small commit with what you have before you go on.",
        "Do a dry run with the big file as well, the tests only have tiny ones.",
        "`dict(None or {})` looks as if it wrote a new row, without an owner.",
        "Does the replay agree now? All accounts, not only this one.",
        "Right, no pictures. Here is what it says.",
        "先别管它，把 cancel_order 改完再说。",
        "先跑一遍，只要前两个就行。",
    ],
)
def test_orders_for_one_step_and_remarks_are_messages(passing: str) -> None:
    assert rules_after(passing) == []


@pytest.mark.parametrize(
    ("message", "rule"),
    [
        ("First, never push to main.", "First, never push to main."),
        ("First, no new dependencies.", "First, no new dependencies."),
        ("First read the rules, and do not change them.", "First read the rules, and do not change them."),
        ("Run the tests before you commit.", "Run the tests before you commit."),
        ("Ask me before you delete anything.", "Ask me before you delete anything."),
        ("Check that all tests pass before you commit.", "Check that all tests pass before you commit."),
        ("Try it before you ask me, every time.", "Try it before you ask me, every time."),
        ("Try it, but without network access, before you go on.", None),
        ("Ok, no new dependencies.", "Ok, no new dependencies."),
        ("That looks like it should not be public.", "That looks like it should not be public."),
        ("先跑测试再提交。", "先跑测试再提交。"),
        ("先不要动 api/，等我确认。", "先不要动 api/，等我确认。"),
        ("先改 app/，不要碰 api/。", "先改 app/，不要碰 api/。"),
        ("这次不要升级任何依赖包", "这次不要升级任何依赖包"),
    ],
)
def test_what_may_be_a_standing_rule_stays_one(message: str, rule: str | None) -> None:
    assert rules_after(message) == [rule or message]


def test_an_answer_that_says_the_agents_words_again_is_no_rule_but_a_decision_is() -> None:
    unable = "I can't read pictures in this session. Could you type it?"
    assert rules_after("Ok, no pictures. Here it is.", unable) == []
    assert rules_after("Right, no pictures.", "Should the manual have pictures?") == ["Right, no pictures."]


def test_a_rule_that_only_points_takes_what_it_points_to() -> None:
    (rule,) = rules_after("I saw a row that had lost its owner. Please make sure that this cannot happen.")
    assert rule == "I saw a row that had lost its owner. Please make sure that this cannot happen."


def test_a_rule_is_said_once_and_the_rest_of_its_message_apart() -> None:
    history = History()
    history.user("Port it.")
    at = history.user("Commit that. And never push, please. Are there tests?\n\n1. do not squash\n2. sign it off")
    whole = history.user("Good. Never edit the golden files.")
    history.agent("Yes.")
    history.user("Now the printer.")
    facts = history.facts()
    assert [(one.text, one.entry) for one in facts.constraints] == [
        ("And never push, please.", at),
        ("do not squash", at),
        ("Never edit the golden files.", whole),
    ]
    assert [(one.text, one.entry) for one in facts.messages] == [
        ("Commit that.", at),
        ("Are there tests?", at),
        ("2. sign it off", at),
    ]
    text = history.summary()
    assert text.count("never push") == text.count("do not squash") == text.count("golden") == 1


def test_a_choice_of_the_users_is_said_once() -> None:
    history = History()
    history.user("Port it.")
    history.user("Let's go with SQLite. Never touch the schema.")
    history.user("Go on with the printer.")
    facts = history.facts()
    assert texts(facts.decisions) == ["Let's go with SQLite."]
    assert facts.messages == ()
