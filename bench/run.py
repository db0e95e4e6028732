"""CPU seconds and peak memory of the commands on generated sessions: `make bench`, or with sizes in MB as arguments.

CPU time is what a busy machine leaves comparable; the wall time stands beside it. On the large sessions of Claude Code
and Codex it is given as a multiple of the floor too: one typed pass over the same file (`bench/floor.py`), in the same
run.
"""

from __future__ import annotations

import argparse
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

LARGE = 200.0
"""MB of the sessions that are measured against the floor."""

LARGE_COMMANDS = (("stats", "--json"), ("view", "--json"), ("check", "--json"))

TIMES = 3
"""Runs of which the quickest counts, where a multiple is given."""

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
    """Run Python with these words; the output is thrown away."""
    started = time.perf_counter()
    child = os.fork()
    if child == 0:
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nothing, stream)
        os.execve(sys.executable, [sys.executable, *words], environment)
    _, status, used = os.wait4(child, 0)
    wall = time.perf_counter() - started
    unit = 1 if sys.platform == "darwin" else 1024
    return Cost(used.ru_utime + used.ru_stime, wall, used.ru_maxrss * unit / 1e6, os.waitstatus_to_exitcode(status))


def quickest(words: list[str], environment: dict[str, str]) -> Cost:
    """The run with the least CPU time of some."""
    return min((cost(words, environment) for _ in range(TIMES)), key=lambda one: one.cpu)


def show(size: str, title: str, measured: Cost, floor: Cost | None = None) -> bool:
    """Print one row; whether the run went well. A check that finds something ends with 1."""
    went = measured.code == 0 or (title.startswith("check") and measured.code == 1)
    note = "" if went else f"  exit {measured.code}"
    multiple = "" if floor is None else f" {measured.cpu / floor.cpu:>7.1f}x"
    figures = f"{measured.cpu:>8.2f} {measured.wall:>8.2f} {measured.memory:>8.1f}{multiple}{note}"
    print(f"{size:>10}  {title:<32} {figures}", flush=True)
    return went


def measure(folder: Path, size: float, environment: dict[str, str]) -> bool:
    """All commands on a pi session of `size` MB."""
    from bench.sessions import write_session

    session = folder / f"session-{size:g}.jsonl"
    write_session(session, int(size * 1e6))
    went = True
    for name, *options in COMMANDS:
        measured = cost(["-m", "inspector", name, str(session), *options], environment)
        went = show(f"{size:g} MB", " ".join([name, *options]), measured) and went
    return went


def measure_large(folder: Path, agent: str, size: float, environment: dict[str, str]) -> bool:
    """Some commands on a large session, against the floor; a small one goes first, so that Python's caches are warm."""
    from bench.large import WRITERS

    small, session = folder / f"{agent}-small.jsonl", folder / f"{agent}.jsonl"
    WRITERS[agent](small, 50_000)
    WRITERS[agent](session, int(size * 1e6))
    floor = quickest([str(ROOT / "bench" / "floor.py"), agent, str(session)], environment)
    went = show(f"{size:g} MB", f"{agent}: the floor", floor, floor)
    for name, *options in LARGE_COMMANDS:
        cost(["-m", "inspector", name, str(small), *options], environment)
        measured = quickest(["-m", "inspector", name, str(session), *options], environment)
        went = show("", " ".join([name, *options]), measured, floor) and went
    session.unlink()
    return went


def main() -> int:
    """Print one row a command and size."""
    parser = argparse.ArgumentParser(description="CPU and memory of the commands on generated sessions")
    parser.add_argument("sizes", nargs="*", type=float, default=SIZES, help="MB of the pi sessions")
    parser.add_argument("--large", type=float, default=LARGE, help="MB of the Claude Code and Codex sessions; 0: none")
    arguments = parser.parse_args()
    went = True
    with tempfile.TemporaryDirectory() as folder:
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"} | {
            "PYTHONPATH": str(ROOT),
            "PYTHONPYCACHEPREFIX": f"{folder}/bytecode",
            "SEAMLINE_STATE_DIR": f"{folder}/state",
            "SEAMLINE_CACHE_DIR": f"{folder}/cache",
        }
        cost(["-m", "inspector", "--help"], environment)
        print(f"{'session':>10}  {'command':<32} {'CPU s':>8} {'wall s':>8} {'peak MB':>8} {'floors':>8}")
        went = show("", "--help", cost(["-m", "inspector", "--help"], environment))
        for size in arguments.sizes:
            went = measure(Path(folder), size, environment) and went
        for agent in ("claude-code", "codex") if arguments.large else ():
            went = measure_large(Path(folder), agent, arguments.large, environment) and went
    return int(not went)


if __name__ == "__main__":
    sys.exit(main())
