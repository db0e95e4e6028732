"""The records that a proposal becomes in a pi session, one rule at a time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core.agents.protocol import Stamp
from core.errors import CommitRefused
from core.files import Overlay
from core.opening import Opened
from core.patch import Append, Create, Patch
from core.proposal import Disposition, Proposal, Summary, What
from core.view import pair_up
from tests.core.pi_sessions import HEADER, NOW, PATH, PICTURES, Build, line, opened, stamp

CAPTURED = Path(__file__).parent.parent / "data" / "conformance" / "pi"


def story() -> Build:
    """Two turns; in the first, two files are read and one is edited."""
    build = Build()
    build.user("find the bug")
    build.assistant([build.call(path="a.py"), build.call(path="b.py")])
    build.result("call_1", "text of a\n" * 40)
    build.result(
        "call_2", [{"type": "text", "text": "b"}, {"type": "image", "data": PICTURES[0], "mimeType": "image/png"}]
    )
    build.reply("It is in b.")
    build.user("fix it")
    build.assistant([build.call("edit", path="b.py")])
    build.result("call_3", "edited")
    build.reply("Fixed.")
    return build


def proposal(seen: Opened, whats: dict[int, What], summary: str = "SUMMARY", text: str = "[short]") -> Proposal:
    """What happens to the units with these numbers."""
    made: list[Disposition] = []
    for number, what in whats.items():
        unit = seen.units[number]
        results = seen.options(unit).results if what in ("limit", "point") else (None,)
        for source in results:
            one = (source,) if source is not None else ()
            made.append(Disposition(unit.id, what, "by hand", one, text if source else None))
    wanted = "summarize" in whats.values()
    return Proposal("handoff", tuple(made), None, Summary("offline", summary, {"goal": "fix"}) if wanted else None)


def encoded(seen: Opened, made: Proposal, given: Stamp | None = None) -> Patch:
    return seen.agent.encode(seen.session, seen.view, made, given or stamp())


def append_of(patch: Patch) -> Append:
    (change,) = patch.changes
    assert isinstance(change, Append)
    return change


def records_of(patch: Patch) -> list[dict[str, Any]]:
    return [json.loads(record) for record in append_of(patch).data.split(b"\n") if record.strip()]


def after(seen: Opened, patch: Patch) -> Opened:
    return opened(Overlay(seen.session.files, patch), seen.resume.client_version.value, patch.session)


def texts(seen: Opened) -> list[str]:
    return [item.text or item.kind for item in seen.view.items]


def test_without_a_summary_edits_alone_do_it() -> None:
    seen = opened(story().bytes())
    records = records_of(encoded(seen, proposal(seen, {1: "point", 2: "drop"})))
    assert [record["type"] for record in records] == ["context_edit"] * 3
    assert [record["parentId"] for record in records] == [seen.session.leaf, records[0]["id"], records[1]["id"]]
    assert [record["targetId"] for record in records] == ["e0000004", "e0000002", "e0000003"]
    assert records[0]["replacement"] is None
    assert records[1]["replacement"] == {"content": [{"type": "text", "text": "[short]"}]}


def test_a_compaction_carries_what_pi_expects() -> None:
    build = Build()
    system = {"role": "system", "content": "You help.", "sections": {"rules": "be brief", "cwd": "/srv"}}
    tools = [
        {"name": "read", "description": "", "parameters": {}},
        {"name": "old", "description": "", "parameters": {}},
    ]
    build.add("message", message={**system, "toolsAdded": tools, "timestamp": 1})
    build.user("first")
    build.assistant([build.call(path="a.py"), build.call("write", path="b.py")])
    build.result("call_1", "a")
    build.result("call_2", "b")
    patch = {"role": "system", "content": "", "sections": {"cwd": None, "docs": "d"}, "toolsRemoved": [{"name": "old"}]}
    build.add("message", message={**patch, "timestamp": 2})
    build.user("second")
    build.reply("done")
    seen = opened(build.bytes())
    (record,) = records_of(encoded(seen, proposal(seen, {0: "drop", 1: "summarize"})))
    assert record["type"] == "compaction"
    assert record["parentId"] == seen.session.leaf
    assert record["summary"] == "SUMMARY"
    assert record["firstKeptEntryId"] == seen.units[2].id
    assert record["fromHook"] is True
    assert record["timestamp"] == "2026-06-03T15:20:00.250Z"
    assert isinstance(record["tokensBefore"], int) and record["tokensBefore"] > 0
    assert record["details"]["readFiles"] == ["a.py"]
    assert record["details"]["modifiedFiles"] == ["b.py"]
    ours = record["details"]["seamline"]
    assert (ours["policy"], ours["state"], ours["dropped"]) == ("handoff", {"goal": "fix"}, [seen.units[0].id])
    assert record["systemMessage"] == {
        "role": "system",
        "content": "You help.",
        "sections": {"rules": "be brief", "docs": "d"},
        "toolsAdded": [tools[0]],
        "timestamp": int(NOW * 1000),
    }


def test_files_of_an_earlier_compaction_are_carried_on() -> None:
    build = story()
    details = {"readFiles": ["old.py", "b.py"], "modifiedFiles": ["made.py"]}
    build.add("compaction", summary="EARLIER", firstKeptEntryId="e0000005", tokensBefore=9, details=details)
    build.reply("go on")
    seen = opened(build.bytes())
    (record,) = records_of(encoded(seen, proposal(seen, {0: "summarize", 1: "summarize", 2: "summarize"})))
    assert record["details"]["readFiles"] == ["old.py"]
    assert record["details"]["modifiedFiles"] == ["b.py", "made.py"]


def test_nothing_kept_names_the_compaction_itself() -> None:
    seen = opened(story().bytes())
    (record,) = records_of(encoded(seen, proposal(seen, dict.fromkeys(range(len(seen.units)), "summarize"))))
    assert record["firstKeptEntryId"] == record["id"]
    assert (
        len(after(seen, encoded(seen, proposal(seen, dict.fromkeys(range(len(seen.units)), "summarize")))).view.items)
        == 1
    )


def test_units_behind_the_first_kept_one_are_left_out_by_edits() -> None:
    seen = opened(story().bytes())
    records = records_of(encoded(seen, proposal(seen, {1: "summarize", 4: "drop"})))
    assert [record["type"] for record in records] == ["compaction"] + ["context_edit"] * 5
    assert records[0]["firstKeptEntryId"] == seen.units[0].id
    assert records[0]["details"]["seamline"]["summarized"] == list(seen.units[1].entries)
    targets = [record["targetId"] for record in records[1:]]
    assert targets == [*reversed(seen.units[1].entries), *reversed(seen.units[4].entries)]


def test_a_late_result_is_left_out_before_its_call_goes() -> None:
    build = Build()
    build.user("one")
    build.assistant([build.call()])
    build.user("two")
    late = build.result("call_1", "late")
    build.reply("three")
    seen = opened(build.bytes())
    assert [unit.kind for unit in seen.units] == ["user", "exchange", "user", "assistant"]
    made = proposal(seen, {0: "summarize", 1: "summarize"})
    records = records_of(encoded(seen, made))
    assert [record["type"] for record in records] == ["context_edit", "compaction"]
    assert records[0]["targetId"] == late
    assert texts(after(seen, encoded(seen, made)))[1:] == ["two", "three"]


def test_an_edit_before_the_kept_range_is_made_again() -> None:
    build = Build()
    build.user("one")
    build.add("context_edit", targetId="e0000002", replacement={"content": "edited ahead"})
    build.user("never shown")
    build.reply("two")
    seen = opened(build.bytes())
    assert texts(seen) == ["one", "edited ahead", "two"]
    patch = encoded(seen, proposal(seen, {0: "summarize"}))
    assert [record["type"] for record in records_of(patch)] == ["context_edit", "compaction"]
    assert texts(after(seen, patch))[1:] == ["edited ahead", "two"]


def test_the_first_kept_entry_is_no_result() -> None:
    build = Build()
    build.user("one")
    build.assistant([build.call()], stopReason="aborted")
    build.result("call_1", "orphan")
    build.reply("two")
    seen = opened(build.bytes())
    assert [unit.kind for unit in seen.units] == ["user", "orphan", "assistant"]
    (record,) = records_of(encoded(seen, proposal(seen, {0: "summarize"})))
    assert record["firstKeptEntryId"] == "e0000001"


def compacted() -> Build:
    build = story()
    build.add("compaction", summary="EARLIER", firstKeptEntryId="e0000005", tokensBefore=9)
    build.user("more")
    build.reply("done")
    return build


@pytest.mark.parametrize("version", ["1.6.0", "0.73.1"])
def test_an_earlier_summary_stays_only_without_a_new_one(version: str) -> None:
    seen = opened(compacted().bytes(), version)
    assert seen.units[0].kind == "summary"
    with pytest.raises(CommitRefused, match="while no new summary is made"):
        encoded(seen, proposal(seen, {1: "summarize"}))
    kept = after(seen, encoded(seen, proposal(seen, {1: "drop"})))
    assert texts(kept) == [text for at, text in enumerate(texts(seen)) if at != 1]
    gone = after(seen, encoded(seen, proposal(seen, {0: "drop"})))
    assert texts(gone) == texts(seen)[1:]
    anew = after(seen, encoded(seen, proposal(seen, {0: "summarize"})))
    assert texts(anew)[1:] == texts(seen)[1:]
    assert "SUMMARY" in texts(anew)[0] and "EARLIER" not in texts(anew)[0]


def test_an_older_client_gets_a_plain_compaction_where_that_does_it() -> None:
    seen = opened(story().bytes(), "0.73.1")
    (record,) = records_of(encoded(seen, proposal(seen, {0: "drop", 1: "summarize", 2: "summarize"})))
    assert (record["type"], record["firstKeptEntryId"]) == ("compaction", seen.units[3].id)


def test_an_older_client_never_meets_an_earlier_compaction_in_the_kept_range() -> None:
    seen = opened(compacted().bytes(), "0.73.1")
    records = records_of(encoded(seen, proposal(seen, {0: "summarize"})))
    assert records[0]["firstKeptEntryId"] == records[0]["id"]
    assert len(records) == 1 + sum(len(unit.entries) for unit in seen.units[1:])


def test_an_older_client_gets_copies_behind_a_summary() -> None:
    build = story()
    build.add("thinking_level_change", thinkingLevel="high")
    build.add("model_change", provider="mock", modelId="another")
    seen = opened(build.bytes(), "0.73.1")
    records = records_of(encoded(seen, proposal(seen, {0: "summarize", 1: "limit", 4: "summarize"})))
    kinds = [record["type"] for record in records]
    assert kinds == ["compaction", *["message"] * 6, "model_change"]
    assert records[0]["firstKeptEntryId"] == records[0]["id"]
    assert [record["parentId"] for record in records[1:]] == [record["id"] for record in records[:-1]]
    first, shortened, pictured = (record["message"] for record in records[1:4])
    assert first["usage"]["totalTokens"] == 0 and first["usage"]["cost"]["total"] == 0
    assert (first["api"], first["provider"], first["model"]) == ("anthropic-messages", "anthropic", "claude-demo-1")
    assert first["timestamp"] < NOW * 1000
    assert shortened["content"] == [{"type": "text", "text": "[short]"}]
    assert [part["type"] for part in pictured["content"]] == ["text", "image"]
    assert records[-1]["modelId"] == "another"
    copied = records[0]["details"]["seamline"]["copied"]
    assert copied == {"e0000001": records[1]["id"], "e0000004": records[4]["id"], "e0000005": records[5]["id"]} | {
        "e0000008": records[6]["id"]
    }


def test_an_older_client_gets_a_new_root_where_nothing_is_summarised() -> None:
    build = Build()
    build.add("thinking_level_change", thinkingLevel="high")
    build.user("one")
    build.reply("two")
    build.assistant([{"type": "text", "text": "three"}], ("mock", "another"))
    build.user("four")
    seen = opened(build.bytes(), "0.73.1")
    records = records_of(encoded(seen, proposal(seen, {2: "drop"})))
    assert records[0]["parentId"] is None
    assert [record["type"] for record in records] == [*["message"] * 3, "thinking_level_change", "model_change"]
    assert (records[3]["thinkingLevel"], records[4]["modelId"]) == ("high", "another")
    assert texts(after(seen, encoded(seen, proposal(seen, {2: "drop"})))) == ["one", "two", "four"]


def test_pictures_go_with_a_pointer_and_stay_with_a_limit() -> None:
    seen = opened(story().bytes())
    source = seen.options(seen.units[1]).results[1]
    kinds: tuple[tuple[What, int], ...] = (("point", 0), ("limit", 1))
    for what, left in kinds:
        change = Disposition(seen.units[1].id, what, "by hand", (source,), "[short]")
        shown = after(seen, encoded(seen, Proposal("handoff", (change,)))).view.items
        assert sum(item.kind == "image" for item in shown) == left
        assert [item.text for item in shown if item.kind == "tool_result"][1] == "[short]"


@pytest.mark.parametrize("case", ["v1_linear", "v2_hook_message"])
@pytest.mark.parametrize("version", ["1.6.0", "0.73.1"])
def test_an_old_file_is_only_forked(case: str, version: str) -> None:
    data = (CAPTURED / case / "session.jsonl").read_bytes()
    seen = opened(data, version)
    made = proposal(seen, {0: "drop"})
    with pytest.raises(CommitRefused, match="use --as fork"):
        encoded(seen, made)
    plain = seen.agent.fork(seen.session, seen.view, Proposal("handoff"), stamp())
    assert texts(after(seen, plain)) == texts(seen)
    assert after(seen, plain).session.detail.version == 3
    changed = seen.agent.fork(seen.session, seen.view, made, stamp())
    gone = len(seen.units[0].items)
    assert texts(after(seen, changed)) == texts(seen)[gone:]


def test_a_fork_copies_the_stored_bytes_of_the_path() -> None:
    build = story()
    build.leaf = "e0000003"
    build.user("another way")
    seen = opened(build.bytes())
    patch = seen.agent.fork(seen.session, seen.view, Proposal("handoff"), stamp())
    (change,) = patch.changes
    assert isinstance(change, Create)
    lines = change.data.split(b"\n")
    assert lines[1:-1] == [line(record)[:-1] for record in build.path()]
    header = json.loads(lines[0])
    assert header["parentSession"] == str(PATH) and header["cwd"] == HEADER["cwd"] and header["id"] != HEADER["id"]
    assert patch.session.name == f"2026-06-03T15-20-00-250Z_{header['id']}.jsonl"
    assert patch.kind == "fork"


@pytest.mark.parametrize(
    ("tail", "start"),
    [(b"", b"{"), (b'{"type":"mess', b"\n{"), (b'{"a":1}'[:-1] + b"\xe4", b"\n{")],
    ids=["whole", "torn", "half"],
)
def test_a_torn_line_is_not_continued(tail: bytes, start: bytes) -> None:
    seen = opened(story().bytes() + tail)
    patch = encoded(seen, proposal(seen, {0: "drop"}))
    assert append_of(patch).at == len(story().bytes() + tail)
    assert append_of(patch).data.startswith(start)
    assert append_of(patch).data.endswith(b"}\n")
    assert texts(after(seen, patch)) == texts(seen)[1:]


def test_the_line_end_is_that_of_the_file() -> None:
    data = story().bytes().replace(b"\n", b"\r\n")[:-2]
    seen = opened(data)
    patch = encoded(seen, proposal(seen, {0: "drop", 1: "point"}))
    added = append_of(patch).data
    assert added.startswith(b"\r\n{") and added.endswith(b"}\r\n")
    assert added.count(b"\r\n") == added.count(b"\n") == 4
    assert texts(after(seen, patch))[0] == texts(seen)[1]


def test_text_is_written_as_pi_writes_it() -> None:
    seen = opened(story().bytes())
    patch = encoded(seen, proposal(seen, {0: "summarize"}, summary='你好 🎉 "\u2028" \ud83d'))
    assert '"summary":"你好 🎉 \\"\u2028\\" \\ud83d"'.encode() in append_of(patch).data
    assert b'", "' not in append_of(patch).data


def test_ids_are_new_to_the_session() -> None:
    seen = opened(story().bytes())
    given = iter(["e0000001" + "0" * 24, "aaaaaaaa" + "0" * 24, "aaaaaaaa" + "1" * 24, "bbbbbbbb" + "0" * 24])
    records = records_of(encoded(seen, proposal(seen, {0: "drop", 2: "drop"}), Stamp(NOW, lambda: next(given))))
    assert [record["id"] for record in records] == ["aaaaaaaa", "bbbbbbbb"]


def test_another_leaf_is_where_the_append_hangs() -> None:
    build = story()
    files = opened(build.bytes()).session.files
    agent = opened(build.bytes()).agent
    session = agent.open(files, PATH, "e0000004")
    resume = opened(build.bytes()).resume
    view = agent.view(session, resume)
    made = Proposal("handoff", (Disposition("e0000000", "drop", "by hand"),))
    patch = agent.encode(session, view, made, stamp())
    assert records_of(patch)[0]["parentId"] == "e0000004"
    assert texts(opened(Overlay(files, patch)))[-1] == "It is in b."


def test_ids_that_are_numbers_stay_numbers() -> None:
    build = Build()
    build.user("one")
    build.reply("two")
    data = build.bytes().replace(b'"id":"e0000000"', b'"id":17').replace(b'"parentId":"e0000000"', b'"parentId":17')
    seen = opened(data)
    (record,) = records_of(encoded(seen, proposal(seen, {0: "drop"})))
    assert record["targetId"] == 17


def refusals() -> Iterator[tuple[str, Proposal]]:
    seen = opened(story().bytes())
    user, exchange = seen.units[0].id, seen.units[1].id
    first = seen.options(seen.units[1]).results[:1]
    yield "nothing in the view would change", Proposal("handoff")
    yield "no unit", Proposal("handoff", (Disposition("nowhere", "drop", ""),))
    yield "kept whole", Proposal("handoff", (Disposition(user, "point", "", (), "[x]"),))
    yield "no summary", Proposal("handoff", (Disposition(user, "summarize", ""),))
    yield "no summary", Proposal("handoff", (Disposition(user, "summarize", ""),), None, Summary("offline", " \n"))
    yield "can't be empty", Proposal("handoff", (Disposition(exchange, "limit", "", first, " "),))
    yield "one of its results", Proposal("handoff", (Disposition(exchange, "limit", "", (), "[x]"),))
    both = (Disposition(exchange, "drop", ""), Disposition(exchange, "point", "", first, "[x]"))
    yield "as a whole", Proposal("handoff", both)
    twice = (Disposition(user, "drop", ""), Disposition(user, "summarize", ""))
    yield "choose one", Proposal("handoff", twice, None, Summary("offline", "S"))


@pytest.mark.parametrize(("words", "made"), list(refusals()))
def test_what_can_not_be_carried_is_refused_in_one_line(words: str, made: Proposal) -> None:
    seen = opened(story().bytes())
    with pytest.raises(CommitRefused, match=words) as refusal:
        encoded(seen, made)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("version", ["1.6.0", "0.73.1"])
def test_every_beginning_of_an_append_is_read_harmlessly(version: str) -> None:
    seen = opened(story().bytes(), version)
    append = append_of(encoded(seen, proposal(seen, {0: "summarize", 1: "point", 3: "drop"})))
    for length in range(len(append.data)):
        part = Patch((Append(PATH, append.at, append.data[:length]),), PATH, "append")
        shown = after(seen, part).view.items
        assert pair_up(shown).whole
        stored = {item.text for item in shown if item.origin == "stored"}
        assert "SUMMARY" in "".join(stored) or stored == {item.text for item in seen.view.items}
