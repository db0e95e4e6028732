"""`--leaf list`: the leaves that a view of the session can end at, instead of a view."""

from __future__ import annotations

import argparse

from inspector.commands.options import session_path

LIST = "list"


def list_leaves(arguments: argparse.Namespace) -> int:
    """Print the session's other leaves; works also where the client would refuse the session."""
    from core.agents import detect
    from core.files import Disk
    from inspector.commands.output import DONE, print_json, print_lines
    from inspector.leaves_text import leaf_lines

    path, disk = session_path(arguments), Disk()
    agent = detect(disk, path)
    session = agent.open(disk, path)
    leaves = tuple(agent.leaves(session))
    if arguments.json:
        found = [leaf.to_json() for leaf in leaves]
        print_json({"schema": "leaves/1", "agent": agent.name, "leaf": session.leaf, "leaves": found})
        return DONE
    end = f"ends at entry {session.leaf}" if session.leaf is not None else "has no end that the client would choose"
    print_lines([f"{path}: {end}{'' if leaves else '; no other leaf'}", *leaf_lines(leaves, None)])
    return DONE
