"""A model server on this machine that speaks the three wires that most clients know.

It remembers every request and answers from a list of replies; the usage it reports grows with the request, as a
provider's would.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.clients.client import Reply, Request

BYTES_PER_TOKEN = 4
"""The mock's own rate for the usage it reports."""


class Mock:
    """`with Mock([Reply("hello")]) as mock:` … `mock.port`, `mock.requests`. The last reply repeats."""

    def __init__(self, replies: Sequence[Reply]) -> None:
        self.replies = tuple(replies)
        self.requests: list[Request] = []
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_of(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def port(self) -> int:
        return self._server.server_address[1]

    def __enter__(self) -> Mock:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, path: str, body: bytes) -> bytes | None:
        """The events that answer a request, or None for a path that is no wire."""
        stream = next((make for end, make in STREAMS.items() if path.endswith(end)), None)
        if stream is None:
            return None
        with self._lock:
            number = len(self.requests)
            self.requests.append(Request(path, json.loads(body)))
        reply = self.replies[min(number, len(self.replies) - 1)]
        return stream(number, reply, len(body) // BYTES_PER_TOKEN).encode()


def _handler_of(mock: Mock) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing is printed: the harness prints a table."""

        def do_GET(self) -> None:
            if self.path.split("?")[0].endswith("/models"):
                self._send(200, "application/json", b'{"models":[],"object":"list","data":[]}')
                return
            self._send(404, "application/json", b'{"error":{"message":"not here"}}')

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            events = mock.answer(self.path.split("?")[0], body)
            if events is None:
                self._send(404, "application/json", b'{"error":{"message":"not here"}}')
            else:
                self._send(200, "text/event-stream", events)

        def _send(self, status: int, kind: str, data: bytes) -> None:
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(data)))
            try:
                self.end_headers()
                self.wfile.write(data)
            except ConnectionError:  # the client gave up
                self.close_connection = True

    return Handler


def _tokens(text: str) -> int:
    return max(1, len(text.encode()) // BYTES_PER_TOKEN)


def _output(reply: Reply) -> int:
    calls = sum(_tokens(json.dumps(call.arguments)) for call in reply.calls)
    return _tokens(reply.text) + _tokens(reply.thinking) + calls


def _completions(number: int, reply: Reply, tokens: int) -> str:
    deltas: list[dict[str, Any]] = [{"role": "assistant"}]
    if reply.thinking:
        deltas.append({"reasoning_content": reply.thinking})
    if reply.text:
        deltas.append({"content": reply.text})
    for index, call in enumerate(reply.calls):
        function = {"name": call.name, "arguments": json.dumps(call.arguments, ensure_ascii=False)}
        deltas.append({"tool_calls": [{"index": index, "id": call.id, "type": "function", "function": function}]})
    chunk: dict[str, Any] = {"id": f"mock-{number}", "object": "chat.completion.chunk", "created": 1, "model": "mock"}
    ending = "tool_calls" if reply.calls else "stop"
    output = _output(reply)
    chunks = [chunk | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    chunks.append(chunk | {"choices": [{"index": 0, "delta": {}, "finish_reason": ending}]})
    usage = {"prompt_tokens": tokens, "completion_tokens": output, "total_tokens": tokens + output}
    chunks.append(chunk | {"choices": [], "usage": usage})
    return "".join(f"data: {json.dumps(one)}\n\n" for one in chunks) + "data: [DONE]\n\n"


def _events(pairs: Sequence[tuple[str, dict[str, Any]]]) -> str:
    return "".join(f"event: {name}\ndata: {json.dumps(data | {'type': name})}\n\n" for name, data in pairs)


def _messages(number: int, reply: Reply, tokens: int) -> str:
    blocks: list[tuple[dict[str, Any], list[dict[str, Any]]]] = []
    if reply.thinking:
        deltas = [
            {"type": "thinking_delta", "thinking": reply.thinking},
            {"type": "signature_delta", "signature": f"mock-signature-{number}"},
        ]
        blocks.append(({"type": "thinking", "thinking": "", "signature": ""}, deltas))
    if reply.text:
        blocks.append(({"type": "text", "text": ""}, [{"type": "text_delta", "text": reply.text}]))
    for call in reply.calls:
        start = {"type": "tool_use", "id": call.id, "name": call.name, "input": {}}
        arguments = json.dumps(call.arguments, ensure_ascii=False)
        blocks.append((start, [{"type": "input_json_delta", "partial_json": arguments}]))
    message = {"id": f"msg_mock_{number}", "type": "message", "role": "assistant", "model": "mock", "content": []}
    message |= {"stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": tokens, "output_tokens": 0}}
    pairs: list[tuple[str, dict[str, Any]]] = [("message_start", {"message": message})]
    for index, (start, deltas) in enumerate(blocks):
        pairs.append(("content_block_start", {"index": index, "content_block": start}))
        pairs += [("content_block_delta", {"index": index, "delta": delta}) for delta in deltas]
        pairs.append(("content_block_stop", {"index": index}))
    ending = {"stop_reason": "tool_use" if reply.calls else "end_turn", "stop_sequence": None}
    usage = {"input_tokens": tokens, "output_tokens": _output(reply)}
    pairs += [("message_delta", {"delta": ending, "usage": usage}), ("message_stop", {})]
    return _events(pairs)


def _responses(number: int, reply: Reply, tokens: int) -> str:
    items: list[dict[str, Any]] = []
    if reply.thinking:
        summary = [{"type": "summary_text", "text": reply.thinking}]
        blob = f"mock-blob-{number}"
        items.append({"type": "reasoning", "id": f"rs_mock_{number}", "encrypted_content": blob, "summary": summary})
    if reply.text:
        content = [{"type": "output_text", "text": reply.text, "annotations": []}]
        item = {"type": "message", "id": f"msg_mock_{number}", "role": "assistant", "status": "completed"}
        items.append(item | {"content": content})
    for index, call in enumerate(reply.calls):
        arguments = json.dumps(call.arguments, ensure_ascii=False)
        item = {"type": "function_call", "id": f"fc_mock_{number}_{index}", "call_id": call.id, "name": call.name}
        items.append(item | {"status": "completed", "arguments": arguments})
    output = _output(reply)
    usage = {"input_tokens": tokens, "output_tokens": output, "total_tokens": tokens + output}
    usage |= {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    whole: dict[str, Any] = {"id": f"resp_mock_{number}", "object": "response", "created_at": 1, "model": "mock"}
    pairs: list[tuple[str, dict[str, Any]]] = [
        ("response.created", {"response": whole | {"output": [], "status": "in_progress"}})
    ]
    for index, item in enumerate(items):
        pairs += _response_item(index, item)
    pairs.append(("response.completed", {"response": whole | {"output": items, "status": "completed", "usage": usage}}))
    return _events(pairs)


def _response_item(index: int, item: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    empty = {"reasoning": {"summary": []}, "message": {"content": []}, "function_call": {"arguments": ""}}
    at = {"output_index": index, "item_id": item["id"]}
    pairs: list[tuple[str, dict[str, Any]]] = [
        ("response.output_item.added", {"output_index": index, "item": item | empty[item["type"]]})
    ]
    if item["type"] == "message":
        part = {"type": "output_text", "text": "", "annotations": []}
        text = item["content"][0]["text"]
        pairs.append(("response.content_part.added", at | {"content_index": 0, "part": part}))
        pairs.append(("response.output_text.delta", at | {"content_index": 0, "delta": text}))
    elif item["type"] == "function_call":
        pairs.append(("response.function_call_arguments.delta", at | {"delta": item["arguments"]}))
        pairs.append(("response.function_call_arguments.done", at | {"arguments": item["arguments"]}))
    return [*pairs, ("response.output_item.done", {"output_index": index, "item": item})]


STREAMS: dict[str, Callable[[int, Reply, int], str]] = {
    "/chat/completions": _completions,
    "/messages": _messages,
    "/responses": _responses,
}
