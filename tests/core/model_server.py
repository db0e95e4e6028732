"""A real HTTP server on the loopback interface that answers as a provider would, well or badly, as a test wants."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KEY = "sk-test-0123456789abcdef"

GOOD = """# Handoff (Seamline)

## Decisions and why
- Use one adapter for old and new calls, so that callers need not change [a1]

## Done
- Moved the parser; its tests pass [b2]

## Findings, verified
- The timeout is 30 s in settings.py line 12 [b2]

## Findings, unverified (guesses)
- The cache may be stale (unverified)

## Failed attempts and why (do not repeat)
- Patched the client in place: the retry loop swallowed the error [c3]

## To do
- Run the whole test suite

## Open questions
(none recorded)
"""

Behave = Callable[[BaseHTTPRequestHandler, dict[str, Any]], None]


class ModelServer:
    """What the server was asked, and how it behaves at each call; the last behaviour repeats."""

    def __init__(self, behaviours: Sequence[Behave]) -> None:
        self.behaviours = list(behaviours)
        self.requests: list[dict[str, Any]] = []
        self.paths: list[str] = []
        self.keys: list[str] = []
        self.released = threading.Event()
        self.url = ""

    def prompt(self, number: int) -> str:
        """The user text of one request."""
        asked = self.requests[number]
        return asked["input"] if "input" in asked else asked["messages"][-1]["content"]


@contextmanager
def served(*behaviours: Behave) -> Iterator[ModelServer]:
    """A server with these behaviours, on a free port."""
    state = ModelServer(behaviours)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            number = len(state.requests)
            state.requests.append(body)
            state.paths.append(self.path)
            state.keys.append(self.headers["Authorization"])
            state.behaviours[min(number, len(state.behaviours) - 1)](self, body)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    state.url = f"http://127.0.0.1:{server.server_port}/v1"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield state
    finally:
        state.released.set()
        server.shutdown()
        server.server_close()


def _start(handler: BaseHTTPRequestHandler, status: int, kind: str) -> None:
    handler.send_response(status)
    handler.send_header("Content-Type", kind)
    handler.send_header("Connection", "close")
    handler.end_headers()
    handler.close_connection = True


def _event(handler: BaseHTTPRequestHandler, value: Any, name: str = "") -> None:
    data = value if isinstance(value, str) else json.dumps(value)
    handler.wfile.write((f"event: {name}\n" if name else "").encode() + f"data: {data}\n\n".encode())
    handler.wfile.flush()


def _chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "m", "choices": [choice]}


def says(text: str, finish: str = "stop") -> Behave:
    """Streams this text over either wire."""

    def behave(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        _start(handler, 200, "text/event-stream")
        if handler.path.endswith("/responses"):
            _respond(handler, text, finish)
            return
        for at in range(0, len(text), 97):
            _event(handler, _chunk({"content": text[at : at + 97]}))
        _event(handler, _chunk({}, finish))
        usage = {"prompt_tokens": 900, "completion_tokens": 80, "total_tokens": 980}
        _event(handler, _chunk({}) | {"choices": [], "usage": usage})
        _event(handler, "[DONE]")

    return behave


def _respond(handler: BaseHTTPRequestHandler, text: str, finish: str) -> None:
    for at in range(0, len(text), 97):
        delta = {"type": "response.output_text.delta", "delta": text[at : at + 97], "item_id": "i", "output_index": 0}
        _event(handler, delta | {"content_index": 0, "sequence_number": at, "logprobs": []}, delta["type"])
    message = {"type": "message", "id": "i", "role": "assistant", "status": "completed", "content": []}
    usage = {"input_tokens": 900, "output_tokens": 80, "total_tokens": 980}
    response = {"id": "r", "object": "response", "created_at": 0, "model": "m", "output": [message], "usage": usage}
    cut = finish == "length"
    response["incomplete_details"] = {"reason": "max_output_tokens"} if cut else None
    kind = "response.incomplete" if cut else "response.completed"
    _event(handler, {"type": kind, "response": response, "sequence_number": 10_000}, kind)


def calls_a_tool(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
    """Answers with a tool call and no text."""
    _start(handler, 200, "text/event-stream")
    call = {"index": 0, "id": "t", "type": "function", "function": {"name": "bash", "arguments": "{}"}}
    _event(handler, _chunk({"tool_calls": [call]}))
    _event(handler, _chunk({}, "tool_calls"))
    _event(handler, "[DONE]")


def breaks_off(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
    """Begins to answer and closes the connection."""
    _start(handler, 200, "text/event-stream")
    _event(handler, _chunk({"content": "# Handoff"}))


def fails(status: int, message: str, code: str = "") -> Behave:
    """Refuses with this status."""

    def behave(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        _start(handler, status, "application/json")
        handler.wfile.write(json.dumps({"error": {"message": message, "code": code, "type": "x"}}).encode())

    return behave


def hangs(state: list[ModelServer]) -> Behave:
    """Begins to answer, then nothing more comes until the test is over."""

    def behave(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        _start(handler, 200, "text/event-stream")
        _event(handler, _chunk({"content": "# Handoff"}))
        state[0].released.wait(20)

    return behave
