"""Random dsh logs for property tests: turns with calls, late results, steering, pictures and silent replies."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from core.agents.protocol import Stamp
from core.files import Disk, Files, Overlay
from core.opening import Opened, open_session
from core.patch import Create, Patch
from core.resume import Overrides
from tests.core.dsh_sessions import MODEL, Build, frames, text

PATH = Path("/nowhere/sessions/--home-dev-shop--/session-made/session.jsonl.zstd")
PLAIN = PATH.with_name("session.jsonl")
NOW = 1_796_000_000.25
TEXTS = st.sampled_from(["look", "fix it", "你好 🎉", "a\u2028b", "half \ud83d of", "line 1\nline 2\n", "x" * 300])


def stamp(seed: int = 0) -> Stamp:
    """The same ids for the same seed."""
    number = seed << 64

    def new_id() -> str:
        nonlocal number
        number += 1
        return f"{number:032x}"

    return Stamp(NOW, new_id)


def opened(source: bytes | Files, path: Path = PATH, leaf: str | None = None) -> Opened:
    """A session that is nowhere on the disk."""
    if isinstance(source, bytes):
        source = Overlay(Disk(), Patch((Create(path, source),), path, "fork"))
    return open_session(path, Overrides(), source, leaf)


def picture(number: int) -> dict[str, Any]:
    attachment = {
        "attachmentId": f"sha256:{number:064x}",
        "mediaType": "image/png",
        "bytes": 9,
        "width": 1,
        "height": 1,
    }
    return {"type": "image", "attachment": attachment}


def log_of(made: Build) -> bytes:
    """Frames as dsh writes them: the header, then batches of some lines."""
    rows = made.lines()
    return frames([rows[0], *(b"".join(rows[at : at + 5]) for at in range(1, len(rows), 5))])


@st.composite
def builds(draw: DrawFn) -> Build:
    """One session whose last turn has ended."""
    made = Build()
    made.event("request/header", {"header": {"config": MODEL}, "reason": "initial"})
    for turn in range(1, draw(st.integers(1, 4)) + 1):
        made.event("turn/start", {"turn": turn})
        for _ in range(draw(st.integers(0, 2))):
            made.user(draw(TEXTS), source=draw(st.sampled_from([{"kind": "user"}, {"kind": "plugin", "plugin": "p"}])))
        for step in range(1, draw(st.integers(1, 3)) + 1):
            _step(draw, made, turn, step)
        made.event("turn/end", {"turn": turn, "reason": {"kind": "completed"}})
    return made


def _step(draw: DrawFn, made: Build, turn: int, step: int) -> None:
    made.event("step/start", {"turn": turn, "step": step})
    if draw(st.booleans()):
        made.chunks("a", "b", "c")
    calls = [f"c{made.seq}-{n}" for n in range(draw(st.integers(0, 2)))]
    blocks = [text(draw(TEXTS))] if draw(st.integers(0, 4)) else []
    arguments = json.dumps({"file_path": "a.py"})
    blocks += [{"type": "tool-call", "id": call, "name": "read", "arguments": arguments} for call in calls]
    made.reply(*blocks, step=step)
    made.rows[-1]["data"]["turn"] = turn
    for call in draw(st.permutations(calls)):
        if draw(st.integers(0, 6)) == 0:
            made.user("steer", source={"kind": "user"})
        made.result(call, draw(TEXTS))
        if draw(st.integers(0, 4)) == 0:
            content = made.rows[-1]["data"]["message"]["content"][0]["content"]
            content.insert(draw(st.integers(0, 1)), picture(made.seq))
            if draw(st.booleans()):
                content.append(text("more"))
    made.event("step/end", {"turn": turn, "step": step})
