"""A plain session with a patch for it, for the tests of commits; run as a program it commits and dies where told."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from core.agents.protocol import Stamp
from core.commit import Facts, FileState, Journal, Receipt, Request, Span, commit, recover, undo
from core.commit.held import Held
from core.commit.request import nobody, nowhere
from core.files import Disk, Overlay, fingerprint
from core.patch import Append, Create, Kept, Patch, Replace

ROOT = Path(__file__).parents[2]
OLD = b'{"type":"session","id":"s"}\n' + b"".join(b'{"n":%d,"text":"line"}\n' % n for n in range(40))
DATA = b'{"type":"compaction","summary":"SECRET WORDS"}\n{"type":"context_edit"}\n'
NEW = OLD[:27] + DATA + OLD[200:]
"""What the session is replaced with."""
LONG_AGO = 1_700_000_000_123_456_789
"""A time of change, nanoseconds."""


def digest_of(path: Path) -> str:
    """Stands for an agent's reader: the digest of what it reads afresh from the disk."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


@dataclass
class Case:
    """One session in `folder / "sessions"`, the state folder beside it, and a patch made for the session."""

    folder: Path
    kind: str = "append"
    number: int = 0
    known_running: Callable[[Path], str | None] = nobody
    agent_stopped: bool = False
    reread: Callable[[Path], str] = digest_of
    named: Path | None = None
    """Another path to the session, such as a symbolic link."""
    made_for: str = field(default="")
    locks: tuple[Path, ...] = ()

    @property
    def path(self) -> Path:
        return self.folder / "sessions" / "one.jsonl"

    @property
    def result(self) -> Path:
        apart = self.path.parent / "own" / "fork.jsonl"
        return {"fork": self.path.with_name("fork.jsonl"), "fork apart": apart}.get(self.kind, self.path)

    @property
    def state(self) -> Path:
        return self.folder / "state"

    def make(self, old: bytes = OLD) -> "Case":
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_bytes(old)
        self.path.chmod(0o640)
        os.utime(self.path, ns=(LONG_AGO, LONG_AGO))
        return self

    def request(self) -> Request:
        shown = self.named or self.path
        if self.kind == "append":
            patch = Patch((Append(shown, shown.stat().st_size, DATA),), shown, "append")
        elif self.kind == "replace":
            size = shown.stat().st_size
            pieces = (Kept(0, min(27, size)), DATA, Kept(min(200, size), size))
            patch = Patch((Replace(shown, size, pieces),), shown, "replace", self.locks)
        else:
            patch = Patch((Create(self.result, OLD + DATA),), self.result, "fork")
        seen = Overlay(Disk(), patch)
        whole = seen.read(patch.session, 0, seen.size(patch.session))
        return Request(
            patch=patch,
            session=shown,
            fingerprint=fingerprint(Disk(), shown),
            approved=hashlib.sha256(whole).hexdigest(),
            reread=self.reread,
            facts=Facts("pi", "handoff", Span("a", "b", {"drop": 2}), {"value": 9}, {"value": 3}, "offline"),
            known_running=self.known_running,
            agent_stopped=self.agent_stopped,
        )

    def stamp(self) -> Stamp:
        def new_id() -> str:
            self.number += 1
            return hashlib.sha256(f"{os.getpid()} {self.number} {time.time_ns()}".encode()).hexdigest()[:32]

        return Stamp(time.time(), new_id)

    def commit(self, at: Callable[[str], None] = nowhere, request: Request | None = None) -> Receipt:
        with Journal(self.state) as journal:
            return commit(request or self.request(), journal, self.stamp(), at)

    def undo(self, at: Callable[[str], None] = nowhere) -> Receipt:
        with Journal(self.state) as journal:
            return undo(self.result, journal, time.time(), self.known_running, at)

    def recover(self) -> list[str]:
        with Journal(self.state) as journal:
            return [found.outcome for found in recover(journal, now=time.time())]

    def receipts(self) -> tuple[Receipt, ...]:
        with Journal(self.state) as journal:
            return journal.receipts()

    def states(self) -> list[str]:
        return [receipt.state for receipt in self.receipts()]

    def look(self) -> tuple[FileState, list[str]]:
        """All that a refused or undone commit must leave unchanged: bytes, mode, time, inode, and the folder."""
        with Held(self.path) as held:
            state = held.observe()
        # An undone replacement is a copy of the old file: all but the inode is the same.
        return replace(state, inode=0) if self.kind == "replace" else state, self.names()

    def names(self) -> list[str]:
        return sorted(path.name for path in self.path.parent.iterdir())

    def pending(self) -> list[str]:
        folder = self.state / "pending"
        return sorted(path.name for path in folder.iterdir()) if folder.exists() else []

    def new(self) -> bool:
        """Whether the result is whole and approved."""
        wanted = NEW if self.kind == "replace" else OLD + DATA
        return self.result.exists() and self.result.read_bytes() == wanted and self.names() == self.all_names()

    def all_names(self) -> list[str]:
        beside = self.result.parent if self.kind == "fork apart" else self.result
        return sorted({"one.jsonl", beside.name})


class Child:
    """Another process that commits and undoes; each time a copy of it does the work and kills itself where told."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, __file__],
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def begin(self, case: Case, action: str, step: str = "", short: int = -1) -> None:
        """Make the proposal, and wait for `go`. `short`: so many bytes at most are taken by each write (-1: all)."""
        assert self._process.stdin is not None
        order = [str(case.folder), case.kind, action, step, short]
        print(json.dumps(order), file=self._process.stdin, flush=True)
        assert self._answer() == "ready"

    def go(self) -> None:
        assert self._process.stdin is not None
        print("go", file=self._process.stdin, flush=True)

    def end(self) -> str:
        """The receipt's state, the message of the error, or `killed`."""
        return self._answer()

    def kill(self, case: Case, action: str, step: str, short: int = -1) -> None:
        """Carry out `action` and be killed just before `step`."""
        self.begin(case, action, step, short)
        self.go()
        assert self.end() == "killed", step

    def close(self) -> None:
        self._process.communicate(timeout=30)

    def _answer(self) -> str:
        assert self._process.stdout is not None
        return str(json.loads(self._process.stdout.readline()))


def child_process() -> Iterator[Child]:
    """The body of a fixture."""
    child = Child()
    yield child
    child.close()


def main() -> None:
    """Carry out the orders that come on standard input, each in a copy of this process."""
    for line in sys.stdin:
        order = json.loads(line)
        copy = os.fork()
        if copy == 0:
            obey(*order)
            os._exit(0)
        _, status = os.waitpid(copy, 0)
        if os.WIFSIGNALED(status):
            answer("killed")


def obey(folder: str, kind: str, action: str, deadly: str, short: int) -> None:
    def at(step: str) -> None:
        if step == deadly:
            os.kill(os.getpid(), signal.SIGKILL)

    case = Case(Path(folder), kind)
    request = case.request() if action == "commit" else None
    answer("ready")
    sys.stdin.readline()
    if short >= 0:
        whole = os.write
        os.write = lambda descriptor, data: whole(descriptor, bytes(data)[:short])
    try:
        answer((case.commit(at, request) if action == "commit" else case.undo(at)).state)
    except Exception as error:
        answer(str(error))


def answer(text: str) -> None:
    print(json.dumps(text), flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
