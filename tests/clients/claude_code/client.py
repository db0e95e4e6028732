"""The real Claude Code, run without a terminal against the mock, in a home of its own beside each session."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

from tests.clients.claude_code.requests import items_of, lines_of, texts_of
from tests.clients.client import OK, PROMPT, Call, Compacted, Reply, Request, Resumed
from tests.clients.mock import Mock
from tests.clients.process import PATIENCE, ended

UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")

PROJECT = "PROJECT/"
"""In the arguments of scripted calls: the folder that the client works in."""

TOOLS = "Bash,Read,Write,Edit"

NO_COMPACTION = {"DISABLE_AUTO_COMPACT": "1"}

SMALLEST_WINDOW = 100_000
"""Tokens: the client takes no smaller window for its own compaction."""


class Messages(Mock):
    """The Messages API: ids of messages never repeat, and replies bear the name of the model that was asked for.

    A request without tools, such as one for a title, is answered with a short text and uses up no reply.
    """

    def answer(self, path: str, body: bytes) -> bytes | None:
        asked = json.loads(body) if path.endswith("/messages") else {}
        if path.endswith("/messages") and not asked.get("tools"):
            made = Mock([Reply("a title")]).answer(path, body)
        else:
            made = super().answer(path, body)
        if made is None:
            return None
        model = json.dumps(asked.get("model")).encode()
        return made.replace(b"msg_mock_", f"msg_{uuid4().hex}_".encode()).replace(
            b'"model": "mock"', b'"model": ' + model
        )


class ClaudeCode:
    """Claude Code as `install.sh` put it into `folder`."""

    agent = "claude-code"

    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()
        facts = json.loads((self._folder / "client.json").read_text())
        self.version: str = facts["version"]
        self._program = self._folder / facts["program"]

    def place(self, session: Path, folder: Path) -> Path:
        main = _main_file(session) if session.is_dir() else session
        for name in ("project", "tmp"):
            (folder / name).mkdir(parents=True)
        slug = re.sub("[^A-Za-z0-9]", "-", str((folder / "project").resolve()))
        place = folder / "home" / ".claude" / "projects" / slug
        if session.is_dir():
            shutil.copytree(session, place)
            (place / main.relative_to(session)).unlink()
        else:
            place.mkdir(parents=True)
        beside = main.parent / main.stem
        if beside.is_dir() and not session.is_dir():
            shutil.copytree(beside, place / main.stem)
        return Path(shutil.copyfile(main, place / f"{_identity(main)}.jsonl"))

    def resume(
        self, session: Path, prompts: Sequence[str] = (PROMPT,), replies: Sequence[Reply] = (OK,), window: int = 0
    ) -> Resumed:
        box, before = _box(session), lines_of(session)
        with Messages([_placed(reply, box) for reply in replies]) as mock:
            first = self._run(session, mock.port, prompts[0], window)
            requests, after = tuple(mock.requests), lines_of(session)
            error = first
            for prompt in prompts[1:]:
                error = error or self._run(session, mock.port, prompt, window)
        at = next((number for number, one in enumerate(requests) if _asks(one, prompts[0])), None)
        if at is None:
            return Resumed(error=error or "it sent no request that ends in our prompt", requests=requests)
        return Resumed(items_of(requests[at], before, after), error, requests, at)

    def compact(self, session: Path, summary: str, keep_recent: int) -> Compacted:
        with Messages([Reply(f"<analysis>seen</analysis>\n<summary>\n{summary}\n</summary>")]) as mock:
            error = self._run(session, mock.port, "/compact", 0)
            asked = "\n".join(texts_of(request) for request in mock.requests)
        return Compacted(asked, error or ("" if asked else "it asked for no summary"))

    def lists(self, session: Path) -> bool | None:
        """Whether `--continue`, which takes the newest session of the client's list, takes this one if it is that."""
        box = _box(session)
        copy = self.place(session, box.with_name(f"{box.name}-listed"))
        for other in session.parent.glob("*.jsonl"):
            if other != session:
                shutil.copyfile(other, copy.parent / other.name)
                os.utime(copy.parent / other.name, (1_600_000_000, 1_600_000_000))
        size = copy.stat().st_size
        with Messages([OK]) as mock:
            self._run(copy, mock.port, PROMPT, 0, ["--continue"])
        return copy.stat().st_size > size

    def turns(self, number: int) -> tuple[tuple[str, ...], tuple[Reply, ...]]:
        start, notes = number * 10_000, f"{PROJECT}notes-{number}.txt"
        count = f'for n in $(seq {start} {start + 600}); do echo "record $n: total $((n * 7)) balanced"; done'
        text = "\n".join(f"{line}: what was found in step {number}.{line}" for line in range(300))

        def call(name: str, tool: str, **arguments: str) -> Call:
            return Call(f"toolu_{name}_{number}_{uuid4().hex[:8]}", tool, arguments)

        replies = (
            Reply(
                f"Listing the records of step {number}.",
                f"First look at step {number}.",
                (call("list", "Bash", command=count), call("notes", "Write", file_path=notes, content=text)),
            ),
            Reply(
                "",
                "Read it back.",
                (call("read", "Read", file_path=notes), call("gone", "Read", file_path=f"{PROJECT}nothing-{number}")),
            ),
            Reply(f"Step {number} is written down: 601 records balance.", "Done with this."),
            Reply("Reading the notes again.", "", (call("again", "Bash", command=f"cat notes-{number}.txt"),)),
            Reply(f"The notes of step {number} hold 300 lines.", "Nothing more."),
        )
        told = " ".join(f"Detail {detail} of step {number} must be kept." for detail in range(40))
        return (
            f"List the records of step {number} and keep notes. {told}",
            f"What do the notes {number} say?",
        ), replies

    def _run(self, session: Path, port: int, prompt: str, window: int, how: Sequence[str] = ()) -> str:
        """One prompt, answered; the client's own words where it failed."""
        box = _box(session)
        arguments = ["-p", prompt, "--output-format", "json", "--allowedTools", TOOLS]
        arguments += how or ["--resume", session.stem]
        if window:
            arguments += ["--autocompact", str(window)]
        with open(box / "stdout", "wb") as out, open(box / "stderr", "wb") as errors:
            child = subprocess.Popen(
                [str(self._program), *arguments],
                cwd=box / "project",
                env=_environment(box, port) | ({} if window or prompt == "/compact" else NO_COMPACTION),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=errors,
                start_new_session=True,
            )
        in_time = ended(child)
        return "" if in_time and child.returncode == 0 else _last_words(box, child.returncode if in_time else None)


def _environment(box: Path, port: int) -> dict[str, str]:
    off = ("DISABLE_TELEMETRY", "DISABLE_AUTOUPDATER", "DISABLE_ERROR_REPORTING")
    return {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": str(box / "home"),
        "TMPDIR": str(box / "tmp"),
        "CLAUDE_CODE_TMPDIR": str(box / "tmp"),
        "CLAUDE_CONFIG_DIR": str(box / "home" / ".claude"),
        "ANTHROPIC_API_KEY": "not-a-key",
        "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{port}",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "TERM": "dumb",
        "LANG": "C.UTF-8",
        **dict.fromkeys(off, "1"),
    }


def _box(session: Path) -> Path:
    """The folder that a session was placed in: it lies in `home/.claude/projects/PROJECT/`."""
    return session.parents[4]


def _main_file(folder: Path) -> Path:
    """The session to resume in a folder like one of the client's projects; a file `resume` may name it."""
    named = folder / "resume"
    if named.is_file():
        return folder / f"{named.read_text().strip()}.jsonl"
    return next(path for path in sorted(folder.glob("*.jsonl")) if not path.name.startswith("agent-"))


def _identity(main: Path) -> str:
    """The session's id: its file's name, else the one on its lines."""
    named = [main.stem, *(str(line.get("sessionId")) for line in lines_of(main))]
    return next((one for one in named if UUID.fullmatch(one)), "11111111-2222-4333-8444-555555555555")


def _placed(reply: Reply, box: Path) -> Reply:
    """The reply with calls that name files in the client's own folder."""
    project = f"{box / 'project'}/"
    calls = tuple(
        replace(call, arguments={name: value.replace(PROJECT, project) for name, value in call.arguments.items()})
        for call in reply.calls
    )
    return replace(reply, calls=calls)


def _asks(request: Request, prompt: str) -> bool:
    return bool(request.body.get("tools")) and prompt in texts_of(request)


def _last_words(box: Path, code: int | None) -> str:
    if code is None:
        return f"the client hangs: it did not end within {PATIENCE:g} s"
    said = (box / "stderr").read_text("utf-8", "replace").strip()
    try:
        result = json.loads((box / "stdout").read_text("utf-8", "replace").strip().split("\n")[-1])
        said = said or str(result.get("result") or result.get("errors"))
    except (ValueError, AttributeError):
        pass
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return (lines or [f"exit status {code}, no message"])[-1].replace(f"{box}/", "")[:300]
