"""`seamline check`: what is wrong with a session."""

from __future__ import annotations

import argparse

from inspector.commands.options import add_command, add_path, add_view_options, overrides, session_path

EXAMPLES = """  seamline check session.jsonl
  seamline check session.jsonl --json
"""


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = add_command(
        subparsers,
        "check",
        "look for damage, unpaired calls, and anything the real client would choke on",
        EXAMPLES,
        "Look a session over. Exit code 1 where something is found.",
    )
    add_path(parser, json="check/1")
    add_view_options(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    from core.findings import check_session
    from inspector.commands.output import DONE, FINDING, print_json, print_lines
    from inspector.opening import with_installed
    from inspector.text import one_line

    path = session_path(arguments)
    checked = check_session(path, with_installed(path, overrides(arguments)), leaf=arguments.leaf)
    if arguments.json:
        print_json(checked.to_json())
    elif not checked.findings:
        entries = len(checked.session.entries)
        print_lines([f"{path}: {f'{entries:,} entries' if entries else 'an empty session'}, nothing wrong found"])
    else:
        lines = [f"{path}: {len(checked.session.entries):,} entries, {len(checked.findings):,} findings"]
        for finding in checked.findings:
            place = "whole file" if finding.line is None else f"line {finding.line}, byte {finding.offset:,}"
            lines.append(f"  {place}: {finding.kind}: {one_line(finding.message, 400)}")
            if finding.client:
                lines.append(f"    {checked.agent.profile.title}: {one_line(finding.client, 400)}")
        print_lines(lines)
    return FINDING if checked.findings else DONE
