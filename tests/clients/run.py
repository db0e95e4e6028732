"""`python -m tests.clients.run`: commits by Seamline, judged by the real clients. Needs npm for the first run."""

# ruff: noqa: T201 (a program that prints a table)

from __future__ import annotations

import argparse
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.clients.agents import VERSIONS, client_folder, install, installed
from tests.clients.client import Client
from tests.clients.command import Seamline
from tests.clients.isolation import enter_empty_network, entered
from tests.clients.subjects import Subject, captured, subjects
from tests.clients.table import Row, heading, tally
from tests.clients.trial import Trial, remove

JOBS = 2
"""Clients that run at a time."""

SAMPLE_WINDOW = 128_000
"""Tokens: the window that the first sample overflows."""


class Table:
    """Rows as they come, from several threads."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self._lock = threading.Lock()

    def add(self, row: Row) -> None:
        with self._lock:
            self.rows.append(row)
            print(row.line(), flush=True)


Job = tuple[str, Subject, Callable[[Trial], None]]


def jobs_for(agent: str, full: bool) -> list[Job]:
    """What is tried with each version: commits on every session; edits, forks and room where they fit."""
    jobs: list[Job] = []
    large = subjects(agent)
    jobs += [("commits", subject, Trial.commits) for subject in large]
    edited = large if full else [one for one in large if one.name in EDITED]
    jobs += [("edits", subject, Trial.edits) for subject in edited]
    first = large[0]
    jobs.append(("room", first, lambda trial: trial.has_room_after(SAMPLE_WINDOW)))
    jobs += [("fork", subject, Trial.forks) for subject in large[:2]]
    jobs.append(("version 1", first, lambda trial: trial.forks(first_version=True)))
    for subject in captured(agent):
        if subject.name in OLD_FORMATS:
            jobs.append(("small fork", subject, Trial.forks_small))
        if full or subject.name in OLD_FORMATS:
            jobs.append(("seen", subject, Trial.is_seen))
    return jobs


EDITED = ("interface-migration", "native-compaction", "everything-completions")
"""The sessions whose proposals are edited, out of those that the policy summarises."""

OLD_FORMATS = ("v1_linear", "v2_hook_message")


def run_all(clients: list[tuple[Client, Seamline]], full: bool, only: str, folder: Path) -> Table:
    """Every job with every client, `JOBS` at a time."""
    table = Table()

    def work(client: Client, seamline: Seamline, job: Job) -> None:
        kind, subject, action = job
        place = folder / f"{client.agent}-{client.version}" / f"{subject.name}-{kind.replace(' ', '-')}"
        own: list[Row] = []

        def report(row: Row) -> None:
            own.append(row)
            table.add(row)

        try:
            action(Trial(client, seamline, subject, place, report))
        except Exception as error:
            what = f"{type(error).__name__}: {error}"
            report(Row(f"{client.agent} {client.version}", subject.name, kind, problems=[what]))
        if not any(row.problems for row in own):
            remove(place)

    with ThreadPoolExecutor(JOBS) as pool:
        for client, seamline in clients:
            for job in jobs_for(client.agent, full):
                if only in f"{job[1].name} {job[0]}":
                    pool.submit(work, client, seamline, job)
    return table


def main() -> int:
    arguments = _arguments()
    versions = [version for version in VERSIONS[arguments.agent] if version in arguments.versions]
    if not entered():
        for version in versions:
            install(arguments.agent, version)
    network = enter_empty_network(["-m", "tests.clients.run", *sys.argv[1:]])
    folder = Path(tempfile.mkdtemp(prefix="seamline-clients-"))
    newest = VERSIONS[arguments.agent][0]
    clients = [
        (installed(arguments.agent, version), Seamline(folder / "own", "" if version == newest else version))
        for version in versions
    ]
    print(f"clients from {client_folder(arguments.agent, newest).parent}, in {network}\n{heading()}", flush=True)
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
    parser.add_argument("--agent", choices=sorted(VERSIONS), default="pi")
    parser.add_argument(
        "--versions", nargs="+", default=[version for all_of in VERSIONS.values() for version in all_of]
    )
    parser.add_argument(
        "--only", default="", metavar="TEXT", help="only what has this in its name, such as 'images commits'"
    )
    parser.add_argument("--full", action="store_true", help="every edit on every session, and every captured session")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
