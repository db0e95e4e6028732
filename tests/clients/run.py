"""`python -m tests.clients.run`: commits by Seamline, judged by the real clients. Needs npm for the first run."""

# ruff: noqa: T201 (a program that prints a table)

from __future__ import annotations

import argparse
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.clients.agents import AGENTS, cache_folder, install, installed, kit
from tests.clients.client import Client
from tests.clients.command import Seamline
from tests.clients.isolation import enter_empty_network, entered
from tests.clients.kit import Job
from tests.clients.subjects import captured, samples
from tests.clients.table import Row, heading, tally
from tests.clients.trial import Trial, remove

JOBS = 2
"""Clients that run at a time."""


class Table:
    """Rows as they come, from several threads."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self._lock = threading.Lock()

    def add(self, row: Row) -> None:
        with self._lock:
            self.rows.append(row)
            print(row.line(), flush=True)


def jobs_for(agent: str, full: bool) -> list[Job]:
    """What is tried with each version: commits on every session; edits, forks and room where they fit."""
    known = kit(agent)
    large = [*samples(agent), *known.generated]
    small = captured(agent)
    jobs = [Job("commits", subject, Trial.commits) for subject in large]
    jobs += [Job("edits", subject, Trial.edits) for subject in large if full or subject.name in known.edited]
    if known.window:
        jobs += [Job("room", subject, lambda trial: trial.has_room_after(known.window)) for subject in large[:1]]
    jobs += [Job("fork", subject, Trial.forks) for subject in large[:2]]
    jobs += [Job("by hand", subject, Trial.by_hand) for subject in small if full or subject.name in known.by_hand]
    jobs += known.own(full)
    return jobs + [Job("seen", subject, Trial.is_seen) for subject in small if full]


def run_all(clients: list[tuple[Client, Seamline]], full: bool, only: str, folder: Path) -> Table:
    """Every job with every client, `JOBS` at a time."""
    table = Table()

    def work(client: Client, seamline: Seamline, job: Job) -> None:
        kind, name = job.kind, job.subject.name
        place = folder / f"{client.agent}-{client.version}" / f"{name}-{kind.replace(' ', '-')}"
        own: list[Row] = []

        def report(row: Row) -> None:
            own.append(row)
            table.add(row)

        try:
            job.action(Trial(client, seamline, job.subject, place, report))
        except Exception as error:
            what = f"{type(error).__name__}: {error}"
            report(Row(f"{client.agent} {client.version}", name, kind, problems=[what]))
        if not any(row.problems for row in own):
            remove(place)

    with ThreadPoolExecutor(JOBS) as pool:
        for client, seamline in clients:
            for job in jobs_for(client.agent, full):
                if only in f"{job.subject.name} {job.kind}":
                    pool.submit(work, client, seamline, job)
    return table


def main() -> int:
    arguments = _arguments()
    chosen = [
        (agent, version)
        for agent in arguments.agent or AGENTS
        for version in kit(agent).versions
        if not arguments.versions or version in arguments.versions
    ]
    if not entered():
        for agent, version in chosen:
            install(agent, version)
    network = enter_empty_network(["-m", "tests.clients.run", *sys.argv[1:]])
    folder = Path(tempfile.mkdtemp(prefix="seamline-clients-"))
    clients = [
        (installed(agent, version), Seamline(folder / "own", "" if version == kit(agent).versions[0] else version))
        for agent, version in chosen
    ]
    print(f"clients from {cache_folder()}, in {network}\n{heading()}", flush=True)
    started = time.monotonic()
    table = run_all(clients, arguments.full, arguments.only, folder)
    lines, missing = tally(table.rows, 5 if arguments.full else 1)
    print("\n".join(["", *lines, *(missing if not arguments.only else []), f"{time.monotonic() - started:.0f} s"]))
    failed = any(row.problems for row in table.rows) or not table.rows or (missing and not arguments.only)
    if failed:
        print(f"the files of what failed are in {folder}")
    else:
        remove(folder)
    return 1 if failed else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tests/clients/run", description=__doc__)
    parser.add_argument("--agent", nargs="+", choices=list(AGENTS), metavar="NAME", help="default: all of them")
    parser.add_argument("--versions", nargs="+", metavar="VERSION", help="default: all that the harness knows")
    parser.add_argument(
        "--only", default="", metavar="TEXT", help="only what has this in its name, such as 'images commits'"
    )
    parser.add_argument("--full", action="store_true", help="every edit on every session, and every captured session")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
