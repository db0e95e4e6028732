"""What leaves a view without a summary, why, and what must stay."""

from __future__ import annotations

from typing import Any

import pytest

from core.metering import gain, tokens_after, tokens_before
from core.opening import Opened
from core.planning import revise
from core.pointers import is_pointer
from core.policies import propose
from core.policies.handoff import prunable
from core.policies.settings import Settings
from core.proposal import Disposition, Proposal
from core.pruning import PruneRules, prune
from core.repeatable import repeatable
from core.view import Source
from tests.core.pi_sessions import PICTURES, Build, opened, stamp

LONG = "".join(f"{number} def step_{number}(): return {number}\n" for number in range(300))
NOTHING_RECENT = PruneRules(recent_results=0, recent_turns=0)


class Story(Build):
    """A session told in calls."""

    def did(self, name: str, arguments: dict[str, Any], result: str, failed: bool = False) -> str:
        self.calls += 1
        own = f"call_{self.calls}"
        entry = self.assistant([{"type": "toolCall", "id": own, "name": name, "arguments": arguments}])
        self.message(
            "toolResult",
            [{"type": "text", "text": result}],
            toolCallId=own,
            toolName=name,
            isError=failed,
        )
        return entry


def pruned(story: Build, rules: PruneRules = NOTHING_RECENT) -> tuple[Opened, dict[str, Disposition]]:
    seen = opened(story.bytes())
    return seen, {disposition.unit: disposition for disposition in prune(prunable(seen, rules))}


def test_of_two_reads_only_the_older_is_superseded() -> None:
    story = Story()
    story.user("fix it")
    old = story.did("read", {"path": "a.py"}, LONG)
    story.did("edit", {"path": "a.py", "oldText": "x", "newText": "y"}, "done")
    new = story.did("read", {"path": "a.py"}, LONG + "more\n")
    _, found = pruned(story)
    assert found[old].reason == f"superseded by entry {new}: the file was read again"
    assert new not in found or found[new].reason.startswith("old read")


def test_a_read_of_other_lines_does_not_supersede() -> None:
    story = Story()
    story.user("look")
    part = story.did("read", {"path": "a.py", "offset": 200, "limit": 50}, LONG)
    story.did("read", {"path": "a.py", "offset": 1, "limit": 50}, LONG + "other")
    assert "superseded" not in pruned(story)[1][part].reason


def test_the_newest_results_and_turns_stay() -> None:
    story = Story()
    for number in range(4):
        story.user(f"step {number}")
        story.did("read", {"path": f"{number}.py"}, LONG)
    first = [record["id"] for record in story.records if record["message"]["role"] == "assistant"][0]
    assert set(pruned(story, PruneRules(recent_results=1, recent_turns=3))[1]) == {first}
    assert set(pruned(story, PruneRules(recent_results=3, recent_turns=1))[1]) == {first}


def test_a_pointer_says_what_it_was_and_how_to_get_it_again() -> None:
    story = Story()
    story.user("test it")
    run = story.did("bash", {"command": "pytest -q"}, LONG + "3 failed, 120 passed in 2.61s\n", failed=True)
    seen, found = pruned(story)
    text = found[run].text
    assert text is not None and is_pointer(text)
    for part in ("`pytest -q`", "(failed)", "301 lines", "3 failed, 120 passed", "Run it again"):
        assert part in text
    assert tokens_after(seen, found[run]) < tokens_before(seen, found[run])


def test_a_command_with_side_effects_is_limited_and_never_pointed_at() -> None:
    story = Story()
    story.user("release it")
    run = story.did("bash", {"command": "make release && git push"}, LONG + "ERROR: rejected by remote\n" + LONG)
    _, found = pruned(story)
    assert found[run].what == "limit"
    assert found[run].text is not None and "ERROR: rejected by remote" in found[run].text


def test_protected_tools_are_never_pruned() -> None:
    story = Story()
    story.user("plan it")
    plan = story.did("todo", {"action": "list"}, LONG)
    again = story.did("todo", {"action": "list"}, LONG)
    assert not {plan, again} & set(pruned(story)[1])


def test_courtesies_leave_but_never_the_first_or_last_turn() -> None:
    story = Story()
    story.user("hello")
    story.reply("Hello! What shall we do?")
    thanks = story.user("ok, thanks!")
    answer = story.reply("You are welcome.")
    work = story.user("ok, then delete the cache")
    story.reply("Done.")
    story.user("thanks")
    _, found = pruned(story)
    assert set(found) == {thanks, answer} and work not in found


def test_pruning_is_idempotent() -> None:
    story = Story()
    story.user("look around")
    for _ in range(3):
        story.did("read", {"path": "a.py"}, LONG)
        story.did("bash", {"command": "git log"}, LONG)
        story.did("bash", {"command": "./deploy.sh"}, LONG)
    seen, found = pruned(story)
    assert len(found) == 9
    proposal = propose(seen, Settings(target=seen.view_tokens - gain(seen, found.values())))
    after = revise(seen, proposal, Settings(), stamp()).after
    assert prune(prunable(after)) == ()


def test_where_only_the_user_spoke_there_is_nothing_to_propose() -> None:
    story = Story()
    for number in range(30):
        story.user(f"thought {number}: " + "a long thought " * 50)
    seen = opened(story.bytes())
    assert propose(seen, Settings()).dispositions == ()


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("pytest -q tests", True),
        ("cd /srv/x && pytest -q 2>&1 | tail -50", True),
        ("PYTHONPATH=. python -m pytest x", True),
        ("grep -rn foo . | head", True),
        ("git diff HEAD~1", True),
        ("cat > a.py <<E", False),
        ("cat a.py > b.py", False),
        ("git push", False),
        ("ls; rm -r build", False),
        ("find . -delete", False),
        ("echo $(curl example.org)", False),
        ("", False),
    ],
)
def test_what_can_be_run_again(command: str, expected: bool) -> None:
    assert repeatable(command) is expected


def picture(number: int) -> dict[str, Any]:
    return {"type": "image", "data": PICTURES[number], "mimeType": "image/png"}


def pictured(story: Story, *failed: bool) -> tuple[str, list[str]]:
    """One reply that reads a file for each flag, each result with text and a picture."""
    calls = [story.call(path=f"src/{number}.py") for number in range(len(failed))]
    reply = story.assistant(calls)
    parts = [{"type": "text", "text": LONG}]
    results = [
        story.result(call["id"], [*parts, picture(number)], failed=bad)
        for number, (call, bad) in enumerate(zip(calls, failed))
    ]
    return reply, results


def test_a_result_that_the_client_adds_words_to_is_not_shortened() -> None:
    story = Story(wire="anthropic-messages")
    story.user("look")
    _, results = pictured(story, False, True)
    story.user("go on")
    seen = opened(story.bytes())
    found = prune(prunable(seen, NOTHING_RECENT))
    assert [disposition.source[0].entry for disposition in found] == results[:1]
    plan = revise(seen, Proposal("handoff", found), Settings(), stamp())
    assert plan.commits_as == "append" and plan.may_commit


@pytest.mark.parametrize("pointed", [(0,), (1,), (0, 1)])
def test_the_words_above_a_run_of_pictures_leave_with_the_last_of_them(pointed: tuple[int, ...]) -> None:
    story = Story(wire="openai-completions")
    story.user("look")
    reply, results = pictured(story, False, False)
    story.user("go on")
    seen = opened(story.bytes())
    listed = tuple(
        Disposition(reply, "point", "by hand", (Source(results[at], 0),), f"[Omitted: {at}]") for at in pointed
    )
    plan = revise(seen, Proposal("handoff", listed), Settings(), stamp())
    assert [check.message for check in plan.checks if not check.ok] == []
    bundled = [item for item in plan.after.view.items if item.mark == "bundled_image"]
    assert len(bundled) == (0 if len(pointed) == 2 else 2)
    rows = plan.to_json()["dispositions"]
    freed = sum(row["tokens_before"] - row["tokens_after"] for row in rows)
    assert plan.after.view_tokens == seen.view_tokens - freed
