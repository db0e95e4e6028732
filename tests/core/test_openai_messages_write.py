"""Files of messages written anew: in each layout and for each API, all but what was decided keeps its bytes."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.agents.openai_messages.summaries import START, kept_behind, wrapped
from core.agents.protocol import Stamp
from core.approving import approve
from core.commit import Journal, undo
from core.errors import CommitRefused, SeamlineError
from core.files import Disk, Overlay
from core.opening import Opened, open_session
from core.patch import Patch
from core.planning import Plan, plan_session, revise
from core.policies.settings import Settings
from core.proposal import Disposition, Proposal, Summary, What
from core.view import Unit
from tests.core.message_files import PIXEL, Value, reply, request, result, system, user, write

LONG = "line of a result\n" * 60
PICTURE = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}}


def stamp() -> Stamp:
    numbers = iter(range(1, 1000))
    return Stamp(1_780_000_000.0, lambda: f"{next(numbers):032x}")


def chat() -> list[Value]:
    """System, then four turns, one of them with two calls."""
    return [
        system("be exact"),
        user("first \u2028 wish"),
        reply(None, "c1", "c2"),
        result("c1", LONG + "one"),
        result("c2", [{"type": "text", "text": LONG + "two"}, PICTURE]),
        reply("done ümlaut", custom={"kept": 1}),
        user("second wish"),
        reply("so be it"),
        user("third wish"),
        reply(None, "c1"),
        result("c1", LONG + "three"),
        reply("the end"),
    ]


def responses() -> list[Value]:
    items: list[Value] = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "first wish"}]}
    ]
    for name in ("c1", "c2"):
        items += [
            {"type": "reasoning", "id": f"rs_{name}", "summary": [], "encrypted_content": "x"},
            {"type": "function_call", "id": f"fc_{name}", "call_id": name, "name": "read", "arguments": "{}"},
            {"type": "function_call_output", "call_id": name, "output": LONG + name},
        ]
    items.append({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "done"}]})
    items.append({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "second wish"}]})
    return items


def anthropic() -> list[Value]:
    def use(name: str) -> Value:
        return {"type": "tool_use", "id": name, "name": "read", "input": {}}

    def answer(name: str) -> Value:
        return {"type": "tool_result", "tool_use_id": name, "content": [{"type": "text", "text": LONG + name}]}

    return [
        user("first wish"),
        {"role": "assistant", "content": [{"type": "text", "text": "look"}, use("c1"), use("c2")]},
        user([answer("c1"), answer("c2"), {"type": "text", "text": "and hurry"}]),
        {"role": "assistant", "content": "done"},
        user("second wish"),
        {"role": "assistant", "content": "so be it"},
    ]


CONVERSATIONS: dict[str, Callable[[], list[Value]]] = {"chat": chat, "responses": responses, "anthropic": anthropic}
LAYOUTS = ["array", "indented", "tabs", "crlf", "object", "lines", "lines crlf bom", "log", "conversations"]


def made(folder: Path, messages: list[Value], layout: str, api: str = "chat") -> Path:
    """A file in this layout."""
    member = "input" if api == "responses" else "messages"
    more: Value = {"model": "gpt-4o", "temperature": 1.0e0, "instructions" if api == "responses" else "store": "yes"}
    whole = {**more, member: messages, "metadata": {"own": [1, 2]}}
    path = folder / ("a.jsonl" if layout.startswith(("lines", "log", "conv")) else "a.json")
    if layout == "array":
        return write(path, messages)
    if layout in ("indented", "crlf", "tabs"):
        text = json.dumps(whole, ensure_ascii=False, indent="\t" if layout == "tabs" else 2)
        path.write_bytes((text.replace("\n", "\r\n") if layout == "crlf" else text + "\n").encode())
    elif layout == "object":
        path.write_text(json.dumps(whole, ensure_ascii=False, separators=(",", ":")), "utf-8")
    elif layout == "lines":
        write(path, messages)
    elif layout == "lines crlf bom":
        rows = [json.dumps(one, ensure_ascii=False).encode() + b"\r\n" for one in messages]
        path.write_bytes(b"\xef\xbb\xbf" + b"".join(rows))
    elif layout == "log":
        rows = [{"request": {**more, member: messages[:size]}, "response": {}} for size in (2, len(messages))]
        write(path, rows)
    else:
        write(path, [{**more, member: [user("another")]}, whole])
    return path


def opened(path: Path) -> Opened:
    return open_session(path, leaf="line-2" if b"another" in path.read_bytes() else None)


def planned(seen: Opened, decided: dict[str, What], fork: bool = False) -> Plan:
    """A plan with these dispositions: unit → what; every result of a unit that is shortened."""
    listed: list[Disposition] = []
    for unit in seen.units:
        what = decided.get(unit.id)
        if what in ("limit", "point"):
            for number, source in enumerate(seen.options(unit).results):
                listed.append(Disposition(unit.id, what, "asked", (source,), f"[shorter {number} ü\ud83d]"))
        elif what is not None:
            listed.append(Disposition(unit.id, what, "asked"))
    summary = Summary("person", "What was done: \u2028 all.") if "summarize" in decided.values() else None
    return revise(seen, Proposal("handoff", tuple(listed), summary=summary), Settings(), stamp(), fork=fork)


def new_bytes(plan: Plan) -> bytes:
    assert plan.patch is not None, plan.why
    files = Overlay(Disk(), plan.patch)
    return files.read(plan.patch.session, 0, files.size(plan.patch.session))


def must_hold(plan: Plan) -> None:
    """Every check but those on the summary's own text, which is a short one here."""
    failed = [check for check in plan.checks if not check.ok and not check.id.startswith("summary-")]
    assert not failed, failed


def raw(seen: Opened, unit: Unit) -> list[bytes]:
    entries = [seen.session.entry(one) for one in unit.entries]
    return [seen.session.raw(one) for one in entries if one is not None]


def test_a_wrapped_summary_is_known_again() -> None:
    for kept in (0, 1, 12):
        assert kept_behind(wrapped("a\n</summary>\nb", kept)) == kept
    assert kept_behind(START + "and so on") is None
    assert kept_behind("What was done") is None


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("api", CONVERSATIONS)
def test_every_disposition_in_every_layout(tmp_path: Path, layout: str, api: str) -> None:
    path = made(tmp_path, CONVERSATIONS[api](), layout, api)
    seen = opened(path)
    old = path.read_bytes()
    units = [unit for unit in seen.units if unit.kind != "system"]
    exchange = next(unit for unit in units if unit.kind == "exchange")
    changed = False
    for decided in (
        {units[0].id: "summarize", exchange.id: "summarize"},
        {units[0].id: "drop", units[1].id: "summarize"},
        {exchange.id: "drop"},
        {exchange.id: "point"},
        {exchange.id: "limit", units[-1].id: "drop"},
        {units[0].id: "drop", units[-1].id: "drop"},
        {unit.id: "summarize" for unit in units[:-1]},
    ):
        plan = planned(seen, decided)
        must_hold(plan)
        assert plan.commits_as == "replace"
        new = new_bytes(plan)
        changed = changed or new != old
        assert_readable(new, layout)
        at = 0
        for unit in seen.units:
            for one in raw(seen, unit) if unit.id not in decided else ():
                at = new.index(one, at) + len(one)
    assert changed


def assert_readable(data: bytes, layout: str) -> None:
    """As strictly as any JSON reader looks."""
    text = data.decode("utf-8")
    if not layout.startswith(("lines", "log", "conv")):
        json.loads(text)
        return
    rows = text.removeprefix("\ufeff").split("\n")
    assert rows.pop() == ""
    for row in rows:
        json.loads(row)
        assert row.endswith("\r") == ("crlf" in layout)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_commit_and_its_undo(tmp_path: Path, layout: str) -> None:
    path = made(tmp_path, chat(), layout)
    before = path.read_bytes()
    seen = opened(path)
    exchange = next(unit for unit in seen.units if unit.kind == "exchange")
    plan = planned(seen, {exchange.id: "point"})
    must_hold(plan)
    new = new_bytes(plan)
    receipt = approve(plan, stamp(), agent_stopped=True)
    assert receipt.kind == "replace"
    assert path.read_bytes() == new != before
    with Journal() as journal:
        undo(path, journal, now=1.0)
    assert path.read_bytes() == before


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("api", CONVERSATIONS)
def test_a_fork_has_the_same_view_under_a_name_of_its_own(tmp_path: Path, layout: str, api: str) -> None:
    path = made(tmp_path, CONVERSATIONS[api](), layout, api)
    before = path.read_bytes()
    seen = opened(path)
    plan = planned(seen, {}, fork=True)
    assert plan.patch is not None
    receipt = approve(plan, stamp(), agent_stopped=True)
    assert receipt.result != path
    assert receipt.result.suffix == path.suffix
    assert path.read_bytes() == before
    again = open_session(receipt.result)
    assert [item.text for item in again.view.items] == [item.text for item in seen.view.items]
    if layout not in ("log", "conversations"):
        assert receipt.result.read_bytes() == before


@pytest.mark.parametrize("layout", ["array", "indented", "lines"])
def test_a_fork_at_an_earlier_message(tmp_path: Path, layout: str) -> None:
    path = made(tmp_path, chat(), layout)
    whole = open_session(path)
    leaf = whole.units[3].entries[0]
    seen = open_session(path, leaf=leaf)
    assert planned(seen, {}, fork=True).commits_as == "fork"
    made_new = approve(planned(seen, {}, fork=True), stamp(), agent_stopped=True).result
    again = open_session(made_new)
    assert [item.text for item in again.view.items] == [item.text for item in seen.view.items]
    assert len(again.view.items) < len(whole.view.items)
    with pytest.raises(CommitRefused, match="use --as fork"):
        seen.agent.encode(seen.session, seen.view, Proposal("handoff"), stamp())


def test_the_style_of_the_file_is_kept(tmp_path: Path) -> None:
    seen = open_session(made(tmp_path, chat(), "crlf"))
    units = [unit for unit in seen.units if unit.kind != "system"]
    new = new_bytes(planned(seen, {units[0].id: "summarize"}))
    assert b'\r\n    {\r\n      "role": "user",\r\n      "content": "Earlier messages' in new
    assert new.count(b"\n") == new.count(b"\r\n")
    compact = open_session(made(tmp_path, chat(), "object"))
    assert b'{"role":"user","content":"Earlier' in new_bytes(planned(compact, {compact.units[1].id: "summarize"}))


def test_a_picture_goes_with_a_pointer_and_stays_with_a_limit(tmp_path: Path) -> None:
    seen = open_session(made(tmp_path, chat(), "array"))
    exchange = next(unit for unit in seen.units if unit.kind == "exchange")
    for what, pictures in (("point", 0), ("limit", 1)):
        after = planned(seen, {exchange.id: what}).after
        assert sum(item.kind == "image" for item in after.view.items) == pictures


def test_a_second_summary_replaces_the_first_and_old_figures_are_stale(tmp_path: Path) -> None:
    messages = chat()
    messages[-1]["usage"] = {"prompt_tokens": 9000, "completion_tokens": 10}
    path = made(tmp_path, messages, "lines")
    seen = open_session(path)
    assert seen.usage.current == 9010
    units = [unit for unit in seen.units if unit.kind != "system"]
    approve(lenient(planned(seen, {units[0].id: "summarize", units[1].id: "summarize"})), stamp(), agent_stopped=True)
    seen = open_session(path)
    summary = next(unit for unit in seen.units if unit.kind == "summary")
    assert not summary.starts_turn
    assert seen.usage.current is None
    assert [boundary.by for boundary in seen.usage.boundaries] == ["seamline"]
    with open(path, "a", encoding="utf-8") as file:
        file.write(json.dumps(reply("more", usage={"prompt_tokens": 700, "completion_tokens": 1})) + "\n")
    seen = open_session(path)
    assert seen.usage.current == 701
    later = next(unit for unit in seen.units if unit.kind == "exchange")
    summary = next(unit for unit in seen.units if unit.kind == "summary")
    refused = planned(seen, {later.id: "summarize"})
    assert refused.commits_as == "none"
    assert "only while no new summary is made" in refused.why
    plan = planned(seen, {summary.id: "summarize", later.id: "summarize"})
    must_hold(plan)
    assert sum(item.mark == "summary" for item in plan.after.view.items) == 1


def lenient(plan: Plan) -> Plan:
    """The plan without the checks of its summary's text, which is a short one here."""
    return replace(plan, checks=tuple(check for check in plan.checks if not check.id.startswith("summary-")))


def test_a_server_result_is_never_touched(tmp_path: Path) -> None:
    blocks = [
        {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}},
        {"type": "web_search_tool_result", "tool_use_id": "s1", "content": [{"encrypted_content": "x" * 400}]},
        {"type": "text", "text": "found"},
    ]
    seen = open_session(write(tmp_path / "a.json", [user("find"), {"role": "assistant", "content": blocks}, user("b")]))
    unit = next(unit for unit in seen.units if unit.kind == "exchange")
    options = seen.options(unit)
    assert "point" not in options.allowed
    assert "none of its calls" in options.refused["point"]


@pytest.mark.parametrize("reply_goes", [True, False])
def test_the_reply_beside_a_request_stays(tmp_path: Path, reply_goes: bool) -> None:
    rows = [request("gpt-4o", chat(), reply("the reply"), {"prompt_tokens": 5}, "chatcmpl-1")]
    seen = open_session(write(tmp_path / "a.jsonl", [*rows, *rows]))
    last = seen.units[-1] if reply_goes else seen.units[1]
    plan = planned(seen, {last.id: "drop"})
    assert plan.commits_as == ("none" if reply_goes else "replace")
    if reply_goes:
        assert "stands beside the list of messages" in plan.why
    else:
        must_hold(plan)


def test_an_earlier_request_of_a_log_is_only_forked(tmp_path: Path) -> None:
    path = made(tmp_path, chat(), "log")
    seen = open_session(path, leaf="line-1")
    plan = planned(seen, {seen.units[1].id: "drop"})
    assert plan.commits_as in ("fork", "none")
    assert "only the last request" in plan.why


@pytest.mark.parametrize("damage", ["torn", "broken", "mixed"])
def test_a_document_that_nothing_reads_is_not_written(tmp_path: Path, damage: str) -> None:
    messages = chat()
    if damage == "mixed":
        messages[-1:] = [{"type": "function_call", "call_id": "x", "name": "f", "arguments": "{}"}, *anthropic()]
    path = write(tmp_path / "a.json", messages)
    if damage == "torn":
        path.write_bytes(path.read_bytes()[:-30])
    if damage == "broken":
        path.write_bytes(path.read_bytes().replace(b'"second wish"', b'"second wish'))
    seen = open_session(path)
    with pytest.raises(CommitRefused, match="no valid JSON|more than one API"):
        seen.agent.encode(seen.session, seen.view, Proposal("handoff"), stamp())


def test_a_torn_last_line_is_not_glued_to_anything(tmp_path: Path) -> None:
    path = made(tmp_path, chat(), "lines")
    path.write_bytes(path.read_bytes() + b'{"role":"user","content":"half a wi')
    seen = open_session(path)
    units = [unit for unit in seen.units if unit.kind != "system"]
    plan = planned(seen, {unit.id: "summarize" for unit in units})
    must_hold(plan)
    rows = new_bytes(plan).split(b"\n")
    assert rows[-1] == b'{"role":"user","content":"half a wi'
    for row in rows[:-1]:
        json.loads(row)


def test_nothing_left_is_refused(tmp_path: Path) -> None:
    seen = open_session(write(tmp_path / "a.json", [user("one"), reply("two")]))
    plan = planned(seen, {unit.id: "drop" for unit in seen.units})
    assert plan.commits_as == "none"
    assert "no message would be left" in plan.why


def test_a_large_file_is_not_held_in_memory(tmp_path: Path) -> None:
    path = write(tmp_path / "a.json", [user("x" * (8 << 20)), reply("a"), user("y" * (8 << 20)), reply("b")])
    seen = open_session(path)
    patch: Patch = seen.agent.encode(
        seen.session, seen.view, Proposal("handoff", (Disposition(seen.units[1].id, "drop", "asked"),)), stamp()
    )
    (change,) = patch.changes
    assert patch.size > 16 << 20
    assert sum(len(piece) for piece in getattr(change, "pieces", ()) if isinstance(piece, bytes)) == 0


@pytest.mark.parametrize("policy", ["handoff", "codex", "dsh", "grok-build", "pi", "claude-code"])
@pytest.mark.parametrize("api", CONVERSATIONS)
def test_what_the_policies_propose_can_be_written(tmp_path: Path, policy: str, api: str) -> None:
    messages: list[Any] = []
    for _ in range(6):
        messages += CONVERSATIONS[api]()[api == "chat" :]
    seen = open_session(made(tmp_path, messages, "indented", api))
    try:
        plan = plan_session(seen, policy, Settings(target=4000, keep_recent=300), stamp())
    except SeamlineError as refusal:
        pytest.skip(str(refusal))
    assert plan.commits_as == ("replace" if plan.proposal.dispositions else "none"), plan.why
    assert plan.proposal.dispositions or policy in ("dsh", "pi")
    failed = [check for check in plan.checks if not check.ok and not check.id.startswith(("summary-", "target"))]
    assert not failed, failed
