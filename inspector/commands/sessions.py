"""`seamline sessions`: the sessions found on this machine."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from inspector.commands.options import add_command

if TYPE_CHECKING:
    from core.agents.protocol import Found

EXAMPLES = """  seamline sessions
  seamline sessions --json
"""


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = add_command(
        subparsers, "sessions", "list the sessions found on this machine, last changed first", EXAMPLES
    )
    parser.add_argument("--json", action="store_true", help="print JSON, schema sessions/1")
    parser.set_defaults(run=run, schema="sessions/1")


def run(arguments: argparse.Namespace) -> int:
    from core.agents import AGENTS, agent_named
    from inspector.commands.output import print_json, print_lines

    found = [session for name in AGENTS for session in agent_named(name).find()]
    found.sort(key=lambda session: (-session.modified, session.path))
    if arguments.json:
        print_json({"schema": "sessions/1", "sessions": [session_json(session) for session in found]})
    elif not found:
        print_lines([f"no session of {', '.join(AGENTS)} in their own folders: name a file or a folder"])
    else:
        print_lines(session_line(session) for session in found)
    return 0


def session_json(session: Found) -> dict[str, Any]:
    """One of `sessions` in `sessions/1`."""
    from datetime import UTC, datetime

    return {
        "path": str(session.path),
        "agent": session.agent,
        "project": session.cwd,
        "last_activity": datetime.fromtimestamp(session.modified, UTC).isoformat().replace("+00:00", "Z"),
        "bytes": session.size,
    }


def session_line(session: Found) -> str:
    """One session in one line."""
    from datetime import datetime

    from inspector.text import one_line

    changed = datetime.fromtimestamp(session.modified).astimezone().strftime("%Y-%m-%d %H:%M")
    project = f"  {one_line(session.cwd)}" if session.cwd else ""
    return f"{changed}  {session.agent:<8} {session.size:>13,} bytes{project}  {one_line(str(session.path), 400)}"
