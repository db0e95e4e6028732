"""What the list of processes tells about a running agent."""

from __future__ import annotations

import os
from pathlib import Path


def boot_time(processes: Path) -> float | None:
    """When the machine was started, in seconds since 1970; None where it is not told. Raises OSError."""
    for line in (processes / "stat").read_text().splitlines():
        name, _, value = line.partition(" ")
        if name == "btime":
            return float(value)
    return None


def started(folder: Path, booted: float | None) -> float | None:
    """When a process started, in seconds since 1970; to about a second, as the kernel tells the time of boot.

    `folder` is its own in the list of processes. Raises OSError.
    """
    if booted is None:
        return None
    fields = (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()
    return booted + int(fields[19]) / os.sysconf("SC_CLK_TCK")
