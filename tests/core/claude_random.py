"""Draws random Claude Code sessions: parallel calls, context lines of both sides, compactions, branches, odd lines."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from pathlib import Path

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from core.agents.protocol import Stamp
from core.files import Disk, Files, Overlay
from core.opening import Opened, open_session
from core.patch import Create, Patch
from core.resume import Overrides
from tests.core.claude_sessions import SESSION, Build, call, own, thought

PATH = Path("/nowhere/.claude/projects/-srv-demo") / f"{SESSION}.jsonl"
NOW = 1_790_000_000.0
PICTURE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGVsbG8="}}
OLD_MODEL = "claude-opus-4-6"
"""One that gets context lines in the user's messages."""


def opened(source: bytes | Files, path: Path = PATH, leaf: str | None = None) -> Opened:
    """A session that is on no disk."""
    files = Overlay(Disk(), Patch((Create(path, source),), path, "fork")) if isinstance(source, bytes) else source
    return open_session(path, Overrides(client_version="2.1.332"), files, leaf)


def stamp(seed: int = 0) -> Stamp:
    """The same ids at every run."""
    numbers = iter(range(1 << 30))
    return Stamp(NOW, lambda: uuid.uuid5(uuid.NAMESPACE_OID, f"{seed} {next(numbers)}").hex)


class Story(Build):
    """A session in the making, with names that count up."""

    def __init__(self, model: str) -> None:
        super().__init__()
        self.model = model
        self.names = 0
        self.way: list[str] = []
        """Names of the messages that a kept list may hold, since the last compaction."""

    def name(self, kind: str) -> str:
        self.names += 1
        return f"{kind}{self.names}"

    def bytes(self) -> bytes:
        return b"".join(json.dumps(line, ensure_ascii=False).encode() + b"\n" for line in self.lines)


def _user(story: Story, draw: DrawFn) -> None:
    name = story.name("q")
    text = {"type": "text", "text": f"{name} ünïcode"}
    story.user(name, draw(st.sampled_from([None, [text], [text, PICTURE], "<command-name>/cost</command-name>", " "])))
    story.way.append(name)


def _harness(story: Story, draw: DrawFn) -> None:
    name = story.name("meta")
    story.user(name, f"<system-reminder>{name}</system-reminder>", isMeta=True)
    story.way.append(name)


def _context(story: Story, draw: DrawFn) -> None:
    name = story.name("note")
    story.context(name, draw(st.sampled_from(["user", "user", "system"])))
    if draw(st.integers(0, 5)) == 0:
        story.lines[-1].pop("rendered")
    elif draw(st.integers(0, 5)) == 0:
        story.lines[-1]["attachment"] = {"type": "file", "content": {}}


def _reply(story: Story, draw: DrawFn) -> None:
    name = story.name("a")
    blocks = [{"type": "text", "text": name}]
    if draw(st.booleans()):
        story.reply(
            f"{name}t", thought(f"thinking {name}"), message=name, model=draw(st.sampled_from([story.model, "other"]))
        )
    if draw(st.integers(0, 5)):
        story.reply(name, *blocks, message=name, model=story.model)
    story.way.append(story.last or name)


def _exchange(story: Story, draw: DrawFn) -> None:
    """A reply with calls, each in a line of its own; each result hangs on its call."""
    name = story.name("c")
    if draw(st.booleans()):
        story.reply(f"{name}t", thought(f"thinking {name}"), message=name, model=story.model)
    calls = [f"{name}_{number}" for number in range(draw(st.integers(1, 3)))]
    for one in calls:
        story.reply(one, call(one, draw(st.sampled_from(["Read", "Bash", "Edit"]))), message=name, model=story.model)
        if draw(st.integers(0, 9)) == 0:
            _context(story, draw)
    for one in draw(st.permutations(calls)):
        if draw(st.integers(0, 11)) == 0:
            continue
        parts = [{"type": "text", "text": f"result {one}"}, {"type": "text", "text": "more"}]
        content = draw(st.sampled_from([f"result {one}", parts, [*parts, PICTURE], ""]))
        story.result(f"r{one}", one, content, one)
        if draw(st.integers(0, 3)) == 0:
            _context(story, draw)
    story.way.append(story.last or name)


def _command(story: Story, draw: DrawFn) -> None:
    name = story.name("local")
    story.add(name, type="system", subtype="local_command", content=f"<local-command-stdout>{name}", level="info")


def _notice(story: Story, draw: DrawFn) -> None:
    story.add(story.name("info"), type="system", subtype="informational", content="x", level="info")


def _failure(story: Story, draw: DrawFn) -> None:
    story.reply(story.name("error"), model="<synthetic>", isApiErrorMessage=True)


def _branch(story: Story, draw: DrawFn) -> None:
    """A side branch that is left again."""
    back = story.last
    story.user(story.name("aside"))
    story.last = back


def _compaction(story: Story, draw: DrawFn) -> None:
    """As the client does it: the boundary, the summary behind it, perhaps the last message kept."""
    kept = story.way[-1:] if draw(st.booleans()) else None
    boundary, summary = story.name("boundary"), story.name("summary")
    story.boundary(boundary, kept, summary)
    story.summary(summary, boundary)
    story.way = [summary]


def _leaf(story: Story, draw: DrawFn) -> None:
    if story.last is not None:
        story.leaf(story.last)


STEPS: list[Callable[[Story, DrawFn], None]] = [
    _user, _user, _user, _exchange, _exchange, _exchange, _reply, _reply, _context, _context,
    _harness, _command, _notice, _failure, _branch, _compaction, _leaf,
]  # fmt: skip


@st.composite
def sessions(draw: DrawFn) -> bytes:
    """The bytes of a session that the client would resume."""
    story = Story(draw(st.sampled_from(["claude-opus-5-5", "claude-opus-5-5", OLD_MODEL])))
    if draw(st.booleans()):
        story.context("first", "system")
    story.user("start")
    story.way.append("start")
    for step in draw(st.lists(st.sampled_from(STEPS), min_size=1, max_size=12)):
        step(story, draw)
    if draw(st.booleans()):
        story.reply("the-last", model=story.model)
    data = story.bytes()
    return data if draw(st.integers(0, 5)) else data[:-1]


__all__ = ["PATH", "opened", "own", "sessions", "stamp"]
