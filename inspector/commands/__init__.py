"""The commands, one file each: `register` describes it, `run` does it and returns the exit code.

A file imports at its top only what its options need; all that is heavy is imported inside `run`.
"""

from __future__ import annotations

COMMANDS = (
    "open",
    "sessions",
    "view",
    "stats",
    "check",
    "plan",
    "compact",
    "compare",
    "undo",
    "recover",
    "receipts",
    "limit",
    "config",
    "follow",
)
"""Their names, in the order in which `--help` lists them; each is a module of this package."""
