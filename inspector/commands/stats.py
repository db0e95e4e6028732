"""`seamline stats`: what fills the window."""

from __future__ import annotations

import argparse

from inspector.commands.leaves import LIST, list_leaves
from inspector.commands.options import add_command, add_path, add_view_options, opened_session

EXAMPLES = """  seamline stats session.jsonl
  seamline stats session.jsonl --window 128000
  seamline stats session.jsonl --json
  seamline stats session.jsonl --leaf list
"""


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = add_command(
        subparsers, "stats", "show what fills the window: by role, tool and file, the biggest items", EXAMPLES
    )
    add_path(parser, json="stats/1")
    add_view_options(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    if arguments.leaf == LIST:
        return list_leaves(arguments)
    from core.kin import children_of
    from core.policies import budget_of
    from core.policies.settings import Settings
    from core.stats import stats
    from inspector.commands.output import print_json, print_lines

    opened = opened_session(arguments)
    measured = stats(opened, budget_of(opened, Settings()), children_of(opened))
    if arguments.json:
        print_json(measured.to_json())
    else:
        from inspector.stats_text import stats_lines

        print_lines(stats_lines(opened, measured))
    return 0
