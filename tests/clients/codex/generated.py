"""Large rollouts of kinds that the samples have not: thinking that nobody can read, older files, packed ones."""

from __future__ import annotations

import base64
import json
from typing import Any

import zstandard

from core.agents.codex.records import SUMMARY_PREFIX
from scripts.samples.picture import png
from tests.clients.subjects import Subject
from tests.core.codex_sessions import Rollout, call, output, words

TURNS = 24
LINES = 90
"""Of each result: about 1,500 tokens."""

PERMISSIONS = words("<permissions instructions>\nEverything is allowed.\n</permissions instructions>", "developer")
ENVIRONMENT = words("<environment_context>\n  <cwd>/srv/demo</cwd>\n</environment_context>")
STATE = {"full": True, "state": {"agents_md": {}, "environments": {"environments": {"local": {"cwd": "/srv/demo"}}}}}


def _result(turn: int, name: str) -> str:
    return "\n".join(f"{name} {turn}.{line}: balance {turn * line * 7919 % 100_003}" for line in range(LINES))


def _hidden(turn: int) -> dict[str, Any]:
    blob = base64.b64encode(json.dumps({"turn": turn, "thought": "x" * 900}).encode()).decode()
    return {"type": "reasoning", "id": f"rs_{turn}", "summary": [], "content": None, "encrypted_content": blob}


def _picture(turn: int) -> list[dict[str, Any]]:
    url = "data:image/png;base64," + base64.b64encode(png([bytes([turn]) * 24] * 24)).decode()
    return [{"type": "input_text", "text": _result(turn, "shot")}, {"type": "input_image", "image_url": url}]


def _turn(build: Rollout, turn: int) -> None:
    """A user's message, thinking, two calls in one go, a third one, and an answer."""
    one, two, three = (f"call_{turn}_{number}" for number in range(3))
    build.turn(
        f"Step {turn}: reconcile account {turn} and never touch account {turn + 100}, whose owner objects.",
        _hidden(turn),
        call(one, arguments=json.dumps({"cmd": f"cat accounts/{turn}.txt"})),
        call(two, arguments=json.dumps({"cmd": f"./reconcile {turn}"})),
        output(one, _result(turn, "row")),
        output(two, _picture(turn) if turn % 6 == 5 else _result(turn, "entry")),
        {"type": "custom_tool_call", "call_id": three, "name": "apply_patch", "input": f"*** Begin Patch\n+{turn}\n"},
        {"type": "custom_tool_call_output", "call_id": three, "output": "Done!"},
        words(f"Account {turn} balances after {turn * 3} entries.", "assistant"),
    )
    build.count(4_000 * (turn + 1), 200)


def _rollout(paginated: bool = True, compacted: bool = False, rolled_back: bool = False) -> bytes:
    build = Rollout(paginated=paginated, model_provider="mock", session_id="01a22e38-86c0-7532-a7b6-30d07a50dd01")
    build.item(PERMISSIONS).item(ENVIRONMENT).add("world_state", STATE)
    for turn in range(TURNS):
        _turn(build, turn)
        if compacted and turn == 4:
            kept = [
                words("Step 4 must be kept."),
                PERMISSIONS,
                ENVIRONMENT,
                words(f"{SUMMARY_PREFIX}\nSteps 0 to 4 are done."),
            ]
            build.compact(
                kept, f"{SUMMARY_PREFIX}\nSteps 0 to 4 are done.", **({"window_number": 1} if paginated else {})
            )
            build.add("world_state", STATE)
        if rolled_back and turn == 9:
            build.event("thread_rolled_back", num_turns=2)
    return build.bytes()


def _packed() -> bytes:
    return zstandard.ZstdCompressor().compress(_rollout(compacted=True))


SUBJECTS = (
    Subject("hidden-thinking", data=_rollout),
    Subject("older-kind", data=lambda: _rollout(paginated=False, compacted=True, rolled_back=True)),
    Subject("packed", data=_packed, ending=".jsonl.zst"),
)
