"""Faults that any format can meet: what check says of them, that the neighbours are read, and that nothing raises."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from core.broken import cause_of, second_record
from core.errors import ClientRefuses, NotASession
from core.findings import Checked, Finding, check_session
from core.jsonl import BYTE_ORDER_MARK, decode
from core.opening import open_session
from core.view import Item
from tests.core import claude_sessions, codex_sessions
from tests.core.every_format import CALL, STORIES, Story

EVERY = sorted(STORIES)
LINES = [name for name in EVERY if name != "dsh-packed"]
"""Formats whose file a person or a fault can change line by line."""

CHAINED = ("pi", "claude-code")
"""Formats in which a record names its parent: a lost one takes the older history along."""


@pytest.fixture(params=EVERY)
def story(request: pytest.FixtureRequest) -> Story:
    return STORIES[request.param]()


def shown(path: Path) -> list[str]:
    """The view's texts; nothing where the client refuses the file."""
    try:
        return [item.text or item.kind for item in open_session(path).view.items]
    except ClientRefuses:
        return []


def only(checked: Checked, kind: str) -> Finding:
    found = [finding for finding in checked.findings if finding.kind == kind]
    assert len(found) == 1, checked.findings
    assert found[0].message and found[0].client
    return found[0]


def place(story: Story, line: int) -> tuple[int, int]:
    """Number and byte offset of a line of the sound file, counted from 0."""
    return line + 1, sum(len(one) + 1 for one in story.lines[:line])


def renamed(line: bytes, call: str, own: str) -> bytes:
    """A record with another call id, and an id of its own."""
    value: dict[str, Any] = json.loads(line)
    for name in ("id", "uuid"):
        if name in value:
            value[name] = own
    return json.dumps(value).replace(CALL, call).replace("toolu_one", call).encode()


def test_a_sound_session_has_no_finding(story: Story, tmp_path: Path) -> None:
    checked = check_session(story.write(tmp_path))
    assert checked.agent.name == story.agent
    assert checked.findings == ()


def test_a_result_without_a_call_is_named_and_cuts_are_still_offered(story: Story, tmp_path: Path) -> None:
    own = "0000abcd" if story.agent == "pi" else "99999999-2222-4333-8444-555555555555"
    if story.agent == "dsh":
        lines = [*story.lines[: story.result], *story.lines[story.result + 1 :]]
        lines[story.call] = lines[story.call].replace(CALL.encode(), b"call_other")
        lines.insert(story.result, story.lines[story.result])
    else:
        lines = list(story.lines)
        lines.insert(len(lines) - 1, renamed(lines[story.result], "call_nobody", own))
        if story.agent in CHAINED:
            parent = "parentId" if story.agent == "pi" else "parentUuid"
            above, last = json.loads(lines[-3]), json.loads(lines[-1])
            stray = json.loads(lines[-2])
            stray[parent] = above.get("id") or above.get("uuid")
            last[parent] = own
            lines[-2:] = [json.dumps(stray).encode(), json.dumps(last).encode()]
    path = story.write(tmp_path, lines)
    checked = check_session(path)
    finding = only(checked, "orphaned-result")
    number = story.result if story.agent == "dsh" else len(lines) - 2
    assert finding.line == number + 1
    assert ("call_nobody" if story.agent != "dsh" else CALL) in finding.message
    opened = open_session(path)
    assert opened.units and opened.turns


def test_calls_at_the_end_of_a_file_are_in_flight(story: Story, tmp_path: Path) -> None:
    finding = only(check_session(story.write(tmp_path, story.lines[: story.result])), "in-flight-call")
    assert (finding.line, finding.offset) == place(story, story.call)


def test_a_call_that_the_agent_went_on_from_is_lost(story: Story, tmp_path: Path) -> None:
    if story.agent in (*CHAINED, "dsh"):
        pytest.skip("there, a lost line is more than a lost result: tested with each format")
    checked = check_session(story.write(tmp_path, [*story.lines[: story.result], *story.lines[story.result + 1 :]]))
    assert (only(checked, "unanswered-call").line, "in-flight-call") == (story.call + 1, "in-flight-call")
    assert not [finding for finding in checked.findings if finding.kind == "in-flight-call"]


@pytest.mark.parametrize("whole", [True, False])
def test_records_run_together_are_told_with_the_place_of_the_second(story: Story, tmp_path: Path, whole: bool) -> None:
    at = story.answer
    first = story.lines[at] if whole else story.lines[at][: len(story.lines[at]) // 2]
    lines = [*story.lines[:at], first + story.lines[at + 1], *story.lines[at + 2 :]]
    checked = check_session(story.write(tmp_path, lines))
    finding = only(checked, "spliced-records")
    assert (finding.line, finding.offset) == place(story, at)
    assert f"byte {len(first) + 1} of the line" in finding.message
    assert ("two whole" in finding.message) == whole
    assert len(checked.session.entries) == len(story.lines) - 2


@pytest.mark.parametrize("lines", [1, 2])
def test_a_run_of_zero_bytes_is_one_damage_and_what_follows_is_read(story: Story, tmp_path: Path, lines: int) -> None:
    zeros = [b"\0" * 512] * lines
    checked = check_session(story.write(tmp_path, [*story.lines[: story.answer], *zeros, *story.lines[story.answer :]]))
    found = [finding for finding in checked.findings if finding.kind == "nul-line"]
    assert len(found) == lines and found[0].line == story.answer + 1
    assert len(checked.session.entries) == len(story.lines)
    assert sum(entry.length for entry in checked.session.entries) == sum(map(len, story.lines))


def test_many_damaged_lines_in_a_row_are_one_finding(story: Story, tmp_path: Path) -> None:
    zeros = [b"\0" * 8] * 6
    checked = check_session(story.write(tmp_path, [*story.lines[: story.answer], *zeros, *story.lines[story.answer :]]))
    assert "6 in a row" in only(checked, "nul-line").message


@pytest.mark.parametrize("data", [b"", b"\n", b"   "])
@pytest.mark.parametrize("name", LINES)
def test_an_empty_file_is_an_empty_session(name: str, data: bytes, tmp_path: Path) -> None:
    path = STORIES[name]().write_bytes(tmp_path, data)
    checked = check_session(path)
    assert len(checked.session.entries) == 0
    assert len([finding for finding in checked.findings if finding.kind != "refused"]) <= 1
    assert shown(path) == []


def test_separators_of_other_worlds_end_no_line(story: Story, tmp_path: Path) -> None:
    odd = "a\u2028b\u2029c\u0085d\\u000be\\u000cf\\u001cg"
    lines = list(story.lines)
    lines[story.result] = lines[story.result].replace(b"found", odd.encode())
    path = story.write(tmp_path, lines)
    checked = check_session(path)
    assert checked.findings == ()
    assert len(checked.session.entries) == len(lines)
    assert json.loads(f'"{odd}"') in shown(path)


def test_a_byte_order_mark_is_told_and_the_first_record_is_read(story: Story, tmp_path: Path) -> None:
    path = story.write_bytes(tmp_path, BYTE_ORDER_MARK + b"".join(line + b"\n" for line in story.lines))
    checked = check_session(path)
    finding = only(checked, "byte-order-mark")
    assert (checked.agent.name, finding.line, finding.offset) == (story.agent, 1, 0)
    if story.agent != "grok-build":  # which skips that line: nothing of it is in the session
        assert sum(entry.kind != "structure" for entry in checked.session.entries) == len(story.lines)
    assert all(finding.kind in ("byte-order-mark", "refused", "refused-header") for finding in checked.findings)


@pytest.mark.parametrize("every", [1, 2])
def test_line_ends_of_windows_belong_to_no_record(story: Story, tmp_path: Path, every: int) -> None:
    ends = [b"\r\n" if number % every == 0 else b"\n" for number in range(len(story.lines))]
    data = b"".join(line + end for line, end in zip(story.lines, ends, strict=True))
    checked = check_session(story.write_bytes(tmp_path / "windows", data))
    assert checked.findings == ()
    assert [checked.session.raw(entry).rstrip(b"\r") for entry in checked.session.entries] == list(story.lines)
    assert shown(checked.session.path) == shown(story.write(tmp_path / "unix"))


@pytest.mark.parametrize("half", ["\\ud83d", "\\udc00"])
def test_half_a_character_is_told_and_harms_nothing_here(story: Story, tmp_path: Path, half: str) -> None:
    lines = list(story.lines)
    lines[story.result] = lines[story.result].replace(b"found", f"fo{half}und".encode())
    path = story.write(tmp_path, lines)
    finding = only(check_session(path), "lone-surrogate")
    assert finding.line == story.result + 1 and half in finding.message
    json.dumps(open_session(path).view.to_json()).encode()


def test_an_escaped_pair_and_an_escaped_backslash_are_no_half_characters(story: Story, tmp_path: Path) -> None:
    lines = list(story.lines)
    lines[story.result] = lines[story.result].replace(b"found", b"\\ud83d\\ude00 \\\\ud83d")
    assert check_session(story.write(tmp_path, lines)).findings == ()


@pytest.mark.parametrize("name", LINES)
def test_a_pretty_printed_file_is_told_once(name: str, tmp_path: Path) -> None:
    story = STORIES[name]()
    pretty = [json.dumps(json.loads(line), indent=2).encode() for line in story.lines]
    path = story.write(tmp_path, pretty)
    try:
        checked = check_session(path)
    except NotASession as refusal:
        assert "pretty-printed" in str(refusal) and "\n" not in str(refusal)
        return
    assert "pretty-printed" in only(checked, "pretty-printed").message
    assert [finding for finding in checked.findings if finding.kind not in ("pretty-printed", "refused")] == []


def test_a_rollout_that_is_pretty_printed_but_for_its_start_is_told_once(tmp_path: Path) -> None:
    story = STORIES["codex"]()
    pretty = [json.dumps(json.loads(line), indent=2).encode() for line in story.lines[1:]]
    checked = check_session(story.write(tmp_path, [story.lines[0], *pretty]))
    assert len([finding for finding in checked.findings if finding.kind == "pretty-printed"]) == 1
    assert len(checked.findings) <= 2


def test_one_time_for_all_records_keeps_the_order_of_the_file(story: Story, tmp_path: Path) -> None:
    def same(value: Any) -> Any:
        if isinstance(value, dict):
            times = {"timestamp": value.get("timestamp"), "time": 1_790_000_000_000}
            alike = {
                "timestamp": "2026-03-01T08:00:00.000Z" if isinstance(times["timestamp"], str) else 1_790_000_000_000
            }
            alike["time"] = times["time"]
            return {key: alike[key] if key in alike else same(part) for key, part in value.items()}
        return [same(part) for part in value] if isinstance(value, list) else value

    lines = [json.dumps(same(json.loads(line))).encode() for line in story.lines]
    expected = shown(story.write(tmp_path / "as it was"))
    assert expected and shown(story.write(tmp_path / "alike", lines)) == expected


def test_a_refused_call_is_answered(story: Story, tmp_path: Path) -> None:
    lines = list(story.lines)
    words = b"The user doesn't want to proceed with this tool use: rejected"
    answer = lines[story.result].replace(b"found", words)
    lines[story.result] = answer.replace(b'"isError":false', b'"isError":true').replace(
        b'"type":"tool_result"',
        b'"type":"tool_result","is_error":true' if story.agent == "claude-code" else b'"type":"tool_result"',
    )
    path = story.write(tmp_path, lines)
    assert check_session(path).findings == ()
    opened = open_session(path)
    call = next(at for at, item in enumerate(opened.view.items) if item.kind == "tool_call")
    unit = next(unit for unit in opened.units if call in unit.items)
    assert any(_is_answer(opened.view.items[at], words.decode()) for at in unit.items)


def _is_answer(item: Item, words: str) -> bool:
    return item.kind == "tool_result" and words in item.text


def test_every_finding_says_what_the_client_does(story: Story, tmp_path: Path) -> None:
    lines = [*story.lines[:2], b"{", b'{"a":', b"\0", story.lines[2][:-9], *story.lines[3:]]
    for finding in check_session(story.write(tmp_path, lines)).findings:
        assert finding.client, finding
        assert "\n" not in finding.message + finding.client


def test_bytes_of_a_character_cut_by_the_end_of_the_file_are_a_torn_tail(story: Story, tmp_path: Path) -> None:
    data = b"\n".join(story.lines[:-1]) + b"\n" + story.lines[-1].replace(b"three", "한국어".encode())
    cut = data[: data.rindex("한".encode()) + 1] if "한".encode() in data else data[:-9]
    checked = check_session(story.write_bytes(tmp_path, cut))
    assert any(finding.kind == "torn-tail" for finding in checked.findings)
    assert not any("\ufffd" in text for text in shown(checked.session.path))


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (b"\xef\xbb\xbf{}", "byte-order-mark"),
        (b'{"a":1,"b":\0\0', "nul-line"),
        (b'{"a":1}{"a":2}', "spliced-records"),
        (b'{"a":"x{"a":2}', "spliced-records"),
        (b'{"a":"\\ud83d"}', "lone-surrogate"),
        (b'{"a":"\xff"}', "broken-line"),
        (b'{"a":"\x0b"}', "broken-line"),
    ],
)
def test_what_befell_a_line(line: bytes, kind: str) -> None:
    found = cause_of(line)
    assert found is not None and found.kind == kind


def test_a_torn_line_has_no_second_record() -> None:
    assert cause_of(b'{"a":{"b":{"c":1}') is None
    assert second_record(b'{"a":1,"text":"{\\"a\\":1}') is None
    assert decode(b'{"a":1}') == {"a": 1}


BOOKKEEPING = [
    {"type": "queue-operation", "operation": "enqueue", "timestamp": "2026-03-01T08:00:00.000Z", "sessionId": "s"},
    {"type": "file-history-snapshot", "messageId": "m", "snapshot": {}, "isSnapshotUpdate": False},
    {"type": "permission-mode", "permissionMode": "default", "sessionId": "s"},
    {"type": "summary", "summary": "Fix the test", "leafUuid": "l"},
    {"type": "attachment", "uuid": "u", "parentUuid": None, "attachment": {"type": "note"}, "sessionId": "s"},
]


@pytest.mark.parametrize("first", BOOKKEEPING, ids=lambda record: str(record["type"]))
def test_a_file_that_begins_with_bookkeeping_is_known_by_the_rest(first: dict[str, Any], tmp_path: Path) -> None:
    story = STORIES["claude-code"]()
    many = [json.dumps(first).encode()] * 40
    checked = check_session(story.write(tmp_path, [*many, *story.lines]))
    assert checked.agent.name == "claude-code"
    assert shown(checked.session.path) == shown(story.write(tmp_path / "plain"))


@pytest.mark.parametrize("role", ["", '"role":"tool",'])
def test_a_result_of_pi_without_its_role_is_named_with_its_line(role: str, tmp_path: Path) -> None:
    story = STORIES["pi"]()
    lines = list(story.lines)
    assert b'"role":"toolResult",' in lines[story.result]
    lines[story.result] = lines[story.result].replace(b'"role":"toolResult",', role.encode())
    finding = only(check_session(story.write(tmp_path, lines)), "unknown-role")
    assert finding.line == story.result + 1


@pytest.mark.parametrize("name", ["pi", "codex", "claude-code"])
def test_lines_of_another_session_are_told(name: str, tmp_path: Path) -> None:
    story, kind = STORIES[name](), {"pi": "second-header"}.get(name, "foreign-session")
    other = [
        line.replace(claude_sessions.SESSION.encode(), b"22222222-2222-4333-8444-555555555555")
        .replace(codex_sessions.THREAD.encode(), codex_sessions.CHILD.encode())
        .replace(b"5e551000", b"5e551001")
        .replace(b'"id":"', b'"id":"x' if name == "claude-code" else b'"id":"')
        for line in story.lines
    ]
    if name == "claude-code":
        other = [
            line.replace(b'"uuid":"', b'"uuid":"x').replace(b'"parentUuid":"', b'"parentUuid":"x') for line in other
        ]
    where = len(story.lines) - 2
    lines = [*story.lines[:where], *(other if name == "claude-code" else other[:1]), *story.lines[where:]]
    path = story.write(tmp_path, lines)
    assert only(check_session(path), kind).line == where + 1
    assert shown(path) == shown(story.write(tmp_path / "alone"))
