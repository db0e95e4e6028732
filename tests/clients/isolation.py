"""Run where only this machine can be reached, so that a client that calls home shows as a failure, not as traffic."""

from __future__ import annotations

import fcntl
import os
import shutil
import socket
import struct
import subprocess
import sys
from collections.abc import Sequence

_STATE = "SEAMLINE_CLIENTS_NETWORK"
_GET_FLAGS, _SET_FLAGS, _UP = 0x8913, 0x8914, 1
"""Linux: SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP."""


def entered() -> bool:
    """Whether this program was already started anew."""
    return _STATE in os.environ


def enter_empty_network(arguments: Sequence[str]) -> str:
    """Start this program anew in an empty network namespace where the machine allows it; says which it is, in words."""
    state = os.environ.get(_STATE)
    if state is None:
        os.environ[_STATE] = "plain"
        tool = shutil.which("unshare")
        for flags in (["-n"], ["-rn"]) if tool else ():
            assert tool is not None
            if subprocess.run([tool, *flags, "true"], capture_output=True, check=False).returncode == 0:
                os.environ[_STATE] = "empty"
                os.execv(tool, [tool, *flags, sys.executable, *arguments])
        return "the machine's own network (no empty network namespace here)"
    if state == "empty":
        _raise_loopback()
        return "an empty network namespace"
    return "the machine's own network"


def _raise_loopback() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        name = b"lo".ljust(16, b"\0")
        flags = struct.unpack("16sH", fcntl.ioctl(sock, _GET_FLAGS, name + bytes(16))[:18])[1]
        fcntl.ioctl(sock, _SET_FLAGS, struct.pack("16sH14x", name, flags | _UP))
