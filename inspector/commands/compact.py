"""`seamline compact`: plan, show, ask, commit."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from inspector.commands.options import add_command, add_path, add_view_options
from inspector.commands.plan import add_plan_options
from inspector.summarising import add_model_options

if TYPE_CHECKING:
    from core.commit import Receipt
    from core.planning import Plan

EXAMPLES = """  seamline compact session.jsonl
  seamline compact session.jsonl --target 40000 --yes --agent-stopped
  seamline compact session.jsonl --edit proposal.json --summary my-summary.md
  seamline compact session.jsonl --summary model --base-url http://127.0.0.1:8080/v1 --summary-model NAME
  seamline compact session.jsonl --as fork
  seamline compact session.jsonl --as fork --at ENTRY
"""


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = add_command(
        subparsers,
        "compact",
        "propose, show, ask, and write the result into the session",
        EXAMPLES,
        "Propose a compaction, show it, ask, and write it in one transaction. Undo gives back the same bytes.",
    )
    add_path(parser, json="compact/1")
    add_plan_options(parser)
    parser.add_argument(
        "--summary",
        default="offline",
        metavar="offline|model|FILE",
        help="who writes it: the program (offline), a model, or a file",
    )
    add_model_options(parser)
    parser.add_argument(
        "--yes",
        action="store_true",
        help="commit without asking; refused where the session grew meanwhile",
    )
    parser.add_argument("--agent-stopped", action="store_true", help="your word: no agent has this session open")
    parser.add_argument("--as", dest="form", choices=("fork",), help="write a new session, leave this one untouched")
    parser.add_argument(
        "--at", metavar="ENTRY", help="with --as fork: the view as it was at this entry, also before a compaction"
    )
    add_view_options(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    from inspector.commands.output import print_json, print_lines, refuse
    from inspector.commands.planned import asks_for_more
    from inspector.plan_text import plan_lines

    if arguments.json and not arguments.yes:
        return refuse(arguments, "compact --json asks nothing: add --yes", code=2)
    if arguments.at is not None and arguments.form != "fork":
        return refuse(arguments, "compact --at makes a new session: add --as fork", code=2)
    _prepare(arguments)
    plan = _planned(arguments)
    if not arguments.json:
        print_lines(plan_lines(plan))
    reason = _nothing_to_do(plan, asks_for_more(arguments, plan.opened))
    if reason:
        return refuse(arguments, reason)
    if not arguments.yes and sys.stdin.isatty() and plan.proposal.summary is not None:
        print_lines(["", *plan.proposal.summary.text.split("\n"), ""])
    done = _approved(plan, arguments)
    if done is None:
        where = plan.opened.session.path
        return refuse(arguments, f"{where}: not committed, nothing was written: answer y, or give --yes")
    plan, receipt = done
    if arguments.json:
        print_json({"schema": "compact/1", "receipt": receipt.to_json(), "view": str(receipt.result)})
    else:
        print_lines(receipt_lines(receipt, plan))
    return 0


def _planned(arguments: argparse.Namespace) -> Plan:
    """The plan asked for; a model is asked for its summary only where nothing else speaks against it."""
    from inspector.commands.planned import asks_for_more, copied, planned, with_model_summary

    if arguments.at is not None:
        return copied(arguments)
    fork = _is_fork(arguments)
    plan = planned(arguments, arguments.summary, fork=fork)
    if arguments.summary == "model" and not _nothing_to_do(plan, asks_for_more(arguments, plan.opened)):
        return with_model_summary(plan, arguments, fork)
    return plan


def _approved(plan: Plan, arguments: argparse.Namespace) -> tuple[Plan, Receipt] | None:
    """Ask, and commit; ask again where the session has grown. None where the answer is no."""
    from core.errors import Stale

    while arguments.yes or _confirmed(plan):
        try:
            return plan, _commit(plan, arguments)
        except Stale as stale:
            plan = _grown(plan, stale, arguments)
    return None


def _is_fork(arguments: argparse.Namespace) -> bool:
    return bool(arguments.form == "fork")


def _grown(plan: Plan, stale: Exception, arguments: argparse.Namespace) -> Plan:
    """The same decisions on the session as it has grown since, shown; raises what stands against it.

    A view that nobody saw is never committed: with --yes, where nobody is asked, the refusal stands.
    """
    from core.rebasing import news, rebased
    from inspector.commands.output import print_lines
    from inspector.commands.planned import stamp
    from inspector.plan_text import plan_lines
    from inspector.view_text import said

    if arguments.yes or not sys.stdin.isatty():
        raise stale
    again = rebased(plan, stamp())
    reason = _nothing_to_do(again, True)
    if reason:
        raise type(stale)(reason)
    added = news(plan.opened, again.opened)
    print_lines(["", f"The session has grown by {len(added):,} items since, behind all that would change:"])
    print_lines(f"  {item.role:<9}  {said(item)}" for item in added)
    print_lines(["", *plan_lines(again)])
    return again


def _prepare(arguments: argparse.Namespace) -> None:
    """What an earlier, killed commit left is put right first; and no work is done for a file that can't be written."""
    from core.commit.apply import can_write
    from inspector.commands.options import session_path
    from inspector.commands.recovering import recover_first

    path = session_path(arguments)
    recover_first(path)
    can_write(path, fork=_is_fork(arguments))


def _nothing_to_do(plan: Plan, asked: bool) -> str:
    """Why there is nothing to commit; empty where there is something."""
    from core.planning import ASKED_FOR
    from inspector.plan_text import pressure_line

    where = plan.opened.session.path
    if plan.commits_as != "fork" or plan.why != ASKED_FOR:
        target, tokens = plan.settings.target, plan.opened.view_tokens
        if not plan.changes_anything and target is not None and tokens > target:
            return (
                f"{where}: can't reach {target:,} tokens: none of the {tokens:,} can go; raise --target, or use --edit"
            )
        if not plan.changes_anything:
            return f"{where}: nothing need go: {pressure_line(plan.budget)}; give --target N to go further"
        if plan.would_act is None and not asked:
            return f"{where}: the model's window is unknown: give --window N, or --target N"
        if not plan.would_act and not asked:
            return f"{where}: nothing need go yet: {pressure_line(plan.budget)}; to compact anyway: --target N"
        if plan.commits_as == "fork":
            return f"{where}: {plan.why}"
    failed = [check for check in plan.checks if not check.ok]
    if failed:
        return f"{where}: {failed[0].id}: {failed[0].message}"
    return "" if plan.patch is not None else f"{where}: {plan.why}"


_VERBS = {
    "append": ("Append", "to"),
    "replace": ("Write the session anew with", "in"),
    "fork": ("Create a new session of", "in"),
}


def _confirmed(plan: Plan) -> bool:
    if not sys.stdin.isatty():
        return False
    patch = plan.patch
    assert patch is not None
    verb, where = _VERBS[plan.commits_as]
    answer = input(f"{verb} {patch.size:,} bytes {where} {patch.session}? [y/N] ")
    return answer.strip().lower() in ("y", "yes")


def _commit(plan: Plan, arguments: argparse.Namespace) -> Receipt:
    from core.approving import approve
    from inspector.commands.planned import stamp

    return approve(plan, stamp(), _agent_stopped(plan, arguments))


def _agent_stopped(plan: Plan, arguments: argparse.Namespace) -> bool:
    """The person's word: given on the command line, or asked for where the file is fresh and nobody said --yes."""
    if arguments.agent_stopped or arguments.yes or not sys.stdin.isatty():
        return bool(arguments.agent_stopped)
    import time

    from core.commit.journal import Journal
    from core.commit.liveness import look

    path = plan.opened.session.path
    with Journal() as journal:
        liveness = look(path, plan.opened.agent.known_running(path), journal, now=time.time())
    if liveness.state != "recent":
        return False
    answer = input(f"{liveness.words} Has the agent closed this session? [y/N] ")
    return answer.strip().lower() in ("y", "yes")


def receipt_lines(receipt: Receipt, plan: Plan) -> list[str]:
    """What was done, and how to go on or back."""
    before, after = plan.opened.view_tokens, plan.after.view_tokens
    profile = plan.opened.agent.profile
    return [
        f"committed {receipt.id}: {before:,} → {after:,} tokens in view",
        f"  written to {receipt.result}",
        f"  {profile.title} sees it when it opens the session anew{f': {profile.reopen}' if profile.reopen else ''}",
        f"  take it back with: seamline undo {receipt.result}",
    ]
