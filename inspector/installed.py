"""Which version of an agent's client is installed on this machine, asked without waiting long."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

from core.resume import Known

PATIENCE = 3.0
"""Seconds that a client has to say its version."""

LEVELS = 6
"""Folders above a program in which its package.json is looked for."""

_VERSION = re.compile(r"(?<![\d.])(\d+\.\d+\.\d+(?:[-+][0-9A-Za-z.-]+)?)")


def installed_version(command: str) -> Known[str] | None:
    """The version of the program `command` on the PATH; None where it is not installed or does not say.

    The package.json that an npm program lies in names the version that it prints, and costs a millisecond. Only a
    program without one is run, and its answer kept for as long as the file does not change.
    """
    found = shutil.which(command)
    if found is None:
        return None
    program = Path(found).resolve()
    packaged = _packaged(command, program)
    if packaged:
        return Known(packaged, f"{command} as installed here ({program.parent})")
    said = _asked(program)
    return Known(said, f"`{command} --version`") if said else None


def _packaged(command: str, program: Path) -> str:
    for folder in list(program.parents)[:LEVELS]:
        try:
            data: dict[str, Any] = json.loads((folder / "package.json").read_text("utf-8"))
        except (OSError, ValueError):
            continue
        programs = data.get("bin")
        if isinstance(programs, dict) and command not in programs:
            continue
        if programs and isinstance(data.get("version"), str):
            return data["version"]
    return ""


def _asked(program: Path) -> str:
    status = program.stat()
    state = f"{status.st_size}:{status.st_mtime_ns}"
    cache = _cache()
    known = cache.get(str(program))
    if isinstance(known, dict) and known.get("state") == state:
        return str(known.get("version", ""))
    version = _run(program)
    cache[str(program)] = {"state": state, "version": version}
    _keep(cache)
    return version


def _run(program: Path) -> str:
    try:
        done = subprocess.run(
            [str(program), "--version"], stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    said = _VERSION.search(done.stdout.decode("utf-8", "replace") + done.stderr.decode("utf-8", "replace"))
    return said[1] if said and done.returncode == 0 else ""


def cache_folder() -> Path:
    """Where what can be found out again is kept: SEAMLINE_CACHE_DIR, or the system's folder for caches."""
    named = os.environ.get("SEAMLINE_CACHE_DIR")
    if named:
        return Path(named)
    from platformdirs import user_cache_path

    return user_cache_path("seamline", appauthor=False)


def _cache_file() -> Path:
    return cache_folder() / "installed.json"


def _cache() -> dict[str, Any]:
    try:
        data = json.loads(_cache_file().read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return data if isinstance(data, dict) else {}


def _keep(cache: dict[str, Any]) -> None:
    """Written beside and renamed, so that two processes never leave half a file; without a cache we ask again."""
    target = _cache_file()
    part = target.with_suffix(f".{os.getpid()}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        part.write_text(json.dumps(cache), "utf-8")
        part.replace(target)
    except OSError:
        part.unlink(missing_ok=True)
