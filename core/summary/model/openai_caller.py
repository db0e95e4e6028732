"""Calls any endpoint that speaks OpenAI's chat completions or responses, through the `openai` package."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from core.errors import SeamlineError
from core.summary.model.calling import Answer, Call, CallFailed, Finish, Stopped

if TYPE_CHECKING:
    from openai import OpenAI

Wire = Literal["chat", "responses"]

IDLE = 120.0
"""Seconds without a sign of life after which a call counts as failed."""

CONNECT = 15.0
"""Seconds to reach the endpoint."""

TOO_LONG = (
    "context_length_exceeded", "context length", "context window", "prompt is too long", "too long for this model",
    "maximum prompt length", "input is too long", "exceeds the limit", "too many tokens", "string too long",
)  # fmt: skip
"""How providers say that a request does not fit."""

OWN_LIMIT = "https://api.openai.com"
"""Only OpenAI itself wants `max_completion_tokens`; others know `max_tokens`."""


class OpenAICaller:
    """One endpoint and model. The key goes to the endpoint and nowhere else: it is cut out of every message."""

    def __init__(self, model: str, base_url: str | None, key: str, wire: Wire = "chat", idle: float = IDLE) -> None:
        self.name = model
        self._base_url = base_url
        self._key = key
        self._wire: Wire = wire
        self._idle = idle
        self._stream: Any = None
        self._stopped = False

    def stop(self) -> None:
        """End the running call, from another thread; it raises Stopped."""
        self._stopped = True
        stream = self._stream
        if stream is not None:
            _shut(stream)

    def complete(self, call: Call, on_text: Callable[[str], None]) -> Answer:
        """The answer, streamed. Raises CallFailed, Stopped."""
        if self._stopped:
            raise Stopped("stopped: nothing was changed")
        try:
            with self._client() as client:
                if self._wire == "responses":
                    return self._responses(client, call, on_text)
                return self._chat(client, call, on_text)
        except Exception as error:  # the transport below `openai` raises errors of its own while an answer streams
            if self._stopped:
                raise Stopped("stopped: nothing was changed") from None
            raise self._failed(error) from None
        finally:
            self._stream = None

    def _client(self) -> OpenAI:
        import openai

        timeout = openai.Timeout(self._idle, connect=CONNECT)
        return openai.OpenAI(base_url=self._base_url, api_key=self._key, max_retries=0, timeout=timeout)

    def _chat(self, client: OpenAI, call: Call, on_text: Callable[[str], None]) -> Answer:
        own = str(client.base_url).startswith(OWN_LIMIT)
        limit: dict[str, Any] = {"max_completion_tokens" if own else "max_tokens": call.max_output}
        messages: Any = [{"role": "system", "content": call.system}, {"role": "user", "content": call.prompt}]
        self._stream = client.chat.completions.create(
            model=self.name, messages=messages, stream=True, stream_options={"include_usage": True}, **limit
        )
        parts: list[str] = []
        finish, called, usage = None, False, None
        for chunk in self._stream:
            usage = chunk.usage or usage
            for choice in chunk.choices:
                called = called or bool(choice.delta.tool_calls)
                finish = choice.finish_reason or finish
                if choice.delta.content:
                    parts.append(choice.delta.content)
                    on_text(choice.delta.content)
        if finish is None:
            raise CallFailed("temporary", "the answer broke off")
        ended = _finish("tool_call" if called and not parts else finish)
        reads, writes = (usage.prompt_tokens, usage.completion_tokens) if usage else (None, None)
        return Answer("".join(parts), ended, reads, writes)

    def _responses(self, client: OpenAI, call: Call, on_text: Callable[[str], None]) -> Answer:
        self._stream = client.responses.create(
            model=self.name,
            instructions=call.system,
            input=call.prompt,
            max_output_tokens=call.max_output,
            store=False,
            stream=True,
        )
        parts: list[str] = []
        for event in self._stream:
            if event.type == "response.output_text.delta":
                parts.append(event.delta)
                on_text(event.delta)
            elif event.type in ("response.completed", "response.incomplete"):
                called = any(item.type != "message" and item.type.endswith("_call") for item in event.response.output)
                reason = event.response.incomplete_details.reason if event.response.incomplete_details else None
                usage = event.response.usage
                finish = "length" if reason == "max_output_tokens" else "stop" if reason is None else "other"
                reads, writes = (usage.input_tokens, usage.output_tokens) if usage else (None, None)
                return Answer("".join(parts), "tool_call" if called and not parts else finish, reads, writes)
            elif event.type in ("response.failed", "error"):
                raise self._told(str(getattr(event, "message", "") or _error_of(event)))
        raise CallFailed("temporary", "the answer broke off")

    def _told(self, message: str) -> CallFailed:
        return CallFailed("too_long" if _says_too_long(message) else "temporary", self._clean(message))

    def _failed(self, error: Exception) -> SeamlineError:
        """What went wrong in words, and whether trying again can help."""
        import openai

        words = self._clean(str(error))
        if isinstance(error, CallFailed):
            return error
        if _says_too_long(words):
            return CallFailed("too_long", words)
        if isinstance(error, openai.AuthenticationError | openai.PermissionDeniedError):
            return CallFailed("refused", f"the key was refused ({words}): set OPENAI_API_KEY to a valid one")
        if isinstance(error, openai.RateLimitError):
            spent = "insufficient_quota" in words or "billing" in words
            return CallFailed("refused" if spent else "temporary", words)
        if isinstance(error, openai.APIStatusError):
            again = error.status_code in (408, 409, 425) or error.status_code >= 500
            return CallFailed("temporary" if again else "refused", words)
        if isinstance(error, openai.APITimeoutError):
            return CallFailed("temporary", f"no sign of life for {self._idle:.0f} s")
        return CallFailed("temporary", words or type(error).__name__)

    def _clean(self, message: str) -> str:
        """A provider's words in one line, without the key."""
        if len(self._key) >= 4:
            message = message.replace(self._key, "(key)")
        return " ".join(message.split())[:300]


def _finish(reason: str) -> Finish:
    if reason in ("tool_calls", "function_call", "tool_call"):
        return "tool_call"
    return "stop" if reason == "stop" else "length" if reason == "length" else "other"


def _says_too_long(message: str) -> bool:
    lowered = message.lower()
    return any(words in lowered for words in TOO_LONG)


def _error_of(event: Any) -> str:
    error = getattr(getattr(event, "response", None), "error", None)
    return str(getattr(error, "message", "") or "the provider failed")


def _shut(stream: Any) -> None:
    """Close the connection under a reader that may be waiting on it."""
    try:
        network = stream.response.extensions.get("network_stream")
        socket = network.get_extra_info("socket") if network is not None else None
        if socket is not None:
            import socket as sockets

            socket.shutdown(sockets.SHUT_RDWR)
            return
        stream.close()
    except (OSError, RuntimeError, AttributeError):
        return
