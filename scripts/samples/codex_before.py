"""Earlier work in a Codex sample, and the compaction by which the client itself made it short."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from scripts.samples.measure import about

if TYPE_CHECKING:
    from scripts.samples.codex import Session

PREFIX = (
    "Another language model started to solve this problem and produced a summary of its thinking process. You also "
    "have access to the state of the tools that were used by that language model. Use this to build on the work that "
    "has already been done and avoid duplicating work. Here is the summary produced by the other language model, use "
    "the information in this summary to assist with your own analysis:"
)
"""What Codex puts in front of a summary (0.171): by it it knows its own summaries again."""
QUESTION = "Before we begin: which Python is in the virtual environment, and is pytest there?"
COMMAND = ".venv/bin/python --version && .venv/bin/python -m pytest --version"
OUTPUT = "Python 3.9.19\npytest 8.3.3"
ANSWER = "Python 3.9.19, with pytest 8.3.3."
SUMMARY = "The virtual environment .venv has Python 3.9.19 and pytest 8.3.3. No file was changed so far."


def tell(session: Session) -> None:
    """One turn, then a compaction that the user asked for."""
    session.user(QUESTION)
    asked = session.lines[-2]["payload"]
    _look(session)
    session.wait(1.5)
    session.said(ANSWER)
    session.usage(about(ANSWER))
    session.counted()
    session.done(ANSWER)
    session.wait(30)
    _compact(session, asked)


def _look(session: Session) -> None:
    call_id = f"call_{session.digest('call')[:24]}"
    call = {"name": "exec_command", "arguments": json.dumps({"cmd": COMMAND}), "call_id": call_id}
    session.wait(2)
    session.item({"type": "function_call", **call})
    session.usage(40)
    session.wait(0.4)
    head = f"Chunk ID: {session.digest('chunk')[:6]}\nWall time: 0.3800 seconds\nProcess exited with code 0\n"
    output = f"{head}Original token count: {-(-len(OUTPUT) // 4)}\nOutput:\n{OUTPUT}"
    session.context += about(output)
    session.item({"type": "function_call_output", "call_id": call_id, "output": output})


def _compact(session: Session, asked: dict[str, Any]) -> None:
    """The client's own records of a compaction: its summary, the checkpoint, what holds from now on, the new size."""
    session.begin()
    session.wait(3)
    session.item(session.message("assistant", SUMMARY))
    session.usage(about(SUMMARY))
    session.counted()
    text = f"{PREFIX}\n{SUMMARY}"
    surroundings = session.surroundings()
    view = [*surroundings, asked, session.message("user", text)]
    first, second = session.timed_uuid(), session.timed_uuid()
    windows = {"window_number": 1, "first_window_id": first, "previous_window_id": first, "window_id": second}
    session.record("compacted", {"message": text, "replacement_history": view, **windows})
    session.world()
    session.settings()
    session.context = 4_000 + sum(about(message["content"][0]["text"]) for message in view)
    session.cached = 0
    session.last = dict.fromkeys(session.last, 0) | {"total_tokens": session.context}
    session.counted(last_usage_includes_reasoning=True)
    session.happened("ContextCompaction", {"id": session.timed_uuid()})
    session.done(None)
