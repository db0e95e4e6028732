"""Random pi sessions for property tests: built record by record, as pi (and people, and other programs) write them."""

from __future__ import annotations

import base64
import json
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from core.agents.protocol import Stamp
from core.files import Disk, Files, Overlay
from core.opening import Opened, open_session
from core.patch import Create, Patch
from core.resume import Overrides

PATH = Path("/nowhere/sessions/2026-05-28T20-26-40-000Z_5e551000.jsonl")
HEADER = {
    "type": "session",
    "version": 3,
    "id": "5e551000-0000-4000-8000-000000000001",
    "timestamp": "2026-05-28T20:26:40.000Z",
    "cwd": "/srv/demo",
}
START = 1_780_000_000_000
NOW = 1_780_500_000.25
MODELS = {
    "anthropic-messages": ("anthropic", "claude-demo-1"),
    "openai-completions": ("mock", "mock-1"),
    "openai-responses": ("openai", "gpt-demo-1"),
}
SIGNATURES = {
    "anthropic-messages": "c2ln",
    "openai-completions": "reasoning_content",
    "openai-responses": '{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"hm"}]}',
}
PICTURES = tuple(base64.b64encode(b"picture %d" % number).decode() for number in range(3))
TEXTS = st.sampled_from(
    ["look", "fix the test", "你好 🎉", "a\u2028b", "half \ud83d of", "line 1\nline 2\n", "x" * 300]
)
CUT_POINTS = ("user", "assistant", "bashExecution", "custom_message", "branch_summary")


def line(value: dict[str, Any]) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode() + b"\n"


class Build:
    """Writes one session, entry after entry."""

    def __init__(self, wire: str = "anthropic-messages") -> None:
        self.wire = wire
        self.records: list[dict[str, Any]] = []
        self.leaf: str | None = None
        self.calls = 0

    def add(self, kind: str, own: str | None = None, **fields: Any) -> str:
        own = own or f"e{len(self.records):07x}"
        time = START + 7000 * len(self.records)
        stamp = f"2026-05-29T{time // 3_600_000 % 24:02}:{time // 60_000 % 60:02}:{time // 1000 % 60:02}.000Z"
        self.records.append({"type": kind, "id": own, "parentId": self.leaf, "timestamp": stamp, **fields})
        self.leaf = own
        return own

    def message(self, role: str, content: Any, **fields: Any) -> str:
        time = START + 7000 * len(self.records)
        return self.add("message", message={"role": role, "content": content, **fields, "timestamp": time})

    def user(self, text: str) -> str:
        return self.message("user", [{"type": "text", "text": text}])

    def assistant(self, parts: list[dict[str, Any]], model: tuple[str, str] | None = None, **fields: Any) -> str:
        provider, name = model or MODELS[self.wire]
        usage = {"input": 40, "output": 9, "cacheRead": 5, "cacheWrite": 0, "totalTokens": 54}
        known = {"api": self.wire, "provider": provider, "model": name, "usage": usage, "stopReason": "stop"}
        return self.message("assistant", parts, **{**known, **fields})

    def reply(self, text: str) -> str:
        return self.assistant([{"type": "text", "text": text}])

    def call(self, name: str = "read", call_id: str | None = None, path: str = "src/a.py") -> dict[str, Any]:
        self.calls += 1
        own = call_id or f"call_{self.calls}"
        return {"type": "toolCall", "id": own, "name": name, "arguments": {"path": path}}

    def result(self, call_id: str, parts: list[dict[str, Any]] | str, failed: bool = False) -> str:
        content = [{"type": "text", "text": parts}] if isinstance(parts, str) else parts
        return self.message("toolResult", content, toolCallId=call_id, toolName="read", isError=failed)

    def path(self) -> list[dict[str, Any]]:
        by_id = {record["id"]: record for record in self.records}
        way: list[dict[str, Any]] = []
        at = self.leaf
        while at is not None:
            way.append(by_id[at])
            at = by_id[at]["parentId"]
        return way[::-1]

    def bytes(self) -> bytes:
        return line(HEADER) + b"".join(map(line, self.records))


def opened(data: bytes | Files, version: str = "1.6.0", path: Path = PATH) -> Opened:
    """A session that is on no disk."""
    files = Overlay(Disk(), Patch((Create(path, data),), path, "fork")) if isinstance(data, bytes) else data
    return open_session(path, Overrides(client_version=version), files)


def stamp(seed: int = 0) -> Stamp:
    """The same ids at every run."""
    numbers = iter(range(1 << 30))
    return Stamp(NOW, lambda: uuid.uuid5(uuid.NAMESPACE_OID, f"{seed} {next(numbers)}").hex)


def _result_parts(draw: DrawFn) -> list[dict[str, Any]]:
    text = st.builds(lambda text: {"type": "text", "text": text}, TEXTS)
    picture = st.sampled_from(PICTURES).map(lambda data: {"type": "image", "data": data, "mimeType": "image/png"})
    return draw(st.lists(st.one_of(text, text, picture), max_size=3))


def _exchange(build: Build, draw: DrawFn, late: list[str]) -> None:
    parts: list[dict[str, Any]] = []
    if draw(st.booleans()):
        parts.append({"type": "thinking", "thinking": draw(TEXTS), "thinkingSignature": SIGNATURES[build.wire]})
    if draw(st.booleans()):
        parts.append({"type": "text", "text": draw(TEXTS)})
    calls = [build.call(draw(st.sampled_from(["read", "edit", "bash"]))) for _ in range(draw(st.integers(1, 3)))]
    if draw(st.integers(0, 9)) == 0:
        calls.append({**calls[0]})
    foreign = ("mock", "other-model") if draw(st.integers(0, 9)) == 0 else None
    failed = draw(st.sampled_from(["toolUse", "toolUse", "toolUse", "toolUse", "aborted"]))
    build.assistant([*parts, *calls], foreign, stopReason=failed)
    for call_id in draw(st.permutations(sorted({call["id"] for call in calls}))):
        fate = draw(st.sampled_from(["late", "lost", "there", "there", "there", "there"]))
        if fate == "late":
            late.append(call_id)
        elif fate == "there":
            build.result(call_id, _result_parts(draw), draw(st.integers(0, 4)) == 0)


def _reply(build: Build, draw: DrawFn, late: list[str]) -> None:
    if late and draw(st.booleans()):
        build.result(late.pop(), _result_parts(draw))
    build.reply(draw(TEXTS))


def _user(build: Build, draw: DrawFn, late: list[str]) -> None:
    build.user(draw(TEXTS))
    if late and draw(st.booleans()):
        build.result(late.pop(), _result_parts(draw))


def _beside(build: Build, draw: DrawFn, late: list[str]) -> None:
    """Messages that are neither the user's own nor the agent's."""
    which = draw(st.integers(0, 3))
    if which == 0:
        hidden = draw(st.booleans())
        shell = {"command": "ls", "output": draw(TEXTS), "exitCode": 1, "excludeFromContext": hidden}
        build.message("bashExecution", None, **shell)
    elif which == 1:
        build.add("custom_message", customType="note", content=draw(TEXTS), display=True)
    elif which == 2 and build.leaf is not None:
        build.add("branch_summary", fromId=build.leaf, summary=draw(st.sampled_from(["went elsewhere", ""])))
    else:
        system = {"role": "system", "content": "", "sections": {draw(st.sampled_from("ab")): "rules"}}
        build.add("message", message={**system, "timestamp": START})


def _state(build: Build, draw: DrawFn, late: list[str]) -> None:
    """Records that the model is never sent."""
    which = draw(st.integers(0, 3))
    if which == 0:
        provider, model = draw(st.sampled_from([MODELS[build.wire], ("mock", "other-model")]))
        build.add("model_change", provider=provider, modelId=model)
    elif which == 1:
        build.add("thinking_level_change", thinkingLevel=draw(st.sampled_from(["off", "high"])))
    elif which == 2:
        build.add("custom", customType="x", data={"any": 1})
    elif build.leaf is not None:
        build.add("label", targetId=build.leaf, label="here")


def _branch(build: Build, draw: DrawFn, late: list[str]) -> None:
    """A side branch that is left again, or the main line left for an older place."""
    way = build.path()
    if not way:
        return
    back = build.leaf
    build.leaf = draw(st.sampled_from([record["id"] for record in way[-4:]]))
    build.user("on another branch")
    if draw(st.integers(0, 3)):
        build.leaf = back


def _compaction(build: Build, draw: DrawFn, late: list[str]) -> None:
    way = build.path()
    points = [r["id"] for r in way if r["type"] in CUT_POINTS or r.get("message", {}).get("role") in CUT_POINTS]
    own = f"c{len(build.records):07x}"
    first = draw(st.sampled_from([*points[-8:], own]))
    build.add("compaction", own, summary=f"SUMMARY {own}", firstKeptEntryId=first, tokensBefore=51_234)


def _edit(build: Build, draw: DrawFn, late: list[str]) -> None:
    """An edit as pi or its extensions make it; sometimes of an entry that comes only later."""
    way = [r for r in build.path() if r.get("message", {}).get("role") in ("user", "toolResult")]
    if not way:
        return
    replacement = draw(
        st.sampled_from([None, {"content": "edited"}, {"content": [{"type": "text", "text": "[short]"}]}])
    )
    ahead = f"e{len(build.records) + draw(st.integers(1, 3)):07x}"
    near = st.sampled_from([record["id"] for record in way[-6:]])
    target = draw(st.one_of(near, near, near, st.just(ahead)))
    build.add("context_edit", targetId=target, replacement=replacement)


STEPS: list[Callable[[Build, DrawFn, list[str]], None]] = [
    _user,
    _user,
    _exchange,
    _exchange,
    _exchange,
    _reply,
    _beside,
    _state,
    _branch,
    _edit,
    _compaction,
]


@st.composite
def sessions(draw: DrawFn, edits: bool = True) -> bytes:
    """The bytes of a session that pi can load and send."""
    build = Build(draw(st.sampled_from(sorted(MODELS))))
    late: list[str] = []
    if draw(st.booleans()):
        build.user("first")
    for step in draw(st.lists(st.sampled_from(STEPS), min_size=1, max_size=14)):
        if edits or step is not _edit:
            step(build, draw, late)
    build.reply("the last reply")
    return build.bytes()
