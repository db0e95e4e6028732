"""Codex's app server, asked over its standard streams as an editor asks it."""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

from tests.clients.process import kill

PATIENCE = 60.0
"""Seconds that the server has for all that it is asked."""


class Refused(Exception):
    """The server answered with an error, or not at all."""


class Server:
    """`with Server(program, environment, folder) as server:` … `server.ask("thread/list", {})`."""

    def __init__(self, program: Path, environment: dict[str, str], folder: Path, errors: Path) -> None:
        with open(errors, "wb") as log:
            self._child = subprocess.Popen(
                [str(program), "app-server"],
                cwd=folder,
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                start_new_session=True,
            )
        self._limit = threading.Timer(PATIENCE, kill, (self._child,))
        self._number = 0

    def __enter__(self) -> Server:
        self._limit.start()
        self.ask("initialize", {"clientInfo": {"name": "seamline-tests", "version": "0"}})
        self._send({"method": "initialized"})
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        assert self._child.stdin is not None and self._child.stdout is not None
        self._child.stdin.close()
        try:
            self._child.wait(10)
        except subprocess.TimeoutExpired:
            kill(self._child)
        self._limit.cancel()
        self._child.stdout.close()

    def ask(self, method: str, parameters: dict[str, Any]) -> dict[str, Any]:
        """The result of a request. Raises Refused."""
        self._number += 1
        self._send({"id": self._number, "method": method, "params": parameters})
        for said in self._messages():
            if said.get("id") == self._number:
                if "error" in said:
                    raise Refused(f"{method}: {said['error'].get('message', said['error'])}")
                return said["result"]
        raise Refused(f"{method}: no answer")

    def await_notice(self, *methods: str) -> dict[str, Any]:
        """The next notification of one of these kinds. Raises Refused where the server ends before it."""
        for said in self._messages():
            if said.get("method") in methods:
                return said
        raise Refused(f"the server ended before it said {' or '.join(methods)}")

    def _send(self, message: dict[str, Any]) -> None:
        assert self._child.stdin is not None
        try:
            self._child.stdin.write(json.dumps(message).encode() + b"\n")
            self._child.stdin.flush()
        except BrokenPipeError as error:
            raise Refused("the server has ended") from error

    def _messages(self) -> Iterator[dict[str, Any]]:
        assert self._child.stdout is not None
        for line in self._child.stdout:
            said = json.loads(line)
            if isinstance(said, dict):
                yield said
