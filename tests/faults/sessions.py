"""Real sessions with a plan for each: one that is appended to, one that is replaced as a whole."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from core.agents.protocol import Stamp
from core.files import Overlay
from core.opening import open_session
from core.planning import Plan, plan_session
from core.policies.settings import Settings
from tests.commands.writing import small_session
from tests.core.message_files import reply, result, user, write

FORMS = ("append", "replace", "fork")
NOW = 1_780_000_000.0
LONG_AGO = 1_700_000_000_123_456_789


def stamp(fork: str = "") -> Stamp:
    """The same ids at each call, so that parent and child speak of the same bytes."""
    numbers = iter(range(1, 1 << 20))
    return Stamp(NOW, lambda: f"{next(numbers) * 0x9E3779B97F4A7C15F39CC0605CEDC835 % (1 << 128):032x}")


def make(folder: Path, form: str) -> Path:
    """A session that was written long ago: pi's where it is appended to or forked, messages where it is replaced."""
    folder.mkdir(parents=True, exist_ok=True)
    if form == "replace":
        messages = [user("the wish")]
        for turn in range(12):
            long = result(f"c{turn}", f"line of turn {turn}\n" * 120)
            messages += [reply(None, f"c{turn}"), long, reply("done"), user(f"wish {turn}")]
        path = write(folder / "chat.json", messages, indent=1)
    else:
        path = folder / "session.jsonl"
        path.write_bytes(small_session(12))
    path.chmod(0o640)
    os.utime(path, ns=(LONG_AGO, LONG_AGO))
    return path


def plan_for(path: Path, form: str) -> Plan:
    """What is approved: prunes and a summary, all checks held."""
    settings = Settings(target=2500, keep_recent=400)
    plan = plan_session(open_session(path), "handoff", settings, stamp(), fork=form == "fork")
    assert plan.patch is not None, plan.why
    # The documents here are shorter than a real handoff may be: their own checks are not what is tested.
    plan = replace(plan, checks=tuple(check for check in plan.checks if check.ok))
    assert plan.commits_as == form
    return plan


def approved(plan: Plan) -> tuple[Path, bytes]:
    """The file that would hold the result, and its bytes."""
    assert plan.patch is not None
    files = Overlay(plan.opened.session.files, plan.patch)
    return plan.patch.session, files.read(plan.patch.session, 0, files.size(plan.patch.session))
