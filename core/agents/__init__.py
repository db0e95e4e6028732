"""The agents that Seamline knows. To add one: a folder here, and one line in `AGENTS`."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path

from core.agents.protocol import Agent
from core.broken import is_pretty_printed
from core.errors import NotASession
from core.files import Files

AGENTS = {
    "grok-build": "core.agents.grok_build",  # first: its empty or old files are told by what lies beside them
    "pi": "core.agents.pi",
    "claude-code": "core.agents.claude_code",
    "codex": "core.agents.codex",
    "dsh": "core.agents.dsh",
    "openai-messages": "core.agents.openai_messages",
}
"""Name of the agent → the module that offers it as `AGENT`."""

HEAD = 1 << 16
"""Bytes by which a file that no agent knows is judged."""

PRETTY_PRINTED = (
    "not JSON Lines: it looks pretty-printed, as an editor saves it: write each record into one line again (jq -c .)"
)


@cache
def agent_named(name: str) -> Agent:
    """The agent with this name; KeyError where there is none."""
    agent: Agent = import_module(AGENTS[name]).AGENT
    return agent


def detect(files: Files, path: Path) -> Agent:
    """The agent that wrote this file. Raises NotASession."""
    for name in AGENTS:
        agent = agent_named(name)
        if agent.detect(files, path):
            return agent
    if is_pretty_printed(files.read(path, 0, HEAD)):
        raise NotASession(f"{path}: {PRETTY_PRINTED}")
    raise NotASession(f"{path}: not a session of {', '.join(AGENTS)}: give the path of a session file")


def bundle(files: Files, folder: Path) -> Path | None:
    """The session that a folder is as a whole, such as a fork beside its parents; None where it is no such bundle."""
    for name in AGENTS:
        path = agent_named(name).bundle(files, folder)
        if path is not None:
            return path
    return None
