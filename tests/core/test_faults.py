"""Sessions with values that no agent writes: reading and planning end in a view or in a refusal, never in a fault."""

from __future__ import annotations

import pytest

from core.errors import ClientRefuses
from core.planning import plan_session
from core.policies.settings import Settings
from tests.core.pi_sessions import Build, line, opened, stamp

ENDLESS = b"9" * 315
"""A number with too many digits for a double: infinite to JavaScript, a plain integer to Python."""


def story(thinking: str = "c2ln", wire: str = "anthropic-messages") -> Build:
    """A few turns with long results."""
    build = Build(wire)
    build.add("message", message={"role": "system", "content": "Be brief.", "sections": {"a": "rules"}})
    for turn in range(6):
        build.user(f"question {turn}: never touch vendor/")
        thought = {"type": "thinking", "thinking": "hm", "thinkingSignature": thinking}
        build.assistant([thought, build.call("fetch", path=f"src/part_{turn}.py")], stopReason="toolUse")
        build.result(f"call_{turn + 1}", f"a line of part {turn}\n" * 150)
        build.reply("It is there.")
    return build


def planned(data: bytes) -> None:
    seen = opened(data)
    made = plan_session(seen, "handoff", Settings(target=3000), stamp())
    assert made.proposal.cut is not None and made.may_commit, [check for check in made.checks if not check.ok]
    assert made.after.view_tokens <= 3000


def replaced(data: bytes, old: bytes, new: bytes) -> bytes:
    assert old in data
    return data.replace(old, new)


@pytest.mark.parametrize("number", [ENDLESS, b"1e999", b"1" + b"0" * 30, b"-1", b"true", b"[1]", b'"\\u001b[2J"'])
@pytest.mark.parametrize("place", ["id", "parentId", "timestamp", "totalTokens", "tokensBefore", "firstKeptEntryId"])
def test_no_number_is_too_odd_to_read(place: str, number: bytes) -> None:
    build = story()
    own = build.add("compaction", summary="so far", firstKeptEntryId="e0000005", tokensBefore=7)
    build.user("on")
    build.reply("Yes.")
    data = build.bytes()
    old = {
        "id": b'"id":"%s"' % own.encode(),
        "parentId": b'"parentId":"e0000005"',
        "timestamp": b'"timestamp":1780000014000',
        "totalTokens": b'"totalTokens":54',
        "tokensBefore": b'"tokensBefore":7',
        "firstKeptEntryId": b'"firstKeptEntryId":"e0000005"',
    }[place]
    seen = opened(replaced(data, old, b'"%s":%s' % (place.encode(), number)))
    made = plan_session(seen, "handoff", Settings(target=3000, keep_recent=500), stamp())
    assert made.to_json()["budget"] is not None
    assert made.opened.usage.current is None or made.opened.usage.current <= 1 << 53


def test_arguments_with_half_an_emoji_can_be_summarised() -> None:
    planned(replaced(story().bytes(), b'{"path":"src/part_2.py"}', rb'{"\ud83d":"\ud83d and \udfff"}'))


@pytest.mark.parametrize("value", ["5", "true", '{"a":1}', '"text"', "[5,null]"])
def test_a_reasoning_item_with_an_odd_summary_is_opaque(value: str) -> None:
    data = story(f'{{"type":"reasoning","id":"rs_1","summary":{value}}}', "openai-responses").bytes()
    assert any(item.opaque for item in opened(data).view.items)
    planned(data)


@pytest.mark.parametrize(
    "odd",
    [
        b'"sections":[1]',
        b'"sections":{"a":5},"toolsAdded":5,"toolsRemoved":[5,{}]',
        b'"toolsAdded":[5,{"name":5},{"name":"x","parameters":%s,"more":"\\ud83d"}]' % (b"[" * 90 + b"]" * 90),
    ],
)
def test_a_system_message_with_odd_fields_can_be_carried(odd: bytes) -> None:
    planned(replaced(story().bytes(), b'"sections":{"a":"rules"}', odd))


@pytest.mark.parametrize("field", ["stopReason", "api", "provider", "model", "timestamp", "usage"])
@pytest.mark.parametrize("value", ["[5]", "{}", "null", "true", '"x"'])
def test_a_reply_with_odd_fields_is_read_or_refused(field: str, value: str) -> None:
    build = story()
    reply = build.records[-1]["message"]
    stored = line({field: reply[field]}).strip()[1:-1]
    data = replaced(build.bytes(), stored, f'"{field}":{value}'.encode())
    try:
        seen = opened(data)
    except ClientRefuses as refusal:
        assert "line " in str(refusal)
    else:
        plan_session(seen, "handoff", Settings(target=3000), stamp()).to_json()


@pytest.mark.parametrize("settings", [Settings(target=1), Settings(target=100), Settings(target=300)])
def test_a_target_out_of_reach_summarises_no_summary_again(settings: Settings) -> None:
    build = story()
    build.add("compaction", summary="The goal is to know every part. " * 40, firstKeptEntryId="nowhere", tokensBefore=9)
    build.user("on")
    seen = opened(build.bytes())
    assert plan_session(seen, "handoff", settings, stamp()).proposal.dispositions == ()
