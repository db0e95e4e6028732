"""The clients that the harness knows: which versions, how they are installed, and the class that runs them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tests.clients.client import Client
from tests.clients.pi.client import Pi

HERE = Path(__file__).resolve().parent

VERSIONS = {"pi": ("1.6.0", "0.73.1")}
"""Newest first: the first one is what Seamline takes where nobody names a version."""

CLIENTS = {"pi": Pi}


def cache_folder() -> Path:
    """Where clients are installed: SEAMLINE_CLIENTS, else a folder here that git ignores."""
    return Path(os.environ.get("SEAMLINE_CLIENTS") or HERE / ".cache").absolute()


def client_folder(agent: str, version: str) -> Path:
    return cache_folder() / f"{agent}-{version}"


def install(agent: str, version: str) -> None:
    """Install a client where it is not yet; needs npm and its registry. Raises CalledProcessError."""
    script = HERE / agent / "install.sh"
    subprocess.run([str(script), str(client_folder(agent, version)), "--version", version], check=True)


def installed(agent: str, version: str) -> Client:
    """The client, ready to run."""
    return CLIENTS[agent](client_folder(agent, version))
