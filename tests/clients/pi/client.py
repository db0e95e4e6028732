"""The real pi, run without a terminal against the mock, in a home of its own beside each session."""

from __future__ import annotations

import json
import re
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

from tests.clients.client import OK, PROMPT, Call, Compacted, Reply, Resumed
from tests.clients.mock import Mock
from tests.clients.pi.home import furnish, moved
from tests.clients.pi.requests import items_of, texts_of
from tests.clients.process import PATIENCE, ended, kill

KEEP_RECENT = 20_000
"""pi's own default, in tokens."""

NO_HISTORY = "No prior history.\n\n---"
"""How pi's summary of a split turn begins where it saw nothing before that turn."""

QUIET = ("--no-extensions", "--no-skills", "--no-prompt-templates", "--no-context-files")


class Pi:
    """pi as `install.sh` put it into `folder`."""

    agent = "pi"

    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()
        facts = json.loads((self._folder / "client.json").read_text())
        self.version: str = facts["version"]
        self._node = self._folder / facts["node"]
        self._cli = self._folder / facts["cli"]

    def place(self, session: Path, folder: Path) -> Path:
        project = folder / "project"
        project.mkdir(parents=True)
        copy = folder / "sessions" / session.name
        copy.parent.mkdir()
        copy.write_bytes(moved(session.read_bytes(), project))
        return copy

    def resume(
        self, session: Path, prompts: Sequence[str] = (PROMPT,), replies: Sequence[Reply] = (OK,), window: int = 0
    ) -> Resumed:
        with Mock(replies) as mock:
            box = self._furnish(session, mock, window, KEEP_RECENT)
            child = self._start(session, box, ["-p", *QUIET, "--session", str(session), *prompts])
            with child:
                in_time = ended(child)
            requests = tuple(mock.requests)
        views = [items_of(request, prompts[0]) for request in requests]
        at = next((number for number, items in enumerate(views) if items is not None), None)
        if at is None:
            return Resumed(error=_last_words(box, child.returncode if in_time else None), requests=requests)
        error = "" if child.returncode == 0 and in_time else _last_words(box, child.returncode if in_time else None)
        return Resumed(views[at] or (), error, requests, at)

    def compact(self, session: Path, summary: str, keep_recent: int) -> Compacted:
        with Mock([Reply(summary)]) as mock:
            box = self._furnish(session, mock, 0, keep_recent)
            child = self._start(session, box, ["--mode", "rpc", *QUIET, "--session", str(session)])
            with child:
                response = _ask_to_compact(child)
            asked = "\n".join(texts_of(request) for request in mock.requests)
        if response is None:
            return Compacted(asked, "no answer to the request to compact: " + _last_words(box, child.returncode))
        error = "" if response.get("success") else str(response.get("error", response))
        return Compacted(asked, error, self._forgets(response))

    def lists(self, session: Path) -> bool | None:
        return None

    def turns(self, number: int) -> tuple[tuple[str, ...], tuple[Reply, ...]]:
        start = number * 10_000
        count = f'for n in $(seq {start} {start + 1500}); do echo "record $n: total $((n * 7)) balanced"; done'
        notes = f"notes-{number}.txt"
        text = "\n".join(f"{line}: what was found in step {number}.{line}" for line in range(300))
        list_records = Call(f"call_list_{number}", "bash", {"command": count})
        make_notes = Call(f"call_notes_{number}", "write", {"path": notes, "content": text})
        read_notes = Call(f"call_read_{number}", "read", {"path": notes})
        again = Call(f"call_again_{number}", "read", {"path": notes})
        missing = Call(f"call_missing_{number}", "bash", {"command": f"ls /nowhere-{number}; exit 3"})
        replies = (
            Reply(
                f"Listing the records of step {number}.", f"First look at step {number}.", (list_records, make_notes)
            ),
            Reply("", "Read it back.", (read_notes, missing)),
            Reply(f"Step {number} is written down: 1,501 records balance.", "Done with this."),
            Reply("Reading the notes again.", "", (again,)),
            Reply(f"The notes of step {number} hold 300 lines.", "Nothing more."),
        )
        told = " ".join(f"Detail {detail} of step {number} must be kept." for detail in range(40))
        return (
            f"List the records of step {number} and keep notes. {told}",
            f"What do the notes {number} say?",
        ), replies

    def _forgets(self, response: dict[str, Any]) -> str:
        """The old pi begins anew where all that is kept is one turn, and that turn is split."""
        made = response.get("data")
        text = str(made.get("summary", "")) if isinstance(made, dict) else ""
        if self.version == "0.73.1" and text.startswith(NO_HISTORY):
            return "pi 0.73.1 splits the only turn that is kept and leaves every earlier summary out"
        return ""

    def _furnish(self, session: Path, mock: Mock, window: int, keep_recent: int) -> Path:
        box = session.parent.parent
        for name in ("home", "tmp"):
            (box / name).mkdir(exist_ok=True)
        furnish(box / "home", session.read_bytes(), mock.port, window, keep_recent)
        return box

    def _start(self, session: Path, box: Path, arguments: Sequence[str]) -> subprocess.Popen[bytes]:
        environment = {
            "PATH": f"{self._node.parent}:/usr/bin:/bin",
            "HOME": str(box / "home"),
            "TMPDIR": str(box / "tmp"),
            "NODE_COMPILE_CACHE": str(self._folder / "compile-cache"),
            "PI_OFFLINE": "1",
            "PI_TELEMETRY": "0",
            "PI_SKIP_VERSION_CHECK": "1",
            "TERM": "dumb",
            "LANG": "C.UTF-8",
        }
        interactive = "rpc" in arguments
        with open(box / "stdout", "wb") as out, open(box / "stderr", "wb") as errors:
            return subprocess.Popen(
                [str(self._node), str(self._cli), *arguments],
                cwd=box / "project",
                env=environment,
                stdin=subprocess.PIPE if interactive else subprocess.DEVNULL,
                stdout=subprocess.PIPE if interactive else out,
                stderr=errors,
                start_new_session=True,
            )


def _ask_to_compact(child: subprocess.Popen[bytes]) -> dict[str, Any] | None:
    """pi's answer to `compact` in its RPC mode; None where it gave none in time."""
    assert child.stdin is not None and child.stdout is not None
    limit = threading.Timer(PATIENCE, kill, (child,))
    limit.start()
    try:
        child.stdin.write(b'{"id":"1","type":"compact"}\n')
        child.stdin.flush()
        response = _response(child.stdout)
        child.stdin.close()
        child.wait()
        return response
    except BrokenPipeError:
        return None
    finally:
        limit.cancel()
        kill(child)


def _response(lines: IO[bytes]) -> dict[str, Any] | None:
    for line in lines:
        try:
            said = json.loads(line)
        except ValueError:
            continue
        if isinstance(said, dict) and said.get("type") == "response" and said.get("command") == "compact":
            return said
    return None


def _last_words(box: Path, code: int | None) -> str:
    if code is None:
        return f"the client hangs: it did not end within {PATIENCE:g} s"
    text = re.sub(r"\x1b\[[0-9;]*m", "", (box / "stderr").read_text("utf-8", "replace"))
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = (line for line in lines if re.match(r"\w*Error\b|FATAL ERROR", line))
    said = next(errors, None) or (lines or [f"exit status {code}, no message"])[-1]
    return said.replace(f"{box}/", "")[:300]
