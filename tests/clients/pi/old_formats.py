"""Sessions of pi's first two formats: pi rewrites them when it opens them, so they are refused in place and forked."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.clients.kit import Job
from tests.clients.stored import state_of
from tests.clients.subjects import captured, samples
from tests.clients.table import Row
from tests.clients.trial import Trial

OLD_FORMATS = ("v1_linear", "v2_hook_message")


def jobs(full: bool) -> Sequence[Job]:
    """A large session and the captured ones, as forks; the captured ones also as they are."""
    old = [subject for subject in captured("pi") if subject.name in OLD_FORMATS]
    return [
        Job("version 1", samples("pi")[0], forks_first_version),
        *[Job("small fork", subject, forks_small) for subject in old],
        *[Job("seen", subject, Trial.is_seen) for subject in old if not full],
    ]


def forks_first_version(trial: Trial) -> None:
    """A large session as the first version of the format would hold it, as a fork."""
    session = trial.placed("version-1")
    session.write_bytes(as_version_1(session.read_bytes()))
    trial.fork(session, "version 1 as fork", lambda row, flags: _is_refused(trial, row, session, flags))


def forks_small(trial: Trial) -> None:
    """A short session of an old format: one exchange dropped by hand, as a fork."""
    session = trial.placed("small-fork")
    before = state_of(session)
    with trial.row("dropped by hand, as fork") as row:
        plan = trial.seamline.plan(session)
        unit = next(item["unit"] for item in trial.seamline.view(session) if item["source"])
        edit: dict[str, Any] = {"session": {"fingerprint": plan["session"]["fingerprint"]}}
        edit["dispositions"] = [{"unit": unit, "what": "drop"}]
        trial.edit_file.write_text(json.dumps(edit))
        flags = ["--edit", str(trial.edit_file)]
        _is_refused(trial, row, session, flags)
        edited = trial.seamline.plan(session, flags)
        row.planned({**edited, "commits_as": "fork"})
        made = trial.seamline.compact(session, [*flags, "--as", "fork"])
        trial.compare(row, "the fork", edited["after"]["items"], trial.seamline.view(made))
        trial.resume(row, made, edited["after"]["items"])
        if state_of(session) != before:
            row.problems.append("the original was changed")


def as_version_1(data: bytes) -> bytes:
    """A linear session of pi as the first version of the format would hold it: no ids, no version."""
    lines: list[str] = []
    for line in data.decode("utf-8").split("\n"):
        if not line.strip():
            continue
        entry: dict[str, Any] = json.loads(line)
        for name in ("version", "parentId"):
            entry.pop(name, None)
        if entry.get("type") != "session":
            entry.pop("id", None)
        lines.append(json.dumps(entry, ensure_ascii=False))
    return "".join(f"{line}\n" for line in lines).encode("utf-8")


def _is_refused(trial: Trial, row: Row, session: Path, flags: Sequence[str]) -> None:
    before = state_of(session)
    said = trial.seamline.try_compact(session, flags)
    if said.status != 1 or "fork" not in said.error or state_of(session) != before:
        row.problems.append(f"in place: exit {said.status}: {said.error}")
