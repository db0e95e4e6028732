"""Another process that commits: as a program it makes a plan, says its process number, and waits for the word to go.

Each commit is made by a copy of it (a fork), so that one start serves hundreds of kills.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[2]


class Child:
    """The process, from the side of the tests."""

    def __init__(self, *wrapper: str) -> None:
        self._process = subprocess.Popen(
            [*wrapper, sys.executable, "-m", "tests.faults.child"],
            cwd=ROOT,
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def begin(self, path: Path, form: str, state: Path, writer: str = "") -> int:
        """Make the plan; the number of the process that waits to commit it.

        `writer`: a named pipe into which it says, once the check for a running agent is behind it, that an agent may
        begin to write.
        """
        self._say([str(path), form, str(state), writer])
        return int(self._answer())

    def go(self) -> None:
        self._say("go")

    def end(self) -> str:
        """`done`, the message of a refusal, or `killed`."""
        return str(self._answer())

    def close(self) -> None:
        self._process.communicate(timeout=60)

    def _say(self, value: object) -> None:
        assert self._process.stdin is not None
        print(json.dumps(value), file=self._process.stdin, flush=True)

    def _answer(self) -> str | int:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        return json.loads(line) if line else "the child is gone"


def main() -> None:
    warm_up()
    for line in sys.stdin:
        copy = os.fork()
        if copy == 0:
            obey(*json.loads(line))
            os._exit(0)
        _, status = os.waitpid(copy, 0)
        if status:
            answer("killed" if os.WIFSIGNALED(status) else "died of an error that nobody caught")


def warm_up() -> None:
    """Load what a plan and a commit need, the vocabulary too, so that each copy begins with it."""
    from core.approving import request_for
    from core.commit import Journal, commit
    from tests.faults.sessions import FORMS, make, plan_for, stamp

    with tempfile.TemporaryDirectory() as name:
        for form in FORMS:
            folder = Path(name) / form
            request = request_for(plan_for(make(folder, form), form), True)
            with Journal(folder / "state") as journal:
                commit(request, journal, stamp())


def obey(name: str, form: str, state: str, writer: str) -> None:
    from core.approving import request_for
    from core.commit import Journal, commit
    from tests.faults.sessions import plan_for, stamp

    os.environ["SEAMLINE_STATE_DIR"] = state
    reached: list[str] = []
    try:
        plan = plan_for(Path(name), form)
        Journal().close()
    except Exception as error:
        answer(-1)
        sys.stdin.readline()
        answer(str(error))
        return
    answer(os.getpid())
    sys.stdin.readline()
    try:
        with Journal() as journal:
            ended = commit(request_for(plan, True), journal, stamp(), told(reached, writer)).state
    except Exception as error:
        ended = str(error)
    if writer:
        ended = ("reached " if "write" in reached else "stopped ") + ended
    answer(ended)


def told(reached: list[str], writer: str) -> Callable[[str], None]:
    def at(step: str) -> None:
        reached.append(step)
        if step == "start" and writer:
            with open(writer, "wb", buffering=0) as pipe:
                pipe.write(b"go\n")
            time.sleep(random.uniform(0, 0.02))  # so that its first line comes at any moment

    return at


def answer(value: str | int) -> None:
    line = json.dumps(value).encode() + b"\n"  # in one piece, as a kill may come between two
    try:
        os.write(1, line)
    except OSError:  # the fault was meant for a file, and is over now
        os.write(1, line)


if __name__ == "__main__":
    main()
