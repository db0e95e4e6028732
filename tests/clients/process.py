"""Programs under test are waited for, and ended with all that they started where they hang."""

from __future__ import annotations

import os
import signal
import subprocess

PATIENCE = 90.0
"""Seconds that a client has for all its turns before it is killed."""


def ended(child: subprocess.Popen[bytes], patience: float = PATIENCE) -> bool:
    """Whether a client ended by itself in time; else it is killed. It must lead a session of its own."""
    try:
        child.wait(patience)
    except subprocess.TimeoutExpired:
        kill(child)
        return False
    return True


def kill(child: subprocess.Popen[bytes]) -> None:
    """End a client that still runs, with its process group."""
    if child.poll() is None:
        os.killpg(child.pid, signal.SIGKILL)  # our own child leads this group
        child.wait()
