"""The real dsh, run without a terminal against the mock, in a home of its own around each session."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.clients.client import OK, PROMPT, Call, Compacted, Reply, Resumed
from tests.clients.dsh.home import furnish, identity_of, placed
from tests.clients.dsh.requests import items_of, texts_of
from tests.clients.mock import Mock
from tests.clients.process import PATIENCE, ended

MARK = "CLIENT "
"""How a line of the driver begins."""


class Dsh:
    """dsh as `install.sh` put it into `folder`; `strict`: with dsh's own invariants loaded."""

    agent = "dsh"

    def __init__(self, folder: Path, strict: bool = False) -> None:
        self.folder = folder.resolve()
        facts = json.loads((self.folder / "client.json").read_text())
        self.version: str = facts["version"]
        self._node = self.folder / facts["node"]
        self._modules = self.folder / facts["modules"]
        self._strict = strict

    def place(self, session: Path, folder: Path) -> Path:
        for name in ("project", "tmp"):
            (folder / name).mkdir(parents=True)
        return placed(session, folder)

    def resume(
        self, session: Path, prompts: Sequence[str] = (PROMPT,), replies: Sequence[Reply] = (OK,), window: int = 0
    ) -> Resumed:
        with Mock(replies) as mock:
            said, words = self._run(session, mock, window, prompts=list(prompts))
            requests = tuple(mock.requests)
        views = [items_of(request.body, prompts[0], said.get("made", ())) for request in requests]
        at = next((number for number, items in enumerate(views) if items is not None), None)
        if at is None:
            ended = f"the turn ended before any request: {json.dumps(said['end'])}" if said.get("end") else words
            return Resumed(error=said.get("error") or ended, requests=requests)
        return Resumed(views[at] or (), said.get("error") or "", requests, at)

    def compact(self, session: Path, summary: str, keep_recent: int) -> Compacted:
        with Mock([Reply(summary)]) as mock:
            said, words = self._run(session, mock, 0, compact=True)
            asked = "\n".join(texts_of(request.body) for request in mock.requests)
        error = said.get("error") or said.get("compact") or ("" if "made" in said else words)
        return Compacted(asked, error)

    def lists(self, session: Path) -> bool | None:
        with Mock([OK]) as mock:
            said, _ = self._run(session, mock, 0, list=True)
        return identity_of(session) in said.get("listed", ())

    def turns(self, number: int) -> tuple[tuple[str, ...], tuple[Reply, ...]]:
        start = number * 10_000
        count = f'for n in $(seq {start} {start + 900}); do echo "record $n: total $((n * 7)) balanced"; done'
        notes = f"notes-{number}.txt"
        write = f"for n in $(seq 300); do echo $n: what was found in step {number}; done > {notes}; wc {notes}"
        list_records = _bash(f"call_list_{number}", count)
        make_notes = _bash(f"call_notes_{number}", write)
        read_notes = _bash(f"call_read_{number}", f"cat {notes}")
        again = _bash(f"call_again_{number}", f"grep 7 {notes}")
        missing = _bash(f"call_missing_{number}", f"ls /nowhere-{number}; exit 3")
        replies = (
            Reply(
                f"Listing the records of step {number}.", f"First look at step {number}.", (list_records, make_notes)
            ),
            Reply("", "Read it back.", (read_notes, missing)),
            Reply(f"Step {number} is written down: 901 records balance.", "Done with this."),
            Reply("Looking through the notes again.", "", (again,)),
            Reply(f"The notes of step {number} hold 300 lines.", "Nothing more."),
        )
        told = " ".join(f"Detail {detail} of step {number} must be kept." for detail in range(40))
        return (
            f"List the records of step {number} and keep notes. {told}",
            f"What do the notes {number} say?",
        ), replies

    def strict(self) -> Dsh:
        """The same with dsh's own invariants."""
        return Dsh(self.folder, strict=True)

    def _run(self, session: Path, mock: Mock, window: int, **orders: Any) -> tuple[dict[str, Any], str]:
        """One life of the client: what the driver said, and the last words of everything else."""
        box = session.parents[5]
        patch = furnish(box, mock.port, window, self._strict, self._modules)
        orders = {"session": identity_of(session), "prompts": [], **orders}
        program = self._modules / "@deepseek-ai" / "dsh" / "lib" / "bin.js"
        output = box / "output"
        with open(output, "wb") as out:
            child = subprocess.Popen(
                [str(self._node), str(program), "--profile", "headless", "--patch", str(patch), "resume"],
                cwd=box / "project",
                env=self._environment(box, mock, orders),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                start_new_session=True,
            )
            with child:
                in_time = ended(child)
        lines = output.read_text("utf-8", "replace").splitlines()
        said: dict[str, Any] = {}
        for line in lines:
            if line.startswith(MARK):
                said |= json.loads(line.removeprefix(MARK))
        rest = [line.strip() for line in lines if line.strip() and not line.startswith(MARK)]
        words = (rest or [f"exit status {child.returncode}, no message"])[-1].replace(f"{box}/", "")[:300]
        return said, words if in_time else f"the client hangs: it did not end within {PATIENCE:g} s"

    def _environment(self, box: Path, mock: Mock, orders: dict[str, Any]) -> dict[str, str]:
        return {
            "PATH": f"{self._node.parent}:/usr/bin:/bin",
            "HOME": str(box / "home"),
            "DSH_HOME": str(box / "home" / ".dsh"),
            "TMPDIR": str(box / "tmp"),
            "LANG": "C.UTF-8",
            "NODE_COMPILE_CACHE": str(self.folder / "compile-cache"),
            "DSH_TELEMETRY_DISABLED": "1",
            "DSH_PERMISSION_MODE": "danger-full-access",
            "DEEPSEEK_API_KEY": "mock",
            "DEEPSEEK_BASE_URL": f"http://127.0.0.1:{mock.port}",
            "SEAMLINE_MODULES": str(self._modules),
            "SEAMLINE_ORDERS": json.dumps(orders),
        }


def _bash(call_id: str, command: str) -> Call:
    return Call(call_id, "bash", {"command": command, "description": "a step of the work"})
