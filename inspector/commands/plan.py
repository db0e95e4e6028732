"""`seamline plan`: a policy's proposal for a session. Writes nothing; exit code 1 where a check does not hold."""

from __future__ import annotations

import argparse

from inspector.commands.options import add_command, add_path, add_view_options

EXAMPLES = """  seamline plan session.jsonl
  seamline plan session.jsonl --target 40000 --json > proposal.json
  seamline plan session.jsonl --edit proposal.json
"""


def add_plan_options(parser: argparse.ArgumentParser) -> None:
    """The options that shape a proposal, shared with `compact`."""
    from core.policies import DEFAULT, POLICIES

    known = ", ".join(POLICIES)
    parser.add_argument(
        "--policy", default=DEFAULT, metavar="NAME", help=f"{known}, or one of your config file (%(default)s)"
    )
    parser.add_argument("--target", type=positive, metavar="N", help="the view shall have at most N tokens")
    parser.add_argument("--keep-recent", type=positive, metavar="N", help="keep about N tokens of the newest content")
    parser.add_argument("--focus", default="", metavar="TEXT", help="what the summary should pay attention to")
    parser.add_argument("--edit", metavar="FILE", help="edits in the shape of `plan --json`, laid over the proposal")


def positive(text: str) -> int:
    """A whole number above 0, from the command line."""
    number = int(text)
    if number <= 0:
        raise argparse.ArgumentTypeError(f"{text} is not above 0")
    return number


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = add_command(subparsers, "plan", "propose a compaction; writes nothing", EXAMPLES)
    add_path(parser, json="plan/1")
    add_plan_options(parser)
    add_view_options(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    from inspector.commands.output import DONE, FINDING, print_json, print_lines
    from inspector.commands.planned import planned
    from inspector.plan_text import plan_lines

    plan = planned(arguments)
    if arguments.json:
        print_json(plan.to_json())
    else:
        print_lines(plan_lines(plan))
        print_lines(
            ["  whole      --json prints every row and the summary; `seamline PATH`, then v, lets you edit them"]
        )
    return DONE if all(check.ok for check in plan.checks) else FINDING
