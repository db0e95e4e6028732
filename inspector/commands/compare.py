"""`seamline compare`: what each policy would do with this session, side by side. Writes nothing."""

from __future__ import annotations

import argparse

from inspector.commands.options import add_command, add_path, add_view_options, opened_session

EXAMPLES = """  seamline compare session.jsonl
  seamline compare session.jsonl --window 128000
  seamline compare session.jsonl --json
"""


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = add_command(
        subparsers, "compare", "show what each policy would do, side by side; writes nothing", EXAMPLES
    )
    add_path(parser, json="compare/1")
    add_view_options(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    from core.comparing import compare
    from core.policies import names
    from core.policies.settings import Settings
    from inspector.commands.output import DONE, print_json, print_lines
    from inspector.commands.planned import stamp
    from inspector.compare_text import compare_lines
    from inspector.configuring import config

    opened = opened_session(arguments)
    settings = Settings(policies=config().policies)
    rows = list(compare(opened, names(settings.policies), settings, stamp()))
    if arguments.json:
        session = {"path": str(opened.session.path), "resume": opened.resume.to_json()}
        window = opened.resume.window
        print_json(
            {
                "schema": "compare/1",
                "agent": opened.agent.name,
                "session": session,
                "window": window.value if window else None,
                "policies": [row.to_json() for row in rows],
            }
        )
    else:
        print_lines(compare_lines(opened, rows))
    return DONE
