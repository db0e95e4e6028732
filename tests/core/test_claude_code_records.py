"""What stands in Claude Code's sessions beside the view: figures, boundaries, the past, units, and what is odd."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from core.budget import used_figure
from core.findings import check_session
from core.opening import Opened
from core.policies.settings import Settings
from core.stats import stats
from core.view import Seen
from tests.core.claude_sessions import SESSION, Build, call, own, thought, told

CAPTURED = Path(__file__).parent.parent / "data" / "conformance" / "claude-code"


def figures(fresh: int, written: int, cached: int, output: int) -> dict[str, int]:
    names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")
    return dict(zip(names, (fresh, written, cached, output), strict=True))


# Usage.


def test_partial_counts_of_a_streamed_reply_give_way_to_the_whole_one(tmp_path: Path) -> None:
    build = Build()
    build.user("q")
    for number, output in enumerate((9, 9, 159)):
        build.reply(f"l{number}", message="m", usage=figures(100, 0, 0, output))
    usage = build.open(tmp_path).usage
    assert [(point.output, point.context) for point in usage.points] == [(159, 259)]
    assert usage.current == 259


def test_the_same_figures_on_every_line_of_a_reply_count_once(tmp_path: Path) -> None:
    build = Build()
    build.user("q")
    build.reply("l0", thought("t"), message="m")
    build.reply("l1", message="m")
    build.reply("l2", call("1"), message="m")
    build.result("r", "1")
    usage = build.open(tmp_path).usage
    assert [(point.context, point.cached, point.output) for point in usage.points] == [(2149, 100, 42)]
    assert usage.current == 2149
    assert [source.entry for source in usage.later] == [own("r")]


def test_cached_input_is_part_of_the_context_and_counts_once(tmp_path: Path) -> None:
    build = Build()
    build.user("q")
    build.reply("a", usage=figures(10, 2241, 113_676, 0))
    assert build.open(tmp_path).usage.current == 115_927


def test_the_sum_of_a_whole_run_is_no_context(tmp_path: Path) -> None:
    build = Build().turns(1)
    build.side(type="result", subtype="success", uuid=own("res"), usage=figures(5_000_000, 0, 0, 9000), num_turns=90)
    seen = build.open(tmp_path)
    assert seen.usage.current == 2149
    assert not seen.session.damage


def test_replies_without_figures_do_not_reset_the_meter(tmp_path: Path) -> None:
    build = Build().turns(1)
    for number in range(40):
        build.user(f"u{number}")
        build.reply(f"z{number}", usage=figures(0, 0, 0, 0) if number % 2 else None)
    build.reply("made up", model="<synthetic>", usage=figures(3, 0, 0, 0))
    usage = build.open(tmp_path).usage
    assert usage.current == 2149
    assert len(usage.later) == 40


def test_without_any_figure_the_view_is_counted(tmp_path: Path) -> None:
    build = Build()
    build.user("q")
    build.reply("a", usage=figures(0, 0, 0, 0))
    seen = build.open(tmp_path)
    assert seen.usage.current is None and "no reply" in seen.usage.stale
    assert used_figure(seen.usage, seen.view_tokens).kind == "counted"


def test_figures_from_before_a_boundary_or_an_edit_are_stale(tmp_path: Path) -> None:
    build = Build().turns(1, 2)
    build.boundary("B", ["a2"], "S")
    build.summary("S")
    usage = build.open(tmp_path).usage
    assert usage.current is None and usage.stale.startswith("compacted since")
    build = Build()
    build.user("q")
    build.reply("c", call("1"))
    result = build.result("r", "1", "a long result " * 20)
    build.reply("a")
    assert build.open(tmp_path).usage.current == 2149
    short = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "short"}]}
    build.lines.append({**result, "message": short})
    usage = build.open(tmp_path).usage
    assert usage.current is None and usage.stale.startswith("edited since")


def test_the_last_of_many_boundaries_counts(tmp_path: Path) -> None:
    build = Build()
    for number in range(31):
        build.turns(number)
        build.boundary(f"B{number}", before=2149 + number)
        build.summary(f"S{number}")
    build.turns(99)
    seen = build.open(tmp_path)
    assert told(seen) == ["SUMMARY S30", "q99", "a99"]
    assert [boundary.tokens_before for boundary in seen.usage.boundaries] == [2149 + number for number in range(31)]
    assert seen.usage.current == 2149
    assert len(seen.usage.points) == 32
    assert stats(seen, _budget(seen)).reported == 2149


def _budget(seen: Opened) -> Any:
    from core.planning import budget_of

    return budget_of(seen, Settings())


def test_a_picture_is_charged_as_a_picture(tmp_path: Path) -> None:
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A" * 400_000}}
    build = Build()
    build.user("q")
    build.reply("c", call("1", "Read"))
    build.result("r", "1", [picture])
    build.reply("a")
    seen = build.open(tmp_path)
    (at,) = [at for at, item in enumerate(seen.view.items) if item.kind == "image"]
    assert seen.item_tokens[at] == 1600
    assert seen.view_tokens < 2000
    assert seen.agent.image(seen.session, seen.view.items[at].source) == bytes(300_000)


# Other sessions in the file, and what is odd.


def kinds(seen: Opened) -> list[str]:
    return [damage.kind for damage in seen.session.damage]


def test_lines_of_another_session_are_told_and_left_out(tmp_path: Path) -> None:
    build, other = Build().turns(1), "22222222-2222-4333-8444-555555555555"
    build.user("x1", parent=None, sessionId=other)
    build.user("q2", parent="a1")
    build.reply("x2", parent="x1", sessionId=other)
    build.reply("a2", parent="q2")
    seen = build.open(tmp_path)
    assert told(seen) == ["q1", "a1", "q2", "a2"]
    assert seen.session.identity == SESSION
    (damage,) = seen.session.damage
    assert damage.kind == "foreign-session" and damage.line == 3
    assert damage.message == f"2 lines of another session, '{other}', stand in this file, none of them in the view"
    assert [point.entry for point in seen.usage.points] == [own("a1"), own("a2")]


def test_a_boundary_whose_logical_parent_is_gone_still_counts(tmp_path: Path) -> None:
    build = Build().turns(1)
    boundary = build.boundary("B", preservedSegment={"headUuid": "h", "anchorUuid": "a", "tailUuid": "t"})
    boundary["logicalParentUuid"] = "nowhere"
    build.summary("S")
    build.turns(2)
    seen = build.open(tmp_path)
    assert told(seen) == ["SUMMARY S", "q2", "a2"]
    assert kinds(seen) == ["kept-list", "missing-logical-parent"]
    assert [(item.item.text, item.sight) for item in past(seen)][:2] == [("q1", "summarized"), ("a1", "summarized")]


def test_missing_parents_are_told_with_what_the_client_does(tmp_path: Path) -> None:
    build = Build().turns(1)
    build.lines[1]["timestamp"] = "2026-03-01T08:00:13.000Z"
    build.user("q2", parent="lost")
    build.reply("a2")
    build.user("q3", parent="lost too")
    build.reply("a3")
    seen = build.open(tmp_path)
    assert told(seen) == ["q3", "a3"]
    assert [damage.client.split(":")[0] for damage in seen.session.damage] == ["begins the history there"] * 2
    build.lines[4]["timestamp"] = "2026-03-01T08:00:24.000Z"
    seen = build.open(tmp_path)
    assert told(seen) == ["q1", "a1", "q2", "a2", "q3", "a3"]
    assert [damage.client.split(",")[-1] for damage in seen.session.damage] == [" line 2", " line 4"]


def test_lost_calls_and_results_are_findings(tmp_path: Path) -> None:
    build = Build()
    build.user("q")
    build.reply("c1", call("1"))
    build.user("n")
    build.result("r9", "9")
    build.reply("c2", call("2"))
    seen = build.open(tmp_path)
    assert told(seen) == ["q", "n", "tool_call toolu_2"]
    found = [(finding.kind, finding.client) for finding in check_session(seen.session.path).findings]
    assert found[:2] == [("unanswered-call", "leaves it out"), ("orphaned-result", "leaves it out")]
    assert found[2][0] == "in-flight-call" and "[Tool call interrupted" in found[2][1]
    assert len(found) == 3


def test_lines_out_of_place_are_told(tmp_path: Path) -> None:
    build = Build().turns(1)
    build.add("h", type="hologram")
    build.turns(2)
    build.leaf("nowhere")
    build.side(type="user", message={"role": "user", "content": "no uuid"})
    again = dict(build.lines[0])
    build.lines.append({**again, "type": "system"})
    assert kinds(build.open(tmp_path)) == ["unknown-type", "missing-parent", "stale-leaf", "no-id", "duplicate-id"]


def test_titles_and_folders(tmp_path: Path) -> None:
    build = Build().turns(1)
    assert build.open(tmp_path).session.title == "q1"
    build.side(type="summary", summary="sum\nmary")
    build.side(type="custom-title", customTitle="Mine")
    seen = build.open(tmp_path)
    assert (seen.session.title, seen.session.cwd) == ("Mine", "/srv/demo")


# The past.


def past(seen: Opened) -> list[Seen]:
    return list(seen.agent.history(seen.session, seen.resume))


def fates(seen: Opened) -> list[tuple[str, str, str | None]]:
    names = {own(name): name for name in (*"BS", "B1", "B2", "S1", "S2", "r", "q1", "a1", "q2", "a2", "q3", "a3")}
    return [
        (told.item.text or told.item.kind, told.sight, names.get(told.left_at or "", told.left_at))
        for told in past(seen)
    ]


def test_the_past_tells_with_which_boundary_each_line_left(tmp_path: Path) -> None:
    build = Build().turns(1, 2)
    build.boundary("B1", ["a2"], "S1")
    build.summary("S1")
    build.user("q3", parent="a2")
    build.reply("a3")
    build.boundary("B2", ["q3", "a3"], "B2")
    assert fates(build.open(tmp_path)) == [
        ("q1", "summarized", "B1"),
        ("a1", "summarized", "B1"),
        ("q2", "summarized", "B1"),
        ("a2", "dropped", "B2"),
        ("SUMMARY S1", "dropped", "B2"),
        ("q3", "visible", None),
        ("a3", "visible", None),
    ]


def test_the_past_tells_what_was_pruned_as_it_was(tmp_path: Path) -> None:
    build = Build()
    build.user("q1")
    build.reply("c", call("1"))
    result = build.result("r", "1", "long")
    build.reply("a1")
    block = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "short"}
    build.lines.append({**result, "message": {"role": "user", "content": [block]}})
    seen = build.open(tmp_path)
    assert told(seen)[2] == "short"
    assert fates(seen)[2] == ("long", "pruned", "r")
    assert past(seen)[2].item.name == "Bash"


def test_branches_are_no_part_of_the_past_and_unsent_parts_were_never_seen(tmp_path: Path) -> None:
    build = Build().turns(1)
    build.user("left")
    build.reply("left answer")
    build.user("q2", parent="a1")
    build.reply("a2", thought("other's"), {"type": "text", "text": "a2"}, model="claude-haiku-4-5")
    build.reply("failed", isApiErrorMessage=True)
    assert fates(build.open(tmp_path)) == [
        ("q1", "visible", None),
        ("a1", "visible", None),
        ("q2", "visible", None),
        ("other's", "never", None),
        ("a2", "visible", None),
        ("failed", "never", None),
    ]


# Units, options, plans.


def test_a_reply_with_its_calls_and_results_is_one_unit(tmp_path: Path) -> None:
    build = Build()
    build.user("q")
    build.reply("t", thought("t"), message="m")
    build.reply("c1", call("1"), message="m")
    build.reply("c2", call("2", "Read", file_path="/x"), message="m")
    build.result("r1", "1", parent="c1")
    build.result("r2", "2", parent="c2")
    build.context("note")
    build.context("standing", "system")
    build.reply("a")
    seen = build.open(tmp_path)
    assert [unit.kind for unit in seen.units] == ["user", "exchange", "system", "assistant"]
    exchange = seen.units[1]
    assert exchange.entries == tuple(map(own, ("t", "c1", "c2", "r1", "r2", "note")))
    options = seen.options(exchange)
    assert options.allowed == {"keep", "summarize", "drop", "limit", "point"}
    assert [source.entry for source in options.results] == [own("r1"), own("r2")]
    assert all(seen.options(unit).refused.keys() == {"limit", "point"} for unit in seen.units if unit is not exchange)
    assert seen.view.items[5].name == "Read"


def test_only_what_the_user_says_starts_a_turn(tmp_path: Path) -> None:
    build = Build()
    build.user("caveat", "<local-command-caveat>…", isMeta=True)
    build.user("command", "<command-name>/cost</command-name>")
    build.context("reminder")
    build.user("q")
    build.reply("a")
    build.user("stop", "[Request interrupted by user]")
    build.summary("S")
    build.reply("b")
    units = build.open(tmp_path).units
    assert [unit.kind for unit in units] == [
        "custom",
        "shell",
        "shell",
        "user",
        "assistant",
        "custom",
        "summary",
        "assistant",
    ]
    assert [unit.starts_turn for unit in units].count(True) == 1


def test_the_stored_prompt_and_tools_are_metered(tmp_path: Path) -> None:
    build = Build()
    build.user("q")
    snapshot = {"type": "prompt_snapshot", "systemPrompt": ["be good", "be brief"]}
    build.add("p1", type="attachment", attachment={**snapshot, "tools": [{"name": "Bash", "description": "d"}]})
    build.add("p2", type="attachment", attachment={**snapshot, "systemPrompt": ["be better"]})
    build.reply("a")
    seen = build.open(tmp_path)
    system = seen.agent.system(seen.session, seen.resume)
    assert [(item.text, item.name) for item in system] == [
        ("be better", ""),
        ('{"name":"Bash","description":"d"}', "Bash"),
    ]
    assert told(seen) == ["q", "a"]
    assert seen.system_tokens > 0


def test_native_sessions_have_nothing_wrong() -> None:
    for path in sorted(CAPTURED.glob("native_*/session*")):
        file = path if path.is_file() else next(path.glob("*.jsonl"))
        assert check_session(file).findings == (), file
