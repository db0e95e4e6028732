"""CPU seconds and peak memory of the commands on generated sessions: `make bench`, or with sizes in MB as arguments.

CPU time is what a busy machine leaves comparable; the wall time stands beside it.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

SIZES = (0.05, 1.0, 20.0)
"""MB of the sessions that are measured where no sizes are given."""

COMMANDS = (
    ("view", "--json"),
    ("view", "--tokens"),
    ("stats", "--json"),
    ("check", "--json"),
    ("plan", "--json", "--target", "40000"),
)


@dataclass(frozen=True)
class Cost:
    """What one run of a program took."""

    cpu: float
    """Seconds, user and system."""
    wall: float
    """Seconds."""
    memory: float
    """MB at the peak."""
    code: int


def cost(words: list[str], environment: dict[str, str]) -> Cost:
    """Run `seamline` with these words; its output is thrown away."""
    started = time.perf_counter()
    child = os.fork()
    if child == 0:
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nothing, stream)
        os.execve(sys.executable, [sys.executable, "-m", "inspector", *words], environment)
    _, status, used = os.wait4(child, 0)
    wall = time.perf_counter() - started
    unit = 1 if sys.platform == "darwin" else 1024
    return Cost(used.ru_utime + used.ru_stime, wall, used.ru_maxrss * unit / 1e6, os.waitstatus_to_exitcode(status))


def main() -> int:
    """Print one row a command and size."""
    from bench.sessions import write_session

    sizes = [float(word) for word in sys.argv[1:]] or list(SIZES)
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {
            "PYTHONPATH": str(ROOT),
            "SEAMLINE_STATE_DIR": f"{folder}/state",
            "SEAMLINE_CACHE_DIR": f"{folder}/cache",
        }
        rows: list[tuple[str, str, list[str]]] = [("", "--help", ["--help"])]
        for size in sizes:
            session = Path(folder, f"session-{size:g}.jsonl")
            write_session(session, int(size * 1e6))
            for name, *options in COMMANDS:
                rows.append((f"{size:g} MB", " ".join([name, *options]), [name, str(session), *options]))
        print(f"{'session':>10}  {'command':<32} {'CPU s':>8} {'wall s':>8} {'peak MB':>8}")
        for size, title, words in rows:
            measured = cost(words, environment)
            note = "" if measured.code == 0 else f"  exit {measured.code}"
            failed = failed or measured.code != 0
            print(
                f"{size:>10}  {title:<32} {measured.cpu:>8.2f} {measured.wall:>8.2f} {measured.memory:>8.1f}{note}",
                flush=True,
            )
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
