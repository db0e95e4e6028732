"""A home for one dsh that knows only the mock, and the place of a session in it: dsh finds it by its header alone."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import zstandard

LOG = "session.jsonl.zstd"
MODEL = "deepseek-v4-flash"
ROOMY = 1_000_000
"""dsh's own window (tokens) for its own provider."""

LONGEST = 251
"""UTF-16 units of a project's name."""


def placed(session: Path, box: Path) -> Path:
    """A copy of a log in the home in `box`, with the folder there as where it works; pictures come along."""
    source = next(session.rglob(LOG)) if session.is_dir() else session
    data, header = moved(source.read_bytes(), box / "project")
    home = box / "home" / ".dsh"
    cwd, identity = header.get("cwd"), header.get("id")
    project = f"--{encoded(cwd, True).lstrip('-')[:LONGEST] or 'root'}--" if isinstance(cwd, str) else "_no-cwd"
    name = encoded(identity) if isinstance(identity, str) and identity else "session-unreadable"
    path = home / "sessions" / project / name / LOG
    path.parent.mkdir(parents=True, mode=0o700)
    path.write_bytes(data)
    path.chmod(0o600)
    for store in (session / "attachments", *(folder / "attachments" for folder in session.parents[:4])):
        if store.is_dir():
            shutil.copytree(store, home / "attachments")
            break
    return path


def moved(data: bytes, project: Path) -> tuple[bytes, dict[str, Any]]:
    """The log with another working folder in its header, since tools run there; and the header. Empty: unreadable."""
    frame = zstandard.ZstdDecompressor().decompressobj()
    try:
        line, rest = frame.decompress(data), frame.unused_data
        header = json.loads(line)
    except (zstandard.ZstdError, ValueError):
        return data, {}
    if not isinstance(header, dict) or not line.endswith(b"\n") or not isinstance(header.get("cwd"), str):
        return data, header if isinstance(header, dict) else {}
    header["cwd"] = str(project)
    line = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
    return zstandard.ZstdCompressor(write_checksum=True).compress(line) + rest, header


def identity_of(session: Path) -> str:
    """The id in a log's header; one that no session has where it can't be read."""
    _, header = moved(session.read_bytes(), session.parent)
    return str(header.get("id") or "session-unreadable")


def encoded(text: str, runs: bool = False) -> str:
    """dsh's name of a file for an id; with `runs`, that of a project: each run of separators becomes one `-`."""
    out, units = "", text.encode("utf-16-le", "surrogatepass")
    for at in range(0, len(units), 2):
        unit = units[at] | units[at + 1] << 8
        character = chr(unit)
        if runs and character in "/\\:":
            out += "" if out.endswith("\0") else "\0"
        elif character.isascii() and (character.isalnum() or character in "._-"):
            out += character
        else:
            out += f"~{unit:04X}"
    return out.replace(".", "~002E") if not runs and out in (".", "..") else out.replace("\0", "-")


def furnish(box: Path, port: int, window: int, strict: bool, modules: Path) -> Path:
    """Write dsh's settings, and what is changed of its headless profile; the path of that.

    `strict` loads dsh's own invariants, which look at each event of the log: its makers run their tests with them.
    """
    models = [{"id": MODEL, "contextWindow": window or ROOMY, "inputModalities": ["text", "image"]}]
    settings = {"llm-deepseek": {"baseURL": f"http://127.0.0.1:{port}", "models": models}}
    (box / "home" / ".dsh" / "settings.yaml").write_text(json.dumps(settings))
    driver = Path(__file__).with_name("driver.mjs")
    rows: list[dict[str, Any]] = [
        {"id": "hmr", "disabled": False, "config": {"root": []}},
        {"id": "headless-runner", "disabled": True},
        {"id": "session-title-llm", "disabled": True},
        {"insert": [{"id": "seamline-driver", "name": driver.as_uri()}]},
    ]
    if strict:
        names = ["dsh-invariants/lib/index.js", *(f"dsh-{name}/lib/invariant.js" for name in INVARIANTS)]
        files = [(modules / "@deepseek-ai" / name).as_uri() for name in names]
        rows.append({"insert": [{"id": f"strict-{at}", "name": name} for at, name in enumerate(files)]})
    patch = box / "profile.yml"
    patch.write_text(json.dumps(rows))
    return patch


INVARIANTS = ("session", "compaction", "agent-loop", "time-context")
