"""Faults by the system itself: `strace` attaches to a process that waits, and kills or fails one of its calls."""

from __future__ import annotations

import re
import subprocess
import time
from pathlib import Path

CALLS = (
    "open,openat,creat,write,pwrite64,writev,fsync,fdatasync,rename,renameat,renameat2,link,linkat,unlink,unlinkat,"
    "ftruncate,fallocate,utimensat,chmod,fchmod,fchmodat,chown,fchown,mkdir,mkdirat,flock,"
    "copy_file_range,fsetxattr"
).split(",")
"""Calls that open, lock or change a file. A kill at one that only reads leaves what one at the next of these does."""

_LINE = re.compile(r"^(?:\d+\s+)?(\w+)\(")


class Tracer:
    """One `strace` on one process."""

    def __init__(self, process: int, log: Path, inject: str = "") -> None:
        words = ["strace", "-f", "-p", str(process), "-o", str(log), "-e", f"trace={','.join(CALLS)}"]
        if inject:
            words += ["-e", f"inject={inject}"]
        self._process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
        assert self._process.stderr is not None
        first = self._process.stderr.readline()
        if "attached" not in first:
            raise OSError(f"strace cannot attach: {first.strip()}")

    def end(self) -> None:
        try:
            self._process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            self._process.terminate()
            self._process.communicate()


def calls_in(log: Path) -> list[tuple[str, int]]:
    """The traced calls in order: name, and the how manieth of that name it is."""
    counts: dict[str, int] = {}
    found: list[tuple[str, int]] = []
    for line in log.read_text("utf-8", "replace").splitlines():
        match = _LINE.match(line)
        if match is None or match[1] not in CALLS:
            continue
        counts[match[1]] = counts.get(match[1], 0) + 1
        if match[1] in ("open", "openat") and not any(flag in line for flag in ("O_RDWR", "O_WRONLY", "O_CREAT")):
            continue  # it only reads
        found.append((match[1], counts[match[1]]))
    return found


def wait_for(path: Path, seconds: float = 5.0) -> bool:
    """Whether a file appears in time."""
    end = time.monotonic() + seconds
    while not path.exists():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True
