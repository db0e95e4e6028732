"""Every test has folders of its own and no network."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# A busy machine is slow, which is no fault; and CI is to say the same of the same code.
settings.register_profile(
    "seamline",
    deadline=None,
    derandomize="CI" in os.environ,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("seamline")


OTHERS = (
    "XDG_STATE_HOME",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "SEAMLINE_DEBUG",
    "SEAMLINE_CONFIG",
    "PI_CODING_AGENT_DIR",
    "PI_CODING_AGENT_SESSION_DIR",
    "CODEX_HOME",
    "CLAUDE_CONFIG_DIR",
    "GROK_HOME",
    "DSH_HOME",
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
)
"""Variables that name folders of this machine, or change what is printed."""


@pytest.fixture(autouse=True)
def own_folders(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home, a state folder and a cache folder that nothing else sees; nothing is read from this machine's own."""
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("SEAMLINE_STATE_DIR", str(home / "state"))
    monkeypatch.setenv("SEAMLINE_CACHE_DIR", str(home / "cache"))
    for name in OTHERS:
        monkeypatch.delenv(name, raising=False)
    return home


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only this machine can be reached, as the event loops of tests need."""
    connect = socket.socket.connect

    def refuse(self: socket.socket, address: object) -> None:
        local = isinstance(address, tuple) and address[0] in ("127.0.0.1", "::1")
        if self.family != socket.AF_UNIX and not local:
            raise OSError(f"no test may reach the network: {address}")
        connect(self, address)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(socket.socket, "connect", refuse)
