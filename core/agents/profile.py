"""Reads an agent's `agent.toml`: the facts about it that are data."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from core.agents.protocol import Profile, Tool


@cache
def load_profile(path: Path) -> Profile:
    """The profile in one `agent.toml`, read once. Raises OSError, KeyError or ValueError where the file is wrong."""
    data: dict[str, Any] = tomllib.loads(path.read_text("utf-8"))
    image = data["image_tokens"]
    tools = {name: Tool(name=name, **fields) for name, fields in data.get("tools", {}).items()}
    return Profile(
        agent=data["agent"],
        title=data["title"],
        newest_client=data["newest_client"]["value"],
        reserve=data["reserve"]["value"],
        reserve_share=data["reserve"].get("share", 0.0),
        keep_recent=data["keep_recent"]["value"],
        image_tokens=image["value"],
        image_rule=image["rule"],
        tools=tools,
        command=data.get("command", ""),
        reopen=data.get("reopen", ""),
        session_names=tuple(data["files"]["names"]),
        own_folder=data["files"]["own_folder"],
    )
