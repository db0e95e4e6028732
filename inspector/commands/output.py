"""What a command prints: JSON that any parser takes, text that no terminal minds, and refusals in one line."""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from inspector.text import printable

DONE, FINDING, WRONG_USAGE = 0, 1, 2
"""Exit codes: done; a finding, a refusal or a failed check; wrong usage."""


def dump_json(value: Any) -> bytes:
    """Compact JSON as UTF-8. A lone surrogate stays an escape; a number that JSON lacks becomes null."""
    import orjson

    try:
        return orjson.dumps(value)
    except TypeError:  # a lone surrogate, a number above 64 bits, or nesting deeper than orjson goes
        return json.dumps(_finite(value), separators=(",", ":")).encode("ascii")


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {key: _finite(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(part) for part in value]
    return value


def print_json(value: Any) -> None:
    """One JSON document and a line feed on standard output, at once."""
    sys.stdout.flush()
    sys.stdout.buffer.write(dump_json(value) + b"\n")
    sys.stdout.buffer.flush()


def print_lines(lines: Iterable[str]) -> None:
    """Lines on standard output, made safe for a terminal."""
    for line in lines:
        print(printable(line))


def refuse(
    arguments: argparse.Namespace | None, reason: str, code: int = FINDING, sessions: Sequence[Path] = ()
) -> int:
    """Say in one line on standard error why nothing was done; with `--json` on standard output too.

    `sessions` are those that could have been meant: listed on standard output.
    """
    reason = printable(" ".join(reason.split()))
    names = [os.fsencode(path).decode("utf-8", "backslashreplace") for path in sessions]
    if getattr(arguments, "json", False):
        error: dict[str, Any] = {"schema": getattr(arguments, "schema", "error/1"), "error": reason}
        print_json(error | {"sessions": names} if names else error)
    else:
        print_lines(names)
    command = getattr(arguments, "command", None)
    print(f"seamline{f' {command}' if command not in (None, 'open') else ''}: {reason}", file=sys.stderr)
    return code
