"""The plan that `plan` and `compact` speak of, from the options on the command line."""

from __future__ import annotations

import argparse
import secrets
import time
from dataclasses import replace
from pathlib import Path

from core.agents.protocol import Stamp
from core.edit_file import lay_over
from core.edits import set_summary
from core.errors import SeamlineError
from core.opening import Opened
from core.planning import Plan, revise, with_summary
from core.policies import policy_named
from core.policies.settings import Settings
from core.proposal import Proposal
from inspector.commands.options import opened_session, overrides
from inspector.configuring import config

MAXIMUM_FILE = 16 << 20
"""Bytes that an edit file or a summary file may have."""


def stamp() -> Stamp:
    """Time and ids as they are now: the edge that the engine is kept free of."""
    return Stamp(time.time(), lambda: secrets.token_hex(16))


def planned(arguments: argparse.Namespace, summary: str = "offline", fork: bool = False) -> Plan:
    """The plan asked for; where a model is to write the summary, with an offline one as yet. Raises SeamlineError."""
    opened = opened_session(arguments)
    settings = settings_of(arguments)
    proposal = policy_named(arguments.policy, settings.policies).propose(opened, settings)
    if arguments.edit:
        proposal = lay_over(opened, with_summary(opened, proposal, settings), _read_json(Path(arguments.edit)))
    if summary not in ("offline", "model"):
        proposal = set_summary(proposal, _read_text(Path(summary)), "file")
    return revise(opened, proposal, settings, stamp(), fork=fork)


def with_model_summary(plan: Plan, arguments: argparse.Namespace, fork: bool = False) -> Plan:
    """The same plan with a summary by a model: asked only once nothing else speaks against the plan."""
    from inspector.summarising import model_writer

    if plan.proposal.summary is None:
        return plan
    writer = model_writer(arguments, plan.opened)
    return revise(plan.opened, replace(plan.proposal, summary=None), plan.settings, stamp(), writer, fork)


def copied(arguments: argparse.Namespace) -> Plan:
    """A fork of the session as it stood at the entry `--at`, with nothing decided. Raises SeamlineError."""
    from inspector.opening import open_path

    opened = open_path(Path(arguments.path), overrides(arguments), leaf=arguments.at)
    return revise(opened, Proposal(arguments.policy), settings_of(arguments), stamp(), fork=True)


def settings_of(arguments: argparse.Namespace) -> Settings:
    return Settings(
        target=arguments.target,
        keep_recent=arguments.keep_recent,
        focus=arguments.focus,
        policies=config().policies,
    )


def asks_for_more(arguments: argparse.Namespace, opened: Opened) -> bool:
    """Whether the person wants a compaction although the policy would not act by itself."""
    return bool(arguments.edit) or (arguments.target is not None and opened.view_tokens > arguments.target)


def _read_text(path: Path) -> str:
    """What stands in an edit file or a summary file: a pipe will do, but never more than `MAXIMUM_FILE` is read."""
    try:
        with open(path, "rb") as file:
            data = file.read(MAXIMUM_FILE + 1)
        text = data.decode("utf-8")
    except (OSError, ValueError) as error:
        raise SeamlineError(f"{path}: can't be read ({error}): give a readable UTF-8 file") from error
    if len(data) > MAXIMUM_FILE:
        raise SeamlineError(f"{path}: larger than {MAXIMUM_FILE >> 20} MiB: not an edit or a summary")
    return text


def _read_json(path: Path) -> object:
    import json

    try:
        return json.loads(_read_text(path))
    except (ValueError, RecursionError) as error:
        raise SeamlineError(f"{path}: not JSON ({error}): give the output of `seamline plan --json`") from error
