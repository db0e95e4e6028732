"""A usual line of a rollout, decoded in one step, tells the same as when it is read the long way."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.agents.codex import AGENT, common
from core.agents.codex.records import detail
from core.agents.codex.usage import usage
from core.files import Disk
from core.session import Session
from tests.core.codex_sessions import Rollout, call, output, words

FIGURES = {"input_tokens": 900, "cached_input_tokens": 800, "output_tokens": 50, "total_tokens": 950}
METADATA = {"delivered_assistant_message": "codex:code-mode-delivery:v1:complete", "user_input_order": 1}


class LongWay:
    """Takes no line for a usual one."""

    def decode(self, _: bytes) -> Any:
        raise ValueError


def rollout(paginated: bool) -> Rollout:
    """Each kind of record that is usual, and some that only look so."""
    made = Rollout(paginated=paginated).begin("find the leak").event("user_message", message="find the leak")
    count = {"last_token_usage": FIGURES, "total_token_usage": FIGURES, "model_context_window": 258400}
    made.item(words("<environment_context>x</environment_context>"))
    made.item({"type": "reasoning", "summary": [{"type": "summary_text", "text": "größe ✓"}], "encrypted_content": "g"})
    made.item(call("c1")).item(output("c1", "done\u001b[0m")).event("token_count", info=count, rate_limits=None)
    made.event("token_count", info=count, rate_limits={"primary": {"used_percent": 1.5}}).event(
        "token_count", info=None
    )
    made.event("token_count", info=count | {"last_token_usage": FIGURES | {"output_tokens": 50.0}})
    made.item({"type": "custom_tool_call", "name": "patch", "input": "*** Begin", "call_id": "c2"})
    made.item({"type": "custom_tool_call_output", "output": "ok", "call_id": "c2"})
    delivered = words("told", "assistant") | {"internal_chat_message_metadata_passthrough": {"turn_id": "t1"}}
    made.add("response_item", delivered, metadata=METADATA).event("agent_message", message="told")
    made.item(output("c3", [{"type": "input_text", "text": "parts"}])).item(words("odd", "user") | {"unknown": [[1]]})
    made.add("event_msg", {"type": "agent_reasoning", "text": "so"}, time="2026-11-30T21:30:00+01:00")
    return made.add("event_msg", {"type": "agent_message", "message": "later"}, time="2026-11-30T21:30:00.1")


def told(folder: Path, data: bytes) -> tuple[Any, ...]:
    path = folder / "rollout-2026-11-30T20-49-46-01a22e38-86c0-7532-a7b6-30d07a50dd01.jsonl"
    path.write_bytes(data)
    session: Session = AGENT.open(Disk(), path)
    return (
        session.entries,
        session.damage,
        session.leaf,
        session.title,
        replace(detail(session), counts={}),
        usage(session),
    )


def both_ways(data: bytes) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    with tempfile.TemporaryDirectory() as folder:
        usual = told(Path(folder), data)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(common, "RECORDS", LongWay())
            return usual, told(Path(folder), data)


@pytest.mark.parametrize("paginated", [True, False])
def test_both_ways_tell_the_same(paginated: bool) -> None:
    data = b"".join(line + b"\n" for line in rollout(paginated).lines)
    usual, long_way = both_ways(data)
    assert usual == long_way
    assert usual[-1].points


def test_most_lines_are_usual() -> None:
    lines = rollout(True).lines
    usual = [line for line in lines if _is_usual(line)]
    assert len(usual) == len(lines) - 6  # the start, the turn's two records, a figure with a point, parts, unknown


def _is_usual(line: bytes) -> bool:
    try:
        common.RECORDS.decode(line)
    except Exception:
        return False
    return True


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_broken_lines_tell_the_same_both_ways(data: st.DataObject) -> None:
    made = bytearray(b"".join(line + b"\n" for line in rollout(data.draw(st.booleans())).lines))
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(made) - 1))
        kind = data.draw(st.sampled_from(["flip", "insert", "delete"]))
        if kind == "flip":
            made[place] ^= 1 << data.draw(st.integers(0, 7))
        elif kind == "insert":
            odd = [
                b"\\ud800",
                b"\xff",
                b'"type":"message",',
                b"\n",
                b"null",
                b"[" * 130 + b"]" * 130,
                b" ",
                b"\\",
                b"-1",
            ]
            made[place:place] = data.draw(st.sampled_from(odd))
        else:
            del made[place : place + data.draw(st.integers(1, 40))]
    usual, long_way = both_ways(bytes(made))
    assert usual == long_way
