"""The sample sessions: always the same bytes, true to the truth beside them, and as large as the story needs."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from core.budget import Figure, handoff_budget, used_figure
from core.metering import gain
from core.opening import Opened, open_session
from core.policies import policy_named, propose
from core.policies.handoff import aims, prunable
from core.policies.settings import Settings
from core.pruning import prune
from core.resume import Overrides
from core.view import pair_up
from scripts.samples.__main__ import ROOT, files
from tests.generated import VARIANTS, Variant

ENGLISH = "pi/interface-migration.jsonl"
CHINESE = "pi/order-gateway-chinese.jsonl"
SAMPLES = (ENGLISH, CHINESE)
LARGEST, IN_ALL = 1100 * 1024, 6_200_000
"""Bytes of one file and of all: the samples are part of every clone."""


@cache
def opened(sample: str) -> Opened:
    return open_session(ROOT / sample)


@cache
def truth(sample: str) -> dict[str, Any]:
    return json.loads((ROOT / "truth" / f"{sample.replace('/', '-').removesuffix('.jsonl')}.json").read_text("utf-8"))


@cache
def entries(sample: str) -> dict[str, dict[str, Any]]:
    lines = (ROOT / sample).read_text("utf-8").split("\n")
    return {entry["id"]: entry for entry in map(json.loads, filter(None, lines))}


def words(sample: str, entry: str) -> str:
    """Everything that one entry says: texts, thinking, arguments, results."""
    message = entries(sample)[entry]["message"]
    parts = message.get("content", [])
    said = [part.get("text") or part.get("thinking") or json.dumps(part.get("arguments")) for part in parts]
    return "\n".join([*said, message.get("command", "")])


def pruned_tokens(session: Opened) -> int:
    return session.view_tokens - gain(session, prune(prunable(session)))


# The files


def test_the_generator_gives_the_committed_files() -> None:
    for name, data in files().items():
        assert (ROOT / name).read_bytes() == data, f"{name}: run `python -m scripts.samples`"


def test_nothing_else_lies_among_the_samples() -> None:
    assert {path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*") if path.is_file()} == set(files())


def test_small_enough_for_every_clone() -> None:
    sizes = [path.stat().st_size for path in ROOT.rglob("*") if path.is_file()]
    assert max(sizes) < LARGEST and sum(sizes) < IN_ALL


# What they hold


@pytest.mark.parametrize("sample", SAMPLES)
def test_planted_truths_stand_where_the_truth_says(sample: str) -> None:
    found = 0
    for value in planted(truth(sample)):
        assert value["text"] in words(sample, value["entry"])
        found += 1
    assert found >= 10


def planted(value: Any) -> list[dict[str, Any]]:
    """Every `{text, entry}` in a truth, also the ones inside others."""
    if isinstance(value, list):
        return [inner for item in value for inner in planted(item)]
    if not isinstance(value, dict):
        return []
    own = [value] if {"text", "entry"} <= value.keys() else []
    return own + [inner for item in value.values() for inner in planted(item)]


def test_the_english_story_has_all_that_it_should_show() -> None:
    told = truth(ENGLISH)
    assert told["turns"] >= 40
    assert [constraint["text"] for constraint in told["constraints"]] == [
        "Do not change the public interface",
        "keep Python 3.9 compatibility",
        "do not push anything to the remote",
        "never edit the files under tests/golden",
    ]
    assert len(told["wrong_guesses"]) == 3
    assert all("disproved" in guess for guess in told["wrong_guesses"])
    assert told["wrong_guesses"][0]["text"] == "This is probably the cache not being flushed"
    assert told["plan"]["done"] and told["plan"]["doing"] and told["plan"]["open"]
    assert all(attempt["reason"] in attempt["text"] for attempt in told["failed_attempts"])
    for kind in ("decisions", "verified_findings", "hedged_guesses", "failed_attempts", "courtesies"):
        assert told[kind], kind
    reads = {file["path"]: len(file["entries"]) for file in told["read_files"]}
    assert reads["ledger/postings.py"] >= 5, "the same file is read again and again"


def test_the_chinese_story_has_all_that_it_should_show() -> None:
    told = truth(CHINESE)
    assert 8 <= told["turns"] <= 12
    assert told["constraints"][0]["text"] == "不要修改对外暴露的公共接口"
    assert told["hedged_guesses"][0]["text"] == "可能是缓存没刷新导致的"
    assert told["plan"]["done"] and told["plan"]["open"]
    assert told["failed_attempts"] and told["decisions"] and told["verified_findings"]


def test_the_lines_that_matter_stand_in_a_log_of_thousands() -> None:
    place = truth(ENGLISH)["lines_that_matter"]
    lines = words(ENGLISH, place["entry"]).split("\n")
    assert len(lines) >= 2_000
    assert "\n".join(lines[place["first_line"] - 1 : place["last_line"]]) == place["text"]
    assert 10 <= place["last_line"] - place["first_line"] + 1 <= 20


@pytest.mark.parametrize("sample", SAMPLES)
def test_the_last_failure_is_the_last_one(sample: str) -> None:
    failure = truth(sample)["last_failure"]
    failed = [command for command in truth(sample)["commands"] if command["exit_code"]]
    assert failed[-1]["entry"] == failure["entry"]
    assert failure["command"] == failed[-1]["command"]
    assert f"{failure['file']}:{failure['line']}" in words(sample, failure["entry"])


@pytest.mark.parametrize("sample", SAMPLES)
def test_commands_stand_with_their_exit_codes(sample: str) -> None:
    for command in truth(sample)["commands"]:
        code, said = command["exit_code"], words(sample, command["entry"])
        assert (f"Command exited with code {code}" in said) == (code != 0)
    assert any(command["by"] == "user" for command in truth(ENGLISH)["commands"])


# How large they are, in the view and by the provider's figures


@pytest.mark.parametrize("sample", SAMPLES)
def test_sessions_are_whole(sample: str) -> None:
    session = opened(sample)
    assert not session.session.damage
    assert not session.view.warnings
    assert pair_up(session.view.items).whole
    assert all(item.origin == "stored" for item in session.view.items)
    assert {item.source[0].entry for item in session.view.items} <= entries(sample).keys()


@pytest.mark.parametrize(("sample", "least", "share"), [(ENGLISH, 112_000, 0.75), (CHINESE, 106_000, 0.9)])
def test_tool_results_fill_the_window(sample: str, least: int, share: float) -> None:
    session = opened(sample)
    pairs = zip(session.view.items, session.item_tokens, strict=True)
    results = sum(tokens for item, tokens in pairs if item.kind == "tool_result")
    assert least <= session.view_tokens <= 118_000
    assert results >= share * session.view_tokens


@pytest.mark.parametrize("sample", SAMPLES)
def test_the_provider_reports_what_fits_the_view(sample: str) -> None:
    session = opened(sample)
    reported = session.usage.current
    assert reported is not None and reported <= 127_000
    counted = session.view_tokens + session.system_tokens
    assert 0.97 * counted <= reported <= 1.06 * counted
    contexts = [point.context for point in session.usage.points]
    assert contexts == sorted(contexts), "the context grows from reply to reply"


@pytest.mark.parametrize("sample", SAMPLES)
def test_the_policy_acts(sample: str) -> None:
    session = opened(sample)
    assert session.resume.window is not None
    assert session.resume.window.value == truth(sample)["window"]
    for used in (used_figure(session.usage, session.view_tokens), Figure(session.view_tokens, "counted", "view")):
        assert handoff_budget(session.resume.window, used, next_reply=8_192).acts


def test_pruning_alone_is_not_enough_for_the_english_sample() -> None:
    session = opened(ENGLISH)
    enough, aim = aims(session, Settings(), policy_named("handoff").figures)
    assert enough == 64_000 and aim == 51_200
    assert pruned_tokens(session) >= 1.05 * enough
    proposal = propose(session, Settings())
    assert proposal.cut is not None
    kept = [unit.id for unit in session.units].index(proposal.cut.first_kept)
    assert sum(session.unit_tokens(unit) for unit in session.units[kept:]) <= aim - 12_000, "no room for a summary"


def test_pruning_alone_is_enough_for_the_chinese_sample() -> None:
    session = opened(CHINESE)
    enough, _ = aims(session, Settings(), policy_named("handoff").figures)
    assert enough is not None and pruned_tokens(session) <= enough
    assert propose(session, Settings()).cut is None


def test_the_side_branch_with_the_picture_is_not_in_the_view() -> None:
    stored = [entry for entry in entries(ENGLISH).values() if '"image"' in json.dumps(entry)]
    assert len(stored) == 1
    assert not any(item.kind == "image" for item in opened(ENGLISH).view.items)


# Generated sessions


@cache
def made(name: str) -> bytes:
    """The session of one variant."""
    return next(variant for variant in VARIANTS if variant.name == name).data()


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.name)
def test_generated_sessions_are_whole_and_large(variant: Variant, tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    path.write_bytes(made(variant.name))
    session = open_session(path, Overrides(window=variant.window, client_version="0.73.1" if variant.old else "1.6.0"))
    assert not session.session.damage
    assert session.view_tokens >= 100_000
    assert session.usage.current is not None and session.usage.current <= variant.window
    pairing = pair_up(session.view.items)
    assert not pairing.orphans


def test_generated_sessions_are_always_the_same() -> None:
    assert VARIANTS[-1].data() == made(VARIANTS[-1].name)


def kinds_of(variant: Variant) -> set[str]:
    """The record types, roles, parts and stop reasons that a generated session holds."""
    found: set[str] = set()
    for entry in map(json.loads, filter(None, made(variant.name).decode("utf-8").split("\n"))):
        message = entry.get("message", {})
        found |= {entry["type"], message.get("role", ""), message.get("stopReason", "")}
        if isinstance(message.get("content"), list):
            found |= {part["type"] for part in message["content"]}
    return found


def test_generated_sessions_hold_what_they_are_for() -> None:
    wanted = {"branch_summary", "compaction", "context_edit", "custom_message", "model_change", "label"}
    wanted |= {"image", "thinking", "bashExecution", "system"}
    for variant in VARIANTS:
        held = kinds_of(variant)
        if variant.name.startswith("everything"):
            assert wanted <= held and held & {"aborted", "error"}, variant.name
        if variant.old:
            assert not held & {"context_edit", "system"}, variant.name
