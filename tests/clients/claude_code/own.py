"""What only Claude Code is tried with: forks of what the client's own compaction had taken away."""

from __future__ import annotations

from collections.abc import Sequence

from tests.clients.claude_code.requests import lines_of
from tests.clients.kit import Job
from tests.clients.stored import state_of
from tests.clients.subjects import captured
from tests.clients.trial import Trial

COMPACTED = ("native_compact", "native_auto_compact")


def jobs(full: bool) -> Sequence[Job]:
    """Captured sessions that the client has compacted."""
    return [
        Job("past fork", subject, forks_the_past) for subject in captured("claude-code") if subject.name in COMPACTED
    ]


def forks_the_past(trial: Trial) -> None:
    """A new session that ends where the client compacted: it holds what stood in the view then."""
    session = trial.placed("past")
    leaf = next(line["logicalParentUuid"] for line in lines_of(session) if line.get("subtype") == "compact_boundary")
    before = state_of(session)
    with trial.row("fork before its own compaction, resume") as row:
        then = trial.seamline.run("view", session, "--leaf", leaf).json["items"]
        made = trial.seamline.compact(session, ["--leaf", leaf, "--as", "fork"])
        trial.compare(row, "the fork", then, trial.seamline.view(made))
        if trial.client.lists(made) is False:
            row.problems.append(f"{trial.client.agent} does not list the fork")
        trial.resume(row, made, then)
        if state_of(session) != before:
            row.problems.append("the original was changed")
