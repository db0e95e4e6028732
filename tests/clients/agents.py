"""The clients that the harness knows, and where they are installed. To add one: a folder here, a line in `AGENTS`."""

from __future__ import annotations

import os
import subprocess
from importlib import import_module
from pathlib import Path

from tests.clients.client import Client
from tests.clients.kit import Kit

HERE = Path(__file__).resolve().parent

AGENTS = {
    "pi": "pi",
    "codex": "codex",
    "claude-code": "claude_code",
    "dsh": "dsh",
}
"""Name of the agent → its folder beside this file, which holds `install.sh` and `kit.py`."""


def kit(agent: str) -> Kit:
    """The agent's part in the harness; KeyError where there is none."""
    found: Kit = import_module(f"tests.clients.{AGENTS[agent]}.kit").KIT
    return found


def cache_folder() -> Path:
    """Where clients are installed: SEAMLINE_CLIENTS, else a folder here that git ignores."""
    return Path(os.environ.get("SEAMLINE_CLIENTS") or HERE / ".cache").absolute()


def client_folder(agent: str, version: str) -> Path:
    return cache_folder() / f"{agent}-{version}"


def install(agent: str, version: str) -> None:
    """Install a client where it is not yet; needs npm and its registry. Raises CalledProcessError."""
    script = HERE / AGENTS[agent] / "install.sh"
    subprocess.run([str(script), str(client_folder(agent, version)), "--version", version], check=True)


def installed(agent: str, version: str) -> Client:
    """The client, ready to run."""
    return kit(agent).client(client_folder(agent, version))
