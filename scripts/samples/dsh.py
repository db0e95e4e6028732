"""Writes a story as a log of dsh 0.1.0-rc.8: numbered events in zstd frames, one frame an append."""

from __future__ import annotations

import json
from typing import Any

from scripts.samples.dsh_stream import streamed
from scripts.samples.measure import about
from scripts.samples.recording import Recording, numbered, shell_output
from scripts.samples.story import Action, Reply, Story

MODEL = {"provider": "deepseek-official", "model": "deepseek-v4-flash"}
SYSTEM = "You help a programmer from the terminal. Say what you are about to do, do it, report what came of it."
FRAME = 64
"""Lines in one frame."""
STATUS = {"done": "completed", "doing": "in_progress", "open": "pending"}


def write(story: Story) -> tuple[dict[str, bytes], str]:
    """The files of the session by their paths, and which of them is the session's own."""
    session = _Session(story)
    session.write()
    name = f"{story.cwd.strip('/').replace('/', '-')}/{session.identity}/session.jsonl.zstd"
    return {name: session.compressed()}, name


class _Session(Recording):
    agent = "dsh"

    def __init__(self, story: Story) -> None:
        super().__init__(story)
        self.identity = self.uuid("session")
        self.turn = 0
        self.step = 0
        self.is_new = False
        """Whether the step has begun with a prompt and waits for the reply."""
        self.cached = 0
        self.seq = 0
        """The number of the next event: a packed row holds several."""

    def compressed(self) -> bytes:
        """The lines in frames, each of which can be read by itself; the header has one of its own."""
        import zstandard

        whole = self.data().splitlines(keepends=True)
        compressor = zstandard.ZstdCompressor(level=9)
        parts = [whole[:1], *(whole[at : at + FRAME] for at in range(1, len(whole), FRAME))]
        return b"".join(compressor.compress(b"".join(part)) for part in parts)

    def log(self, kind: str, data: dict[str, Any], **more: Any) -> int:
        """Log one event; its number."""
        number = self.seq
        self.seq += 1
        event = {"type": kind, "seq": number, "time": self.milliseconds, "data": data}
        self.line(event | more)
        return number

    def head(self) -> None:
        created = {"createdAt": self.milliseconds, "delegationDepth": 0, "cwd": self.story.cwd}
        self.line({"type": "session", "version": 0, "id": self.identity, **created})
        self.log("session/end-seed", {})
        self.log("permission/preset", {"preset": "danger-full-access"})
        self.log("sandbox/mode", {"mode": "danger-full-access"})
        self.log("approval/policy", {"policy": "never"})

    def _request(self) -> None:
        """What the client sends with every request, logged once."""
        config = MODEL | {"maxTokens": 8_192, "reasoningEffort": "high"}
        self.log("request/header", {"header": {"config": config, "system": SYSTEM}, "reason": "initial"})
        self.log("request/context", MODEL | {"contextWindow": self.story.window})
        self.context += about(SYSTEM) + 3_000

    def user(self, text: str, image: bytes | None = None) -> None:
        if self.turn:
            self.log("turn/end", {"turn": self.turn, "reason": {"kind": "completed"}})
        self.turn, self.step = self.turn + 1, 0
        self.context += about(text) + 4
        message = {"content": [{"type": "text", "text": text}], "source": {"kind": "user"}, "role": "user"}
        message |= {"id": self.uuid("message")}
        self.log("agent/inbox/spliced", {"target": "next-turn", "start": 0, "inserted": [message]})
        self.log("turn/start", {"turn": self.turn})
        taken = {"target": "next-turn", "start": 0, "removedCount": 1, "inserted": []}
        self.log("agent/inbox/spliced", taken)
        self._step()
        sent = self.log("user/message", message, surfaceOp="append")
        if self.turn == 1:
            self._title(text, sent)
            self._request()

    def _title(self, text: str, sent: int) -> None:
        title = {"title": text[:60], "messageSeqs": [sent], "source": {"kind": "fallback"}}
        self.log("session/title", title)

    def _step(self) -> None:
        self.step += 1
        self.log("step/start", {"turn": self.turn, "step": self.step})
        self.is_new = True

    def reply(self, event: Reply) -> None:
        output = self.output_of(event)
        if not self.is_new:
            self._step()
        self.is_new = False
        at = {"turn": self.turn, "step": self.step}
        self.work(event, output)
        calls = [(action, f"call_{self.digest('call')[:16]}") for action in event.actions]
        blocks: list[dict[str, Any]] = []
        if event.thinking and self.story.reasons:
            blocks.append({"type": "reasoning", "text": event.thinking})
        if event.text:
            blocks.append({"type": "text", "text": event.text})
        blocks += [{"type": "tool-call", "id": call_id, **_call(action, self)} for action, call_id in calls]
        message = {"role": "assistant", "content": blocks, "source": {"kind": "model", **MODEL}}
        usage = self._usage(output)
        came = self._stream(at, blocks, usage)
        data = at | {"message": message | {"id": self.uuid("message")}, "usage": usage}
        self.log("assistant/message", data, sourceEventSeqs=came, surfaceOp="append")
        for action, call_id in calls:
            self._result(action, call_id, at)
        self.log("step/end", at)

    def _stream(self, at: dict[str, int], blocks: list[dict[str, Any]], usage: dict[str, int]) -> list[int]:
        """Log the pieces in which a reply came; their numbers."""
        first = self.seq
        for row, count in streamed(at, blocks, usage):
            numbers = {"seq0": self.seq, "time0": self.milliseconds} if "seq0" in row else {}
            self.line(row | (numbers or {"seq": self.seq, "time": self.milliseconds}))
            self.seq += count
        return list(range(first, self.seq))

    def _result(self, action: Action, call_id: str, at: dict[str, int]) -> None:
        called = self.log("tool/call", at | {"callId": call_id, **_call(action, self)})
        self.wait(action.seconds)
        text = _answer(action)
        self.context += about(text) + 6
        failed = action.result.failed or bool(action.result.exit_code)
        inner = {"type": "tool-result", "toolCallId": call_id, "content": [{"type": "text", "text": text}]}
        message = {
            "source": {"kind": "tool", "callId": call_id},
            "content": [inner | {"isError": failed}],
            "role": "user",
        }
        data = at | {"message": message | {"id": self.uuid("message")}}
        self.log("tool/result", data, sourceEventSeqs=[called], surfaceOp="append")

    def _usage(self, output: int) -> dict[str, int]:
        cached = min(self.cached, self.context) // 64 * 64
        usage = {"inputTokens": self.context - cached, "cacheReadTokens": cached, "outputTokens": output}
        self.context += output
        self.cached = self.context
        return usage

    def end(self) -> None:
        self.log("turn/end", {"turn": self.turn, "reason": {"kind": "completed"}})


def _call(action: Action, session: _Session) -> dict[str, Any]:
    kind, given = action.call.kind, dict(action.call.arguments)
    path = session.absolute(given.get("path") or ".")
    name, arguments = "bash", {"command": given.get("command", ""), "description": "run a command"}
    if kind == "read":
        part = {key: given[key] for key in ("offset", "limit") if given.get(key)}
        name, arguments = "read", {"file_path": path, **part}
    elif kind == "search":
        name, arguments = "grep", {"pattern": given["pattern"], "path": path}
    elif kind == "list":
        name, arguments = "glob", {"pattern": "*", "path": path}
    elif kind == "edit":
        name, arguments = "edit", {"file_path": path, "old_string": given["old"], "new_string": given["new"]}
    elif kind == "write":
        name, arguments = "write", {"file_path": path, "content": given["content"]}
    elif kind == "plan":
        steps = [{"content": text, "status": STATUS[state]} for text, state in given["steps"]]
        name, arguments = "todo_write", {"todos": steps}
    return {"name": name, "arguments": json.dumps(arguments, ensure_ascii=False)}


def _answer(action: Action) -> str:
    kind, given, result = action.call.kind, action.call.arguments, action.result
    if kind == "edit":
        return f"Edited {given['path']}: 1 replacement."
    if kind == "write":
        return f"Wrote {given['path']}."
    if kind == "plan":
        return "Todo list updated."
    if kind == "read" and not result.failed:
        return numbered(action, "\t")
    text = shell_output(action) or "(no output)"
    return f"{text}\n\nCommand exited with code {result.exit_code}" if result.exit_code else text
