"""Small sessions of pi's for lists of sessions: the folder that they ran in, the times and the words are given."""

from __future__ import annotations

import json
from pathlib import Path


def pi_session(path: Path, cwd: str, *times: str, words: str = "") -> None:
    """A session at `path` whose messages have these times, and these words or some with the name of the file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    header: dict[str, object] = {"type": "session", "version": 3, "id": path.stem, "cwd": cwd}
    lines = [header | {"timestamp": "2020-01-01T00:00:00Z"}]
    for number, time in enumerate(times):
        message = {"role": "user", "content": words or f"words of {path.stem}", "timestamp": 0}
        entry = {"id": f"{number:08x}", "parentId": f"{number - 1:08x}" if number else None, "timestamp": time}
        lines.append({"type": "message", "message": message, **entry})
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
