"""The model that writes a summary, from options and the environment: the edge where keys and clocks are."""

from __future__ import annotations

import argparse
import os
import sys
import time
from typing import TYPE_CHECKING

from core.errors import SeamlineError

if TYPE_CHECKING:
    from core.opening import Opened
    from core.planning import Writer
    from core.summary.model.writing import Progress

KEY = "OPENAI_API_KEY"
BASE_URL = "OPENAI_BASE_URL"
OPENAI = "https://api.openai.com"


def add_model_options(parser: argparse.ArgumentParser) -> None:
    """What is needed where a model writes the summary."""
    group = parser.add_argument_group(f"with --summary model (the key comes from {KEY})")
    group.add_argument("--base-url", metavar="URL", help=f"the endpoint (default: {BASE_URL}, else {OPENAI}/v1)")
    group.add_argument("--summary-model", metavar="NAME", help="who writes it (default: the session's own model)")
    group.add_argument("--summary-window", type=int, metavar="TOKENS", help="its context size, where we don't know it")
    group.add_argument("--summary-wire", choices=("chat", "responses"), default="chat", help="(%(default)s)")


def model_writer(arguments: argparse.Namespace, opened: Opened) -> Writer:
    """The writer that the options ask for. Raises SeamlineError where something is missing."""
    from core.models import limits_of
    from core.summary.model.openai_caller import OpenAICaller
    from core.summary.model.planned import by_model

    resume = opened.resume
    model = arguments.summary_model or (resume.model.value if resume.model else "")
    if not model:
        raise SeamlineError("the session names no model: say who writes the summary with --summary-model NAME")
    base_url = arguments.base_url or os.environ.get(BASE_URL) or None
    key = os.environ.get(KEY, "")
    if not key and base_url is None:
        raise SeamlineError(f"{KEY} is not set: set it, name an endpoint with --base-url, or use --summary offline")
    provider = resume.provider.value if resume.provider and not arguments.summary_model else "openai"
    limits = limits_of(provider, model)
    window = arguments.summary_window or (limits.window if limits else None)
    caller = OpenAICaller(model, base_url, key or "none", arguments.summary_wire)
    return by_model(arguments.policy, caller, window, time.sleep, _told)


def _told(progress: Progress) -> None:
    """Where the writing stands, on one line of a terminal's standard error."""
    if not sys.stderr.isatty():
        return
    from inspector.text import one_line

    size = f", {len(progress.text):,} characters" if progress.text else ""
    sys.stderr.write(f"\r\x1b[K{one_line(progress.words, 100)}{size}")
    sys.stderr.flush()
