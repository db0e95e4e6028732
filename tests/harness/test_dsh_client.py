"""The parts of dsh's client harness that need no client."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import zstandard

from core.opening import open_session
from core.view import pair_up
from tests.clients.dsh.converted import log_of
from tests.clients.dsh.home import encoded, identity_of, placed
from tests.clients.dsh.requests import CAPTION, COMPACTING, items_of
from tests.core.dsh_sessions import usual
from tests.generated import VARIANTS

PROMPT = "say ok"


def message(role: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"role": role, "content": content, **more}


def test_a_request_is_read_up_to_our_prompt_and_what_dsh_added_is_left_out() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "bash", "arguments": '{"command": "ls"}'}}
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}}
    body = {
        "messages": [
            message("system", "you are dsh"),
            message("user", "look"),
            message("assistant", "", reasoning_content="hm", tool_calls=[call]),
            message("tool", "(see attached image)", tool_call_id="c"),
            message("user", [{"type": "text", "text": CAPTION}, picture]),
            message("user", "added by dsh"),
            message("user", PROMPT),
            message("user", "a snapshot"),
        ]
    }
    items = items_of(body, PROMPT, ["added by dsh"])
    assert items is not None
    assert [(item["role"], item["type"]) for item in items] == [
        ("user", "text"), ("assistant", "thinking"), ("assistant", "tool_call"), ("tool", "tool_result"),
        ("tool", "image"),
    ]  # fmt: skip
    assert items[2]["arguments"] == {"command": "ls"}
    waiting = items_of({"messages": [message("user", "waited"), message("user", "a snapshot")]}, PROMPT, ["a snapshot"])
    assert waiting == ({"role": "user", "type": "text", "text": "waited"},)
    assert items_of({"messages": [message("user", f"{COMPACTING} …")]}, PROMPT, ()) is None


def test_a_session_is_placed_where_dsh_looks_for_it_and_keeps_its_events(tmp_path: Path) -> None:
    source = usual().write(tmp_path)
    path = placed(source, tmp_path / "a b")
    project = str(tmp_path / "a b" / "project").strip("/").replace("/", "-").replace(" ", "~0020")
    assert path.parts[-3:] == (f"--{project}--", "session-made", "session.jsonl.zstd")
    assert path.stat().st_mode & 0o777 == 0o600
    old, new = (open_session(one) for one in (source, path))
    assert new.view.items == old.view.items and new.session.cwd == str(tmp_path / "a b" / "project")
    again = placed(path, tmp_path / "other")
    assert identity_of(again) == "session-made"


@pytest.mark.parametrize(("text", "name"), [("..", "~002E~002E"), ("a/ä", "a~002F~00E4"), ("😀", "~D83D~DE00")])
def test_ids_are_named_as_dsh_names_them(text: str, name: str) -> None:
    assert encoded(text) == name


def test_a_generated_session_becomes_a_log_in_which_every_pair_is_whole(tmp_path: Path) -> None:
    variant = next(one for one in VARIANTS if one.name == "parallel")
    path = tmp_path / "session.jsonl.zstd"
    path.write_bytes(log_of(variant))
    opened = open_session(path)
    assert not opened.session.damage and pair_up(opened.view.items).whole
    assert opened.view_tokens > 90_000
    assert opened.resume.window is not None and opened.resume.window.value == 128_000
    line = zstandard.ZstdDecompressor().decompressobj().decompress(path.read_bytes())
    assert json.loads(line)["id"] == "session-parallel"
