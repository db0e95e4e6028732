"""The real Codex, run without a terminal against the mock, in a home of its own for each session."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

from tests.clients.client import OK, PROMPT, Call, Compacted, Reply, Resumed
from tests.clients.codex.home import content_of, furnish, place, rollouts, thread_of
from tests.clients.codex.requests import Stored, items_of, texts_of
from tests.clients.codex.server import Refused, Server
from tests.clients.mock import Mock
from tests.clients.process import PATIENCE, ended

SOURCES = ["cli", "vscode", "exec", "appServer", "subAgent", "subAgentThreadSpawn", "subAgentOther", "unknown"]


class Codex:
    """Codex as `install.sh` put it into `folder`."""

    agent = "codex"

    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()
        facts = json.loads((self._folder / "client.json").read_text())
        self.version: str = facts["version"]
        self._program = self._folder / facts["program"]

    def place(self, session: Path, folder: Path) -> Path:
        for name in ("home", "project", "user"):
            (folder / name).mkdir(parents=True)
        return place(session, folder / "home")

    def resume(
        self, session: Path, prompts: Sequence[str] = (PROMPT,), replies: Sequence[Reply] = (OK,), window: int = 0
    ) -> Resumed:
        box = _box(session)
        stored = Stored([content_of(path) for path in rollouts(box / "home")])
        with Mock(replies) as mock:
            furnish(box / "home", session, mock.port, window, 0)
            error = ""
            for prompt in prompts:  # one process a prompt, as a person would come back to it
                error = error or self._turn(session, box, prompt)
            requests = tuple(mock.requests)
        session = _unpacked(session)
        views = [items_of(request.body, prompts[0], stored, str(box)) for request in requests]
        at = next((number for number, items in enumerate(views) if items is not None), None)
        if at is None:
            return Resumed(error=error or "it sent no request with our prompt", requests=requests, session=session)
        return Resumed(views[at] or (), error, requests, at, session)

    def compact(self, session: Path, summary: str, keep_recent: int) -> Compacted:
        box = _box(session)
        with Mock([Reply(summary)]) as mock:
            furnish(box / "home", session, mock.port, 0, 0)
            error = ""
            try:
                with self._server(box) as server:
                    thread = thread_of(session)
                    server.ask("thread/resume", {"threadId": thread})
                    server.ask("thread/compact/start", {"threadId": thread})
                    turn = server.await_notice("turn/completed")["params"]["turn"]
                    error = str((turn.get("error") or {}).get("message", "")) if turn["status"] != "completed" else ""
            except Refused as refused:
                error = str(refused)
            asked = "\n".join(texts_of(request.body) for request in mock.requests)
        return Compacted(asked, error)

    def lists(self, session: Path) -> bool | None:
        box = _box(session)
        furnish(box / "home", session, 9, 0, 0)
        with self._server(box) as server:
            told = server.ask("thread/list", {"limit": 100, "modelProviders": [], "sourceKinds": SOURCES})
        return thread_of(session) in {thread["id"] for thread in told["data"]}

    def turns(self, number: int) -> tuple[tuple[str, ...], tuple[Reply, ...]]:
        start = number * 10_000
        count = f'for n in $(seq {start} {start + 1500}); do echo "record $n: total $((n * 7)) balanced"; done'
        notes = f"notes-{number}.txt"
        write = f'for n in $(seq 300); do echo "$n: what was found in step {number}.$n"; done > {notes}'
        replies = (
            Reply(
                f"Listing the records of step {number}.",
                f"First look at step {number}.",
                (_shell(f"list_{number}", count), _shell(f"notes_{number}", write)),
            ),
            Reply(
                "",
                "Read it back.",
                (
                    _shell(f"read_{number}", f"cat {notes}"),
                    _shell(f"missing_{number}", f"ls /nowhere-{number}; exit 3"),
                ),
            ),
            Reply(f"Step {number} is written down: 1,501 records balance.", "Done with this."),
            Reply("Reading the notes again.", "", (_shell(f"again_{number}", f"cat {notes}"),)),
            Reply(f"The notes of step {number} hold 300 lines.", "Nothing more."),
        )
        told = " ".join(f"Detail {detail} of step {number} must be kept." for detail in range(40))
        return (
            f"List the records of step {number} and keep notes. {told}",
            f"What do the notes {number} say?",
        ), replies

    def _turn(self, session: Path, box: Path, prompt: str) -> str:
        """One prompt and all that follows; the client's own words where it failed."""
        thread = thread_of(_unpacked(session))
        arguments = ["exec", "resume", "--all", "--skip-git-repo-check", thread, prompt]
        with open(box / "said", "wb") as log:
            child = subprocess.Popen(
                [str(self._program), *arguments],
                cwd=box / "project",
                env=_environment(box),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            in_time = ended(child)
        if not in_time:
            return f"the client hangs: it did not end within {PATIENCE:g} s"
        return _last_words(box) if child.returncode else ""

    def _server(self, box: Path) -> Server:
        return Server(self._program, _environment(box), box / "project", box / "said")


def _shell(identity: str, command: str) -> Call:
    return Call(f"call_{identity}", "exec_command", {"cmd": command})


def _box(session: Path) -> Path:
    """The folder that a session was placed in: it lies in `home/sessions/YEAR/MONTH/DAY` there."""
    return session.parents[5]


def _unpacked(session: Path) -> Path:
    """Where a session stands: Codex unpacks a compressed one when it resumes it."""
    plain = session.with_name(session.name.removesuffix(".zst"))
    return plain if plain.exists() else session


def _environment(box: Path) -> dict[str, str]:
    return {
        "PATH": "/usr/bin:/bin",
        "HOME": str(box / "user"),
        "CODEX_HOME": str(box / "home"),
        "MOCK_KEY": "not-a-key",
        "TERM": "dumb",
        "RUST_LOG": "error",
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "NO_PROXY": "*",
    }


def _last_words(box: Path) -> str:
    text = re.sub(r"\x1b\[[0-9;]*m", "", (box / "said").read_text("utf-8", "replace"))
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if line.lower().startswith("error")]
    return (errors or lines or ["no message"])[-1].replace(f"{box}/", "")[:300]
