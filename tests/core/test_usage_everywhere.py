"""What the provider reported, in every format: each reply once, cached tokens by its rule, children apart."""

from __future__ import annotations

import base64
import json
import shutil
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.kin import children_of
from core.opening import open_session
from core.planning import budget_of
from core.policies.settings import Settings
from core.stats import Stats, stats
from tests.core import claude_sessions, codex_sessions, dsh_sessions, message_files, pi_sessions
from tests.core.every_format import CAPTURED, STORIES, Story

EVERY = sorted(STORIES)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return len(data).to_bytes(4) + kind + data + zlib.crc32(kind + data).to_bytes(4)


def picture(width: int = 1000, height: int = 800) -> bytes:
    """A PNG of 2.4 MB: black, and not compressed."""
    head = width.to_bytes(4) + height.to_bytes(4) + b"\x08\x02\0\0\0"
    rows = zlib.compress(bytes((width * 3 + 1) * height), 0)
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", head) + _chunk(b"IDAT", rows) + _chunk(b"IEND", b"")


def measured(path: Path) -> Stats:
    opened = open_session(path)
    return stats(opened, budget_of(opened, Settings()), children_of(opened))


def told(path: Path) -> dict[str, Any]:
    return measured(path).to_json()


def claude_figures(fresh: int, written: int, cached: int, output: int) -> dict[str, int]:
    names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")
    return dict(zip(names, (fresh, written, cached, output), strict=True))


# One reply with the figures of the table in the README: 30 tokens of fresh input, 60 from the cache, 10 of output.


def pi_reply(folder: Path) -> Path:
    made = pi_sessions.Build()
    made.user("q")
    figures = {"input": 30, "output": 10, "cacheRead": 60, "cacheWrite": 0, "totalTokens": 100}
    made.assistant([{"type": "text", "text": "a"}], usage=figures)
    return _written(folder / "session.jsonl", [pi_sessions.HEADER, *made.records])


def codex_reply(folder: Path) -> Path:
    return codex_sessions.Rollout().turn("q").count(90, 10, 60).write(folder)


def claude_reply(folder: Path) -> Path:
    made = claude_sessions.Build()
    made.user("q")
    made.reply("a", usage=claude_figures(30, 0, 60, 10))
    return made.write(folder / f"{claude_sessions.SESSION}.jsonl")


def dsh_reply(folder: Path) -> Path:
    made = dsh_sessions.Build()
    made.event("turn/start", {"turn": 1})
    made.user("q")
    made.reply(dsh_sessions.text("a"), usage={"inputTokens": 30, "cacheReadTokens": 60, "outputTokens": 10})
    made.event("turn/end", {"turn": 1, "reason": {"kind": "completed"}})
    return made.write(folder)


def grok_reply(folder: Path) -> Path:
    figures = {"totalTokens": 100, "inputTokens": 90, "cachedReadTokens": 60, "outputTokens": 10, "modelCalls": 1}
    return _grok(folder, [figures])


def chat_reply(folder: Path) -> Path:
    figures = {"prompt_tokens": 90, "completion_tokens": 10, "prompt_tokens_details": {"cached_tokens": 60}}
    answer = message_files.reply("a", usage=figures)
    return message_files.write(folder / "chat.jsonl", [message_files.user("q"), answer])


def anthropic_reply(folder: Path) -> Path:
    block = [{"type": "text", "text": "a"}]
    figures = {"input_tokens": 30, "cache_read_input_tokens": 60, "output_tokens": 10}
    return message_files.write(
        folder / "anthropic.jsonl",
        [message_files.user(block), {"role": "assistant", "content": block, "usage": figures}],
    )


def _written(path: Path, records: list[Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(json.dumps(record).encode() + b"\n" for record in records))
    return path


def _grok(folder: Path, turns: list[dict[str, Any]]) -> Path:
    """A session of grok with one prompt and one answer for each of these reports."""
    lines: list[Any] = [{"type": "system", "content": "s"}]
    updates: list[Any] = []
    for number, figures in enumerate(turns):
        text = {"type": "text", "text": f"q{number}"}
        lines.append({"type": "user", "content": [text], "prompt_index": number})
        lines.append({"type": "assistant", "content": f"a{number}"})
        asked = {"sessionUpdate": "user_message_chunk", "content": text, "_meta": {"promptIndex": number}}
        updates.append({"timestamp": 1, "method": "session/update", "params": {"sessionId": "s", "update": asked}})
        ended = {"sessionUpdate": "turn_completed", "prompt_id": f"p{number}", "usage": figures}
        updates.append(
            {"timestamp": 2, "method": "_x.ai/session/update", "params": {"sessionId": "s", "update": ended}}
        )
    shutil.copytree(CAPTURED / "grok-build" / "plain_turns" / "session", folder, dirs_exist_ok=True)
    _written(folder / "updates.jsonl", updates)
    return _written(folder / "chat_history.jsonl", lines)


REPLIES: dict[str, Callable[[Path], Path]] = {
    "pi": pi_reply, "codex": codex_reply, "claude-code": claude_reply, "dsh": dsh_reply, "grok-build": grok_reply,
    "chat-completions": chat_reply, "anthropic-messages": anthropic_reply,
}  # fmt: skip


@pytest.mark.parametrize("name", REPLIES)
def test_cached_tokens_are_part_of_the_context_once_by_the_providers_rule(name: str, tmp_path: Path) -> None:
    out = told(REPLIES[name](tmp_path / "s" if name == "grok-build" else tmp_path))
    assert out["tokens"]["reported"] == 100 and out["stale"] == ""
    assert out["replies"]["own"] == {"replies": 1, "tokens": 100, "cached": 60, "output": 10}
    assert out["replies"]["inherited"]["replies"] == 0


def test_the_figures_that_are_known_to_be_added_up_wrongly(tmp_path: Path) -> None:
    codex = codex_sessions.Rollout().turn("q").count(226_616, 0, 176_640).write(tmp_path)
    assert told(codex)["tokens"]["reported"] == 226_616
    claude = claude_sessions.Build()
    claude.user("q")
    claude.reply("a", usage=claude_figures(10, 2_241, 113_676, 0))
    assert told(claude.write(tmp_path / "claude.jsonl"))["tokens"]["reported"] == 115_927


@pytest.mark.parametrize("outputs", [(9, 9, 159), (159, 159, 159)])
def test_lines_of_one_reply_count_once_with_its_last_figures(outputs: tuple[int, ...], tmp_path: Path) -> None:
    made = claude_sessions.Build()
    made.user("q")
    for number, output in enumerate(outputs):
        made.reply(f"l{number}", message="m", usage=claude_figures(100, 0, 0, output))
    out = told(made.write(tmp_path / "a.jsonl"))
    assert out["replies"]["own"] == {"replies": 1, "tokens": 259, "cached": 0, "output": 159}
    assert out["tokens"]["reported"] == 259


def test_the_sum_over_a_run_is_no_context(tmp_path: Path) -> None:
    made = claude_sessions.Build().turns(1)
    made.side(type="result", subtype="success", usage=claude_figures(5_000_000, 0, 0, 9_000), num_turns=90)
    out = told(made.write(tmp_path / "a.jsonl"))
    assert out["tokens"]["reported"] == 2_149 and out["replies"]["combined"]["tokens"] == 2_149


def codex_fork(folder: Path) -> Path:
    last = {"input_tokens": 90, "output_tokens": 10, "total_tokens": 100}
    own = {"input_tokens": 45, "output_tokens": 5, "total_tokens": 50}
    parent = codex_sessions.Rollout().turn("one")
    parent.event("token_count", info={"last_token_usage": last, "total_token_usage": last})
    fork = parent.fork().turn("two")
    fork.event("token_count", info={"last_token_usage": own, "total_token_usage": {"total_tokens": 150}})
    fork.write(folder)
    return parent.write(folder)


def pi_fork(folder: Path) -> Path:
    made = pi_sessions.Build()
    made.user("one")
    made.assistant([{"type": "text", "text": "a"}], usage={"input": 90, "output": 10, "totalTokens": 100})
    parent = _written(folder / "a.jsonl", [pi_sessions.HEADER, *made.records])
    header = {**pi_sessions.HEADER, "id": "0f", "timestamp": "2026-05-29T21:26:40.000Z", "parentSession": str(parent)}
    made.user("two")
    made.assistant([{"type": "text", "text": "b"}], usage={"input": 45, "output": 5, "totalTokens": 50})
    for record in made.records[-2:]:
        record["timestamp"] = "2026-05-30T00:00:00.000Z"
    _written(folder / "b.jsonl", [header, *made.records])
    return parent


@pytest.mark.parametrize("make", [codex_fork, pi_fork])
def test_what_a_fork_copied_is_labelled_and_counts_once(make: Callable[[Path], Path], tmp_path: Path) -> None:
    out = told(make(tmp_path))
    (child,) = out["children"]
    assert (child["relation"], child["own"]["tokens"], child["context"]) == ("fork", 50, 50)
    assert out["replies"]["combined"]["tokens"] == 150
    assert out["tokens"]["reported"] == 100
    copied = told(Path(child["path"]))["replies"]
    assert (copied["own"]["tokens"], copied["inherited"]["tokens"]) == (50, 100)


def test_what_a_fork_of_claude_code_copied_is_labelled() -> None:
    out = told(CAPTURED / "claude-code" / "native_fork" / "session.jsonl")
    assert (out["replies"]["own"]["replies"], out["replies"]["inherited"]["replies"]) == (1, 2)


def test_sub_agents_are_listed_and_no_part_of_the_context(tmp_path: Path) -> None:
    (folder,) = (CAPTURED / "claude-code" / "native_subagents").glob("session")
    (path,) = folder.glob("*.jsonl")
    beside = measured(path)
    assert [child.found.relation for child in beside.children] == ["sub-agent"] * 3
    assert beside.combined.tokens == beside.own.tokens + sum(child.own.tokens for child in beside.children)
    alone = measured(Path(shutil.copy(path, tmp_path)))
    assert (alone.counted, alone.reported, alone.own) == (beside.counted, beside.reported, beside.own)


@pytest.fixture(params=EVERY)
def story(request: pytest.FixtureRequest) -> Story:
    return STORIES[request.param]()


def test_a_picture_in_a_text_is_charged_as_a_picture(story: Story, tmp_path: Path) -> None:
    url = "data:image/png;base64," + base64.b64encode(picture()).decode()
    answers: dict[str, tuple[bytes, Any]] = {
        "pi": (b'[{"type":"text","text":"found"}]', [_block(url)]),
        "claude-code": (b'"found"', [{"type": "image", "source": _block(url, "media_type", type="base64")}]),
        "codex": (b'"found"', [{"type": "input_image", "image_url": url}]),
        "openai-messages": (b'"found"', [{"type": "image_url", "image_url": {"url": url}}]),
    }
    if story.agent not in answers:
        pytest.skip("keeps its pictures in files of their own, or in a form that has its own tests")
    old, new = answers[story.agent]
    lines = list(story.lines)
    assert old in lines[story.result]
    lines[story.result] = lines[story.result].replace(old, json.dumps(new).encode())
    out = told(story.write(tmp_path, lines))
    assert out["by_kind"]["image"] <= 5_000 and out["tokens"]["counted"] < 6_000
    assert out["tokens"]["estimated"] < 10_000
    assert out["biggest"][0]["kind"] == "image"


def _block(url: str, name: str = "mimeType", **more: str) -> dict[str, str]:
    return {"type": "image", name: "image/png", "data": url.partition(",")[2], **more}


ZERO: dict[str, Callable[[Path], Path]] = {}


def _zero(name: str) -> Callable[[Callable[[Path], Path]], Callable[[Path], Path]]:
    def register(make: Callable[[Path], Path]) -> Callable[[Path], Path]:
        ZERO[name] = make
        return make

    return register


@_zero("pi")
def pi_zero(folder: Path) -> Path:
    made = pi_sessions.Build()
    made.user("q")
    made.assistant([{"type": "text", "text": "a"}], usage={"input": 90, "output": 10, "totalTokens": 100})
    for number in range(5):
        made.user(f"q{number}")
        zeros = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 0}
        made.assistant([{"type": "text", "text": "a"}], usage=zeros)
    return _written(folder / "a.jsonl", [pi_sessions.HEADER, *made.records])


@_zero("codex")
def codex_zero(folder: Path) -> Path:
    made = codex_sessions.Rollout().turn("q").count(90, 10)
    for number in range(5):
        made.turn(f"q{number}").count(0, 0)
    return made.event("token_count", info=None).write(folder)


@_zero("claude-code")
def claude_zero(folder: Path) -> Path:
    made = claude_sessions.Build()
    made.user("q")
    made.reply("a", usage=claude_figures(90, 0, 0, 10))
    for number in range(5):
        made.user(f"u{number}")
        made.reply(f"z{number}", usage=claude_figures(0, 0, 0, 0) if number % 2 else None)
    made.reply("made up", model="<synthetic>", usage=claude_figures(3, 0, 0, 0))
    return made.write(folder / f"{claude_sessions.SESSION}.jsonl")


@_zero("dsh")
def dsh_zero(folder: Path) -> Path:
    made = dsh_sessions.Build()
    for turn in range(1, 5):
        made.event("turn/start", {"turn": turn})
        made.user("q")
        figures = {"inputTokens": 90, "outputTokens": 10} if turn == 1 else {"inputTokens": 0, "outputTokens": 0}
        made.reply(dsh_sessions.text("a"), step=turn, usage=figures)
        made.event("turn/end", {"turn": turn, "reason": {"kind": "completed"}})
    return made.write(folder)


@_zero("grok-build")
def grok_zero(folder: Path) -> Path:
    report = {"totalTokens": 100, "inputTokens": 90, "outputTokens": 10, "modelCalls": 1}
    return _grok(folder, [report, {"totalTokens": 0, "modelCalls": 1}, {"totalTokens": None}])


@_zero("openai-messages")
def chat_zero(folder: Path) -> Path:
    figures = {"prompt_tokens": 90, "completion_tokens": 10}
    nothing = {"prompt_tokens": 0, "completion_tokens": 0}
    first = [message_files.user("q"), message_files.reply("a", usage=figures)]
    return message_files.write(
        folder / "a.jsonl", [*first, message_files.user("r"), message_files.reply("b", usage=nothing)]
    )


@pytest.mark.parametrize("name", ZERO)
def test_a_reply_of_zero_tokens_never_resets_the_meter(name: str, tmp_path: Path) -> None:
    out = told(ZERO[name](tmp_path / "s" if name == "grok-build" else tmp_path))
    assert out["tokens"]["reported"] == 100
    assert out["replies"]["own"]["replies"] == 1
    used = out["budget"]["used"]
    assert used["kind"] == "reported + counted" and used["parts"][0]["value"] == 100
    assert used["value"] == sum(part["value"] for part in used["parts"])
    assert out["tokens"]["estimated"] > 100


def test_without_any_report_the_size_is_counted_and_says_so(story: Story, tmp_path: Path) -> None:
    lines = [_without_usage(line) for line in story.lines]
    out = told(story.write(tmp_path, lines))
    assert out["tokens"]["reported"] is None and out["stale"]
    assert out["budget"]["used"]["kind"] == "counted"
    assert out["tokens"]["estimated"] > 0


def _without_usage(line: bytes) -> bytes:
    value = json.loads(line)
    if isinstance(value.get("message"), dict) and "usage" in value["message"]:
        value["message"]["usage"] = dict.fromkeys(value["message"]["usage"], 0)
    return json.dumps(value).encode()


def test_bytes_by_record_type_cover_the_file(story: Story, tmp_path: Path) -> None:
    by_type = told(story.write(tmp_path))["by_record_type"]
    assert sum(by_type.values()) == sum(map(len, story.lines))
